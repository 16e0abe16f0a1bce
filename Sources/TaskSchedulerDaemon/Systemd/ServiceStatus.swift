import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// The status of the daemon that `systemctl status` shows (`STATUS=` of sd_notify(3)).
///
/// The daemon reports a change within one second, together with further changes in that second,
/// because thousands of applications may change at one moment.
final class ServiceStatus {
  private static let delay: Duration = .seconds(1)

  private let text: () -> String
  private var timer: TimerSource?
  private var isPlanned = false
  private var told: String?

  /// - Parameter text: Returns the current status.
  /// - Returns: nil if no service manager listens.
  init?(loop: EventLoop, text: @escaping () -> String) throws(SystemError) {
    guard getenv("NOTIFY_SOCKET") != nil else { return nil }
    self.text = text
    timer = try loop.timer { [weak self] in self?.report() }
  }

  /// Records that the status may have changed.
  func note() {
    guard !isPlanned else { return }
    isPlanned = true
    timer?.set(BootClock.after(Self.delay))
  }

  /// Reports the status now if it has changed.
  func report() {
    isPlanned = false
    timer?.clear()
    let now = text()
    guard now != told else { return }
    told = now
    ServiceManager.notify("STATUS=\(now)")
  }

  /// Returns text such as `3 applications, 1 suspended`.
  static func text(_ running: (all: Int, suspended: Int)) -> String {
    let applications = running.all == 1 ? "1 application" : "\(running.all) applications"
    return applications + (running.suspended == 0 ? "" : ", \(running.suspended) suspended")
  }
}
