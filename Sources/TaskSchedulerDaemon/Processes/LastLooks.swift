import DequeModule
import LinuxSystem
import TaskSchedulerCore

/// Those whose processes all stand still, and who are looked at once more before the policy is told
/// of it: together, for what the kernel tells of sockets it tells in tables of all there are, and
/// where there are thousands, to read one takes longer than all else of a suspension.
///
/// Looks take at most half of the time: after one, as long as it took must pass before the next.
final class LastLooks {
  /// How many are looked at before others have their turn.
  private static let atOnceMax = 64

  private let look: (InstanceID, inout SocketTables) -> Void
  private let looked: ([InstanceID]) -> Void
  private let proc: ProcFS
  private var waiting: Deque<InstanceID> = []
  private var timer: TimerSource?
  private var earliestNext: UInt64 = 0

  /// - Parameters:
  ///   - look: called for each that was added. All in the tables is as it was when it stood still,
  ///     or later.
  ///   - looked: called with all those whom one reading of the tables has served, after it.
  init(
    proc: ProcFS, loop: EventLoop, look: @escaping (InstanceID, inout SocketTables) -> Void,
    looked: @escaping ([InstanceID]) -> Void
  ) throws(SystemError) {
    self.proc = proc
    self.look = look
    self.looked = looked
    timer = try loop.timer { [weak self] in self?.lookAtNext() }
  }

  /// All its processes stand still.
  func add(_ id: InstanceID) {
    waiting.append(id)
    if waiting.count == 1 { schedule() }
  }

  private func schedule() { timer?.set(max(earliestNext, BootClock.now())) }

  private func lookAtNext() {
    let start = BootClock.now()
    var tables = SocketTables(in: proc)
    let ids = Array(waiting.prefix(Self.atOnceMax))
    waiting.removeFirst(ids.count)
    for id in ids { look(id, &tables) }
    looked(ids)
    let end = BootClock.now()
    earliestNext = end + (end - start)
    if !waiting.isEmpty { schedule() }
  }
}
