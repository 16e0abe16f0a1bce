import LinuxSystem

/// The visibility of a window to the user.
package enum WindowVisibility: Hashable, Sendable {
  /// The window has the keyboard focus.
  case focused
  /// The window is on the screen without the focus. Other windows may cover it.
  case visible
  /// The window is minimized, in the scratchpad, on a workspace that no output shows, or behind
  /// another tab. In sway and i3, a window behind a full-screen window is also hidden.
  case hidden
}

/// A window of a user's session.
package struct SessionWindow: Hashable, Sendable {
  /// The process that the window belongs to. According to the kernel, this process connected to the
  /// display server. One process can have many windows, even of several applications.
  ///
  /// Nil if the process runs on another machine, has ended, or is unknown to the display server.
  /// Even a window of an unknown process can have the focus. No other window then has the focus.
  package var process: ProcessIdentity?
  package var visibility: WindowVisibility
  /// The id that the application gives itself: the app id of Wayland, or the class in WM_CLASS of
  /// X11. At most ``idBytesMax`` bytes, never empty. Any program can use any id.
  package var applicationID: String?

  /// The maximum length of an application id in bytes. A window with a longer id counts as a window
  /// without an id.
  package static let idBytesMax = 256

  package init(
    process: ProcessIdentity?, visibility: WindowVisibility, applicationID: String? = nil
  ) {
    self.process = process
    self.visibility = visibility
    let isUsable = applicationID.map { 1...Self.idBytesMax ~= $0.utf8.count } ?? false
    self.applicationID = isUsable ? applicationID : nil
  }
}

/// All windows of a user's session at one instant, as its compositor or X server lists them.
///
/// A snapshot is complete: a process without a window in the snapshot has no window. If nothing is
/// known about the windows, there is no snapshot (``FocusMonitor/Occurrence/unknown(reason:)``).
///
/// If no window is focused, the user works with none of them. This happens on an empty workspace
/// and on the desktop. In X11, it also happens for less than a millisecond while the focus changes
/// from one window to another.
package struct SessionWindows: Hashable, Sendable {
  /// The windows in no particular order, at most ``countMax``; at most one is focused.
  package let windows: [SessionWindow]

  /// The maximum number of windows. If there are more, the snapshot omits hidden windows first.
  package static let countMax = 1024

  package init(_ windows: [SessionWindow] = []) {
    guard windows.count > Self.countMax else {
      self.windows = windows
      return
    }
    let shown = windows.filter { $0.visibility == .focused }
      + windows.filter { $0.visibility == .visible } + windows.filter { $0.visibility == .hidden }
    self.windows = Array(shown.prefix(Self.countMax))
  }

  /// The window with the keyboard focus; nil if there is none.
  package var focused: SessionWindow? { windows.first { $0.visibility == .focused } }
}
