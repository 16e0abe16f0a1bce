import CSystemd
import EventLoop
import Glibc
import LinuxSystem

// Whether another daemon comes (contract §15.1): only then may what is suspended stay so.
extension SystemdManager {
  /// systemd answers this path with the unit of the process that asks.
  static let ownUnit = "/org/freedesktop/systemd1/unit/self"
  /// How long the manager may take to answer while this daemon waits: of TimeoutStopSec=, 30 s,
  /// most is left to let everything run.
  static let answerTimeoutUSec: UInt64 = 5_000_000

  /// Whether systemd stops this service in order to start it again: `systemctl restart`, as every
  /// upgrade does. Waits for the answer.
  func isRestarting() throws(SystemError) -> Bool {
    let bus = try connection()
    try check(
      "sd_bus_set_method_call_timeout",
      sd_bus_set_method_call_timeout(bus, Self.answerTimeoutUSec))
    guard let job = try ownJob(bus) else { return false }
    var text: UnsafeMutablePointer<CChar>?
    try check(
      "JobType of \(job)",
      sd_bus_get_property_string(
        bus, "org.freedesktop.systemd1", job, "org.freedesktop.systemd1.Job", "JobType", nil,
        &text))
    defer { free(text) }
    return text.map { String(cString: $0) } == "restart"
  }

  /// The path of what systemd is doing to this service; nil where it does nothing to it.
  private func ownJob(_ bus: OpaquePointer) throws(SystemError) -> String? {
    var reply: OpaquePointer?
    try check(
      "Job of \(Self.ownUnit)",
      sd_bus_get_property(
        bus, "org.freedesktop.systemd1", Self.ownUnit, "org.freedesktop.systemd1.Unit", "Job", nil,
        &reply, "(uo)"))
    guard let reply else { return nil }
    defer { sd_bus_message_unref(reply) }
    guard let job = MessageReader(reply).job(), job.id != 0 else { return nil }
    return job.path
  }
}
