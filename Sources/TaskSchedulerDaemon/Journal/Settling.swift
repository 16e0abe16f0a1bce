import LinuxSystem

/// After a takeover what waits in the sockets is heard before any limit is enforced: whoever ended
/// its task in time has written so, and could not be heard.
final class Settling {
  /// Whoever has served for so long did not die of what the journal told.
  private static let servingAfter: Duration = .milliseconds(100)
  /// Some microseconds for each of thousands of messages, on a machine whose processes all want to
  /// run again: who is kept busy enforces all the same.
  private static let timeMax: Duration = .seconds(1)

  private(set) var isUnderWay = false
  private var isServing = false
  private var idle: DeferredSource?
  private var timer: TimerSource?
  private let served: () -> Void
  private let settled: () -> Void

  /// - Parameters:
  ///   - served: called once, when it serves.
  ///   - settled: called once, when what waited has been heard.
  init(
    loop: EventLoop, served: @escaping () -> Void, settled: @escaping () -> Void
  ) throws(SystemError) {
    self.served = served
    self.settled = settled
    idle = try loop.whenIdle { [unowned self] in end() }
    timer = try loop.timer { [unowned self] in timePassed() }
  }

  func begin() {
    isUnderWay = true
    idle?.request()
    timer?.set(BootClock.after(Self.servingAfter))
  }

  private func timePassed() {
    if isServing { return end() }
    isServing = true
    served()
    timer?.set(BootClock.after(Self.timeMax - Self.servingAfter))
  }

  private func end() {
    guard isUnderWay else { return }
    isUnderWay = false
    timer?.clear()
    if !isServing {
      isServing = true
      served()
    }
    settled()
  }
}
