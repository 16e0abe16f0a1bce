import Glibc
import LinuxSystem
import TaskSchedulerSession
import TestSupport

/// A real sway without a screen, with two outputs and Xwayland. When sway ends, its clients end.
final class Sway {
  static let missing = Programs.missing(["sway", "foot", "Xwayland", "xmessage", "xprop"])

  /// The runtime directory of a session. One sway after another can create its sockets in this
  /// directory.
  final class Runtime {
    let directory = TemporaryDirectory(mode: 0o755)
    /// sway refuses to run as root.
    let uid: UInt32 = geteuid() == 0 ? 65_534 : geteuid()

    init() throws {
      guard geteuid() == 0 else { return }
      guard chown(directory.path, uid, uid) == 0, chmod(directory.path, 0o700) == 0 else {
        throw SystemError(call: "chown \(directory.path)", errno: errno)
      }
    }

    /// Returns the environment of the session agent in this session.
    func environment(display: String? = nil) -> SessionEnvironment {
      SessionEnvironment(uid: uid) {
        switch $0 {
        case "XDG_RUNTIME_DIR": self.directory.path
        case "WAYLAND_DISPLAY": "wayland-1"
        case "DISPLAY": display
        default: nil
        }
      }
    }
  }

  let runtime: Runtime
  private let process: GuardedProcess
  private let control: IPCControl
  /// The display of Xwayland. Xwayland starts when its first client connects.
  let display: String

  var pid: Int32 { process.pid }

  init(_ runtime: Runtime) throws {
    self.runtime = runtime
    let path = runtime.directory.path
    let configuration = runtime.directory.write(
      "config", "focus_on_window_activation none\nexec echo display $DISPLAY\n")
    process = try GuardedProcess(
      ["sway", "-c", configuration],
      environment: [
        "PATH=/usr/bin:/bin", "LANG=C.UTF-8", SystemString("HOME=\(path)"),
        SystemString("XDG_RUNTIME_DIR=\(path)"), "WLR_BACKENDS=headless",
        "WLR_HEADLESS_OUTPUTS=2", "WLR_LIBINPUT_NO_DEVICES=1", "WLR_RENDERER=pixman",
      ], uid: geteuid() == 0 ? runtime.uid : nil)
    guard let line = try process.readLine(), line.hasPrefix("display :") else {
      throw SystemError(call: "starting sway", errno: ECHILD)
    }
    display = String(line.dropFirst("display ".count))
    control = try IPCControl(path: "\(path)/sway-ipc.\(runtime.uid).\(process.pid).sock")
  }

  func run(_ command: String) throws { try control.run(command) }

  /// Starts a program in the session, and returns its pid without waiting for a window.
  func start(_ command: String) throws -> Int32 {
    let script = runtime.directory.write(
      "start", "#!/bin/sh\necho $$\nexec \"$@\" >/dev/null 2>&1\n", mode: 0o755)
    try run("exec \(script) \(command)")
    guard let pid = try process.readLine().flatMap({ Int32($0) }) else {
      throw SystemError(call: "starting \(command)", errno: ECHILD)
    }
    return pid
  }

  /// Starts a terminal, and returns its pid without waiting for a window.
  func startTerminal(_ id: String) throws -> Int32 { try start("foot --app-id \(id) cat") }

  /// A Python program that keeps Xwayland running, and disables its access control. The test may
  /// run as root, which Xwayland would refuse.
  private static let opener = """
    import ctypes
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(None, None))
    xcb.xcb_request_check(connection, xcb.xcb_set_access_control_checked(connection, 0))
    print("open", flush=True)
    xcb.xcb_wait_for_event(connection)
    """

  /// Starts Xwayland, which accepts the test's connections from then on.
  func startXwayland() throws {
    let script = runtime.directory.write("open.py", Self.opener)
    try run("exec python3 \(script)")
    guard try process.readLine() == "open" else {
      throw SystemError(call: "starting Xwayland", errno: ECHILD)
    }
  }

  func send(signal: Int32) { process.send(signal: signal) }
}
