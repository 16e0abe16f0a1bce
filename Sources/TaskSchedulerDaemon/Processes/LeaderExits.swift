import DequeModule
import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// Watches leaders, and reports the end of each leader, in the order in which the kernel reports
/// the ends.
///
/// Thousands of leaders can end at one moment, and the loop would handle all of these ends before
/// later events. The daemon therefore reports only the first ends at once. It reports the other
/// ends in groups, and handles other events between two groups.
///
/// One epoll descriptor watches all leaders, because a separate event source for each leader would
/// take 430 bytes.
final class LeaderExits {
  private static let atOnceMax = 32

  private let leaders: Epoll
  private var source: DescriptorSource?
  private let report: (InstanceID) -> Void
  private var waiting: Deque<InstanceID> = []
  /// The number of ends reported since the timer was set.
  private var reportedCount = 0
  /// A timer that expires at once. The loop calls the timer's handler after the events that are
  /// already waiting.
  private var timer: TimerSource?

  init(loop: EventLoop, report: @escaping (InstanceID) -> Void) throws(SystemError) {
    self.report = report
    leaders = try Epoll()
    source = try loop.watch(leaders.rawValue, for: .input) { [weak self] _ in self?.collect() }
    timer = try loop.timer { [weak self] in self?.continueReporting() }
  }

  /// Watches a leader, and reports its end, even if it has already ended.
  func watch(_ leader: borrowing PIDFD, of id: InstanceID) throws(SystemError) {
    try leaders.add(leader.rawValue, data: id.number)
  }

  /// Stops watching a leader. Closing the pidfd is not sufficient: epoll watches a pidfd until all
  /// its copies are closed, and systemd may have a copy.
  func forget(_ leader: borrowing PIDFD) {
    // ENOENT means that the leader is not watched any more.
    try? leaders.remove(leader.rawValue)
  }

  private func collect() {
    for number in leaders.collect(countMax: Self.atOnceMax) { add(InstanceID(number)) }
  }

  private func add(_ id: InstanceID) {
    guard waiting.isEmpty, reportedCount < Self.atOnceMax else { return waiting.append(id) }
    if reportedCount == 0 { timer?.set(BootClock.now()) }
    reportedCount += 1
    report(id)
  }

  private func continueReporting() {
    reportedCount = 0
    while reportedCount < Self.atOnceMax, let id = waiting.popFirst() {
      reportedCount += 1
      report(id)
    }
    if reportedCount > 0 { timer?.set(BootClock.now()) }
  }
}
