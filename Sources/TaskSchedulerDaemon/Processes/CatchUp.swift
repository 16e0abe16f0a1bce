import DequeModule
import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// What follows from taking over an earlier daemon's instances: hundreds of suspensions, priorities
/// or looks may come at once, and none may keep the daemon from serving. Some are begun at a time,
/// with others' turns in between.
final class CatchUp {
  private static let atOnceMax = 8

  private let begin: (InstanceID) -> Void
  private var waiting: Deque<InstanceID> = []
  private var timer: TimerSource?
  /// Whether suspensions are put off: until all that came of the takeover have been begun.
  private(set) var isUnderWay = false {
    didSet { if isUnderWay != oldValue { underWay(isUnderWay) } }
  }
  /// Told when it begins and when it is over.
  var underWay: (Bool) -> Void = { _ in }

  init(loop: EventLoop, begin: @escaping (InstanceID) -> Void) throws(SystemError) {
    self.begin = begin
    timer = try loop.timer { [weak self] in self?.advance() }
  }

  /// From here on.
  func start() {
    isUnderWay = true
    timer?.set(BootClock.now())
  }

  func add(_ id: InstanceID) {
    waiting.append(id)
  }

  private func advance() {
    for _ in 0..<Self.atOnceMax {
      guard let id = waiting.popFirst() else { break }
      begin(id)
    }
    isUnderWay = !waiting.isEmpty
    if isUnderWay { timer?.set(BootClock.now()) }
  }
}
