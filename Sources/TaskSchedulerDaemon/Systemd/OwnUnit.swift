import CSystemd
import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore

// Whether systemd starts this daemon at boot, or at login. If only the socket is enabled, the
// daemon starts at the first call. Until then it launches no application.
extension SystemdManager {
  /// Returns systemd's word for the enablement of this service, such as `enabled` or `static`.
  /// Blocks until the answer arrives.
  func unitFileState() throws(SystemError) -> String {
    let bus = try connection()
    try check(
      "sd_bus_set_method_call_timeout",
      sd_bus_set_method_call_timeout(bus, Self.answerTimeoutUSec))
    var text: UnsafeMutablePointer<CChar>?
    try check(
      "UnitFileState of \(Self.ownUnit)",
      sd_bus_get_property_string(
        bus, "org.freedesktop.systemd1", Self.ownUnit, "org.freedesktop.systemd1.Unit",
        "UnitFileState", nil, &text))
    defer { free(text) }
    return text.map { String(cString: $0) } ?? ""
  }
}

extension Log {
  /// Warns if the daemon must launch applications with mode voip at boot, but systemd does not
  /// start the daemon at boot.
  func warnIfNotEnabled(
    _ configuration: Configuration, _ loop: EventLoop, _ scope: ConfigurationPaths.Scope
  ) {
    let reachable = configuration.manifests.values
      .filter { $0.backgroundModes.contains(.voip) }.map(\.id).sorted()
    guard let first = reachable.first,
      let state = try? SystemdManager(loop: loop, scope: scope)?.unitFileState(),
      state == "disabled"
    else { return }
    let others = reachable.count > 1 ? " and \(reachable.count - 1) more" : ""
    write(
      .warning,
      "taskschedd.service is not enabled: after the next boot \(first)\(others) "
        + "(mode voip) will not be launched until a program uses the daemon's socket; run "
        + "'systemctl \(scope == .user ? "--user " : "")enable taskschedd.service'")
  }
}
