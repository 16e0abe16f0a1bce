/// A window as the X server and the window manager describe it.
struct XWindow: Hashable {
  var id: UInt32
  /// The pid of the client that created the window.
  var pid: Int32?
  var applicationID: String?
  /// Whether the window and all its ancestors are mapped.
  var isViewable = false
  /// Whether the window manager says that the user cannot see the window (_NET_WM_STATE_HIDDEN).
  var isHidden = false
  /// The number of the window's virtual desktop; nil for a window that is on all desktops.
  var desktop: UInt32?
}

/// The windows of an X11 session, as its window manager lists them (EWMH).
struct XDesktop: Hashable {
  var windowManager = ""
  var activeWindow: UInt32?
  var currentDesktop: UInt32?
  var windows: [XWindow] = []

  /// The desktop number that stands for all desktops.
  static let allDesktops: UInt32 = 0xFFFF_FFFF

  /// The names of window managers that keep the windows of other desktops mapped, so that only the
  /// desktop's number shows that a window is hidden. These window managers show one desktop on all
  /// outputs. Other window managers, such as i3, show one desktop on each output and unmap the
  /// windows that they hide.
  private static let managersThatKeepWindowsMapped = ["GNOME Shell", "KWin", "Mutter"]

  /// Returns the window's visibility.
  func visibility(of window: XWindow) -> WindowVisibility {
    if window.id == activeWindow { return .focused }
    guard window.isViewable, !window.isHidden else { return .hidden }
    let keepsMapped = Self.managersThatKeepWindowsMapped.contains { windowManager.hasPrefix($0) }
    guard keepsMapped, let desktop = window.desktop, let currentDesktop else { return .visible }
    return desktop == currentDesktop ? .visible : .hidden
  }
}
