import CSystemd
import EventLoop
import Glibc
import LinuxSystem

// Whether systemd starts another daemon after this one stops
// (contract.md#never-stay-suspended). Only then may suspended applications stay suspended.
extension SystemdManager {
  /// The object path that systemd resolves to the unit of the calling process.
  static let ownUnit = "/org/freedesktop/systemd1/unit/self"
  /// The time limit for an answer while the daemon stops. Most of TimeoutStopSec=, 30 s, must
  /// remain for resuming all applications.
  static let answerTimeoutUSec: UInt64 = 5_000_000

  /// Returns whether systemd stops this service in order to start it again, as with `systemctl
  /// restart` and every upgrade. Blocks until the answer arrives.
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

  /// Returns the path of systemd's job for this service; nil if there is none.
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
