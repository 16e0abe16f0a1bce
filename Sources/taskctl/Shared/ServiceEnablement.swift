import Glibc
import LinuxSystem
import TaskSchedulerClient

/// Whether the daemon's service is enabled in systemd. If only its socket is enabled, the daemon
/// starts at the first call after a boot. Before that call, no application is launched and no
/// notification fires.
enum ServiceEnablement {
  /// Warns on standard error if the service of the daemon at `path` is not enabled.
  ///
  /// - Parameter consequence: The consequence after a boot, such as "no application is launched".
  static func warn(of path: SocketPath, _ consequence: String) {
    guard let manager = manager(of: path), state(manager) == "disabled" else { return }
    let scope = manager == .user ? "--user " : ""
    Output.complain(
      "taskctl: warning: taskschedd.service is not enabled: after the next boot \(consequence) "
        + "until a program uses the daemon's socket; "
        + "run 'systemctl \(scope)enable taskschedd.service'")
  }

  private enum Manager { case system, user }

  /// Returns the service manager of systemd whose unit listens at this path; nil for any other
  /// path.
  private static func manager(of path: SocketPath) -> Manager? {
    if path == .system { return .system }
    return path == .user ? .user : nil
  }

  /// Returns the unit's enablement as systemctl prints it; empty without the unit or systemd.
  private static func state(_ manager: Manager) -> String {
    let directories = environment("PATH") ?? "/usr/bin:/bin"
    guard let systemctl = SpawnRequest.searchPath("systemctl", in: directories) else { return "" }
    let scope = manager == .user ? ["--user"] : []
    return (try? answer(
      systemctl,
      ["systemctl"] + scope
        + ["show", "--property=UnitFileState", "--value", "taskschedd.service"])) ?? ""
  }

  /// Returns the output of a program without its trailing newline.
  private static func answer(_ program: String, _ arguments: [String]) throws -> String {
    let (reading, writing) = try FileDescriptor.pipe().ends()
    let output = FileDescriptor(taking: reading)
    let theirs = FileDescriptor(taking: writing)
    let null = try FileDescriptor.open(reading: "/dev/null")
    var request = SpawnRequest(
      path: program, arguments: arguments.map { SystemString($0) },
      environment: ["PATH", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"].compactMap { name in
        environment(name).map { SystemString("\(name)=\($0)") }
      })
    request.stdio = (null.rawValue, theirs.rawValue, null.rawValue)
    let child = try HeldChild.spawn(request)
    theirs.close()
    let process = try child.releaseAndWaitForExec()
    let bytes = try output.readToEnd()
    _ = try process.wait()
    return String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
  }
}
