import LinuxSystem
import TaskSchedulerWire

/// The script that KWin (5 and 6) runs for the agent. KWin has no interface by which other programs
/// can list windows with their processes. A script can list them, and can call a method over D-Bus.
///
/// The script calls `Windows` with a text: a JSON object with the list `windows`, in which each
/// window has `pid`, `active`, `shown` and `id`. The script calls the method after every change
/// that can concern these properties.
package enum KWinScript {
  /// The object path of the method that the script calls.
  package static let path = "/org/taskschedd/Focus"
  package static let interface = "org.taskschedd.Focus"
  package static let member = "Windows"

  /// Returns the script for KWin 5 and 6.
  ///
  /// - Parameter service: the agent's name on the bus: a unique name such as `:1.42`.
  package static func text(service: String) -> String {
    """
    // The windows of KWin 6 are the clients of KWin 5.
    const isNew = workspace.windowList !== undefined;
    const all = () => isNew ? workspace.windowList() : workspace.clientList();
    const active = () => isNew ? workspace.activeWindow : workspace.activeClient;

    function isShown(window) {
        if (window.minimized) return false;
        const activities = window.activities;
        if (activities && activities.length && activities.indexOf(workspace.currentActivity) < 0)
            return false;
        if (window.onAllDesktops) return true;
        if (!isNew) return window.desktop === workspace.currentDesktop;
        const current = workspace.currentDesktop;
        return window.desktops.some((desktop) => desktop.id === current.id);
    }

    function report() {
        const focused = active();
        const windows = all().filter((window) => !window.specialWindow).map((window) => ({
            pid: window.pid,
            active: window === focused,
            shown: isShown(window),
            id: String(window.desktopFileName || window.resourceClass || ""),
        }));
        callDBus("\(service)", "\(path)", "\(interface)", "\(member)",
            JSON.stringify({ windows: windows }));
    }

    function watch(window) {
        const names = ["minimizedChanged", "desktopChanged", "desktopsChanged",
            "activitiesChanged", "desktopFileNameChanged"];
        for (const name of names) if (window[name]) window[name].connect(report);
    }

    function added(window) {
        watch(window);
        report();
    }

    (isNew ? workspace.windowAdded : workspace.clientAdded).connect(added);
    (isNew ? workspace.windowRemoved : workspace.clientRemoved).connect(report);
    (isNew ? workspace.windowActivated : workspace.clientActivated).connect(report);
    workspace.currentDesktopChanged.connect(report);
    workspace.currentActivityChanged.connect(report);
    all().forEach(watch);
    report();
    """
  }
}

/// A defect of the text that the script sends.
package enum KWinReportError: Error, Hashable, Sendable, CustomStringConvertible {
  case oversized(bytes: Int)
  case badJSON(JSONError)
  /// The field with this name is missing, or has a value of another type.
  case field(String)

  package var description: String {
    switch self {
    case .oversized(let bytes):
      "the report of KWin's script has \(bytes) bytes; the maximum is \(KWinReport.bytesMax)"
    case .badJSON(let error): "the report of KWin's script is malformed: \(error)"
    case .field(let name):
      "\"\(name)\" is missing or has the wrong type in the report of KWin's script"
    }
  }
}

/// The content of the text that the script sends.
package struct KWinReport: Hashable, Sendable {
  /// The maximum length of the text in bytes. A window takes about 80 bytes.
  package static let bytesMax = 1 << 20

  /// A window as KWin describes it.
  package struct Window: Hashable, Sendable {
    package var pid: Int32
    package var visibility: WindowVisibility
    package var applicationID: String
  }

  /// The windows, of which at most one is focused.
  package var windows: [Window] = []

  /// Reads the text that the script sends.
  package init(_ text: String) throws(KWinReportError) {
    let count = text.utf8.count
    guard count <= Self.bytesMax else { throw .oversized(bytes: count) }
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONParser.parse(Array(text.utf8))
    } catch {
      throw .badJSON(error)
    }
    guard case .array(let list)? = value["windows"] else { throw .field("windows") }
    var hasFocused = false
    for entry in list {
      let window = try Self.window(entry, hasFocused: hasFocused)
      hasFocused = hasFocused || window.visibility == .focused
      windows.append(window)
    }
  }

  private static func window(
    _ entry: JSONValue, hasFocused: Bool
  ) throws(KWinReportError) -> Window {
    guard case .integer(let number)? = entry["pid"], let pid = Int32(exactly: number) else {
      throw .field("pid")
    }
    guard case .bool(let isActive)? = entry["active"] else { throw .field("active") }
    guard case .bool(let isShown)? = entry["shown"] else { throw .field("shown") }
    guard case .string(let id)? = entry["id"] else { throw .field("id") }
    let visibility: WindowVisibility =
      isActive && !hasFocused ? .focused : isShown ? .visible : .hidden
    return Window(pid: pid, visibility: visibility, applicationID: id)
  }

  /// Returns the report as a snapshot of the session's windows.
  ///
  /// - Parameter lookUp: Returns the process that has a pid now.
  package func snapshot(_ lookUp: (Int32) -> ProcessIdentity?) -> SessionWindows {
    SessionWindows(
      windows.map { window in
        SessionWindow(
          process: window.pid > 0 ? lookUp(window.pid) : nil, visibility: window.visibility,
          applicationID: window.applicationID)
      })
  }
}
