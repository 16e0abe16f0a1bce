import DequeModule
import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// Performs the work that results from a takeover, in small parts. The daemon may have to suspend
/// or examine hundreds of instances, or lower their priorities. This must not delay clients.
final class TakeoverWork {
  private static let atOnceMax = 8

  private let begin: (InstanceID) -> Void
  private var waiting: Deque<InstanceID> = []
  private var timer: TimerSource?
  /// Whether the daemon must still begin some of the work.
  private(set) var isUnderWay = false {
    didSet { if isUnderWay != oldValue { underWay(isUnderWay) } }
  }
  /// Called with the new value when ``isUnderWay`` changes.
  var underWay: (Bool) -> Void = { _ in }

  init(loop: EventLoop, begin: @escaping (InstanceID) -> Void) throws(SystemError) {
    self.begin = begin
    timer = try loop.timer { [weak self] in self?.advance() }
  }

  /// Begins the work.
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
