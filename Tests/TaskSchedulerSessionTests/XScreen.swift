import CXCB
import Glibc
import LinuxSystem
import TaskSchedulerSession
import TestSupport

/// A real X server without a screen (Xvfb).
final class XScreen {
  static let missing = Programs.missing(["Xvfb", "openbox", "i3", "xmessage"])

  /// A display that a test can use again after the display's server was killed. The number is high,
  /// because the servers of other tests choose the lowest free display.
  static let reservedDisplay = ":\(1000 + getpid() % 50_000)"

  let directory = TemporaryDirectory()
  let display: String
  private let server: GuardedProcess

  /// Starts the server with the given display, such as `:5`, or with a free display if `display` is
  /// nil.
  init(display: String? = nil) throws {
    server = try GuardedProcess(
      ["Xvfb"] + (display.map { [$0] } ?? []) + [
        "-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp", "-noreset",
      ])
    guard let number = try server.readLine() else {
      throw SystemError(call: "starting Xvfb", errno: ECHILD)
    }
    self.display = ":\(number)"
  }

  /// The environment of the session agent in this session.
  var environment: SessionEnvironment {
    SessionEnvironment(uid: geteuid()) { $0 == "DISPLAY" ? self.display : nil }
  }

  private var variables: [SystemString] {
    [
      "PATH=/usr/bin:/bin", "LANG=C.UTF-8", SystemString("DISPLAY=\(display)"),
      SystemString("HOME=\(directory.path)"), SystemString("XDG_RUNTIME_DIR=\(directory.path)"),
    ]
  }

  func start(_ command: [String]) throws -> GuardedProcess {
    try GuardedProcess(command, environment: variables)
  }

  func startOpenbox() throws -> GuardedProcess { try start(["openbox", "--sm-disable"]) }

  /// Starts i3. Some time later, i3 listens at the path of ``i3Socket(of:)``.
  func startI3() throws -> GuardedProcess {
    let configuration = directory.write(
      "i3.conf", "font -misc-fixed-*\nfocus_on_window_activation focus\n")
    return try start(["i3", "-c", configuration])
  }

  func i3Socket(of process: GuardedProcess) -> String {
    directory.file("i3/ipc-socket.\(process.pid)")
  }

  func startMessage(_ title: String) throws -> GuardedProcess {
    try start(["xmessage", "-title", title, title])
  }

  /// Ends the server and all of its clients.
  func end() { server.end() }

  func send(signal: Int32) { server.send(signal: signal) }
}

/// A client that sends requests to the window manager, as pagers and taskbars do.
final class XControl {
  private let connection: OpaquePointer
  private let root: UInt32

  init(_ display: String) throws {
    guard let connection = xcb_connect(display, nil), xcb_connection_has_error(connection) == 0,
      let screen = xcb_setup_roots_iterator(xcb_get_setup(connection)).data
    else { throw SystemError(call: "xcb_connect \(display)", errno: ECONNREFUSED) }
    self.connection = connection
    root = screen.pointee.root
  }

  deinit { xcb_disconnect(connection) }

  private func atom(_ name: String) throws -> UInt32 {
    let cookie = xcb_intern_atom(connection, 0, UInt16(name.utf8.count), name)
    guard let reply = xcb_intern_atom_reply(connection, cookie, nil) else {
      throw SystemError(call: "xcb_intern_atom", errno: EPIPE)
    }
    defer { free(reply) }
    return reply.pointee.atom
  }

  private func property(_ name: String, of window: UInt32) throws -> [UInt8] {
    let cookie = xcb_get_property(connection, 0, window, try atom(name), 0, 0, 1024)
    guard let reply = xcb_get_property_reply(connection, cookie, nil) else { return [] }
    defer { free(reply) }
    return Array(
      UnsafeRawBufferPointer(
        start: xcb_get_property_value(reply), count: Int(xcb_get_property_value_length(reply))))
  }

  /// Returns the window with a title. The window manager must list the window.
  func window(_ title: String) throws -> UInt32 {
    let list = try property("_NET_CLIENT_LIST", of: root)
    let ids = list.withUnsafeBytes { Array($0.bindMemory(to: UInt32.self)) }
    for id in ids where try property("WM_NAME", of: id) == Array(title.utf8) { return id }
    throw SystemError(call: "looking for the window \(title)", errno: ENOENT)
  }

  /// Sends the window manager a message.
  private func tell(_ message: String, _ window: UInt32, _ numbers: UInt32...) throws {
    var event = xcb_client_message_event_t()
    event.response_type = UInt8(XCB_CLIENT_MESSAGE)
    event.format = 32
    event.window = window
    event.type = try atom(message)
    withUnsafeMutableBytes(of: &event.data) { data in
      for (index, number) in numbers.enumerated() {
        data.storeBytes(of: number, toByteOffset: index * 4, as: UInt32.self)
      }
    }
    let mask =
      XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT.rawValue
    withUnsafeBytes(of: event) {
      _ = xcb_send_event(
        connection, 0, root, mask, $0.baseAddress!.assumingMemoryBound(to: CChar.self))
    }
    xcb_flush(connection)
  }

  /// Shows the desktop of a window, and focuses the window.
  func activate(_ title: String) throws {
    try tell("_NET_ACTIVE_WINDOW", try window(title), 2)
  }

  /// Minimizes a window. The number 3 is the state Iconic.
  func minimize(_ title: String) throws { try tell("WM_CHANGE_STATE", try window(title), 3) }

  func showDesktop(_ number: UInt32) throws { try tell("_NET_CURRENT_DESKTOP", root, number) }

  /// Sets the property with which a window claims a process.
  func claim(_ title: String, pid: UInt32) throws {
    var pid = pid
    xcb_change_property(
      connection, UInt8(XCB_PROP_MODE_REPLACE.rawValue), try window(title), try atom("_NET_WM_PID"),
      XCB_ATOM_CARDINAL.rawValue, 32, 1, &pid)
    xcb_flush(connection)
  }
}
