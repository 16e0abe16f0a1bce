import Glibc
import LinuxSystem
import TaskSchedulerClient

/// Whether the daemon's service is started at boot, or at login. With the socket alone, the daemon
/// starts with the first call: until then it launches no application and fires no notification.
enum ServiceEnablement {
  /// Warns on standard error where the service of the daemon at `path` is not enabled.
  ///
  /// - Parameter consequence: what does not happen then.
  static func warn(of path: SocketPath, _ consequence: String) {
    guard let manager = manager(of: path), state(manager) == "disabled" else { return }
    let scope = manager == .user ? "--user " : ""
    Output.complain(
      "taskctl: warning: taskschedd.service is not enabled: after the next start of this machine "
        + "\(consequence) until a program uses the daemon's socket; "
        + "run 'systemctl \(scope)enable taskschedd.service'")
  }

  private enum Manager { case system, user }

  /// The systemd whose unit listens at this path; nil where it is no unit's.
  private static func manager(of path: SocketPath) -> Manager? {
    if path == .system { return .system }
    return path == .user ? .user : nil
  }

  /// systemd's word for it: enabled, disabled, …; empty where there is no such unit, or no systemd.
  private static func state(_ manager: Manager) -> String {
    let folders = environment("PATH") ?? "/usr/bin:/bin"
    guard let systemctl = SpawnRequest.searchPath("systemctl", in: folders) else { return "" }
    let scope = manager == .user ? ["--user"] : []
    return (try? answer(
      systemctl,
      ["systemctl"] + scope
        + ["show", "--property=UnitFileState", "--value", "taskschedd.service"])) ?? ""
  }

  /// What a program writes, without the line's end.
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
