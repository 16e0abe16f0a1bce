import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// Examines the descriptors of instances whose processes all stand still, before the scheduler is
/// told of the suspension: nothing can be locked or closed between the look and the suspension.
///
/// The looks go on threads (``DescriptorScans``). A resume meanwhile cancels the look.
final class LastLooks {
  private let scans: DescriptorScans
  private let looked: (InstanceID, DescriptorScan.Findings) -> Void
  private let ended: ([InstanceID]) -> Void
  private var underWay: [InstanceID: DescriptorScans.Ticket] = [:]
  private var unexamined: [InstanceID] = []
  private var timer: TimerSource?

  /// - Parameters:
  ///   - looked: called with what was found, before `ended`.
  ///   - ended: called with those whose looks have ended.
  init(
    scans: DescriptorScans, loop: EventLoop,
    looked: @escaping (InstanceID, DescriptorScan.Findings) -> Void,
    ended: @escaping ([InstanceID]) -> Void
  ) throws(SystemError) {
    self.scans = scans
    self.looked = looked
    self.ended = ended
    timer = try loop.timer { [weak self] in self?.endUnexamined() }
  }

  /// All processes of the instance stand still.
  func add(_ id: InstanceID, user: UInt32, _ scan: DescriptorScan) {
    cancel(id)
    underWay[id] = scans.request(scan, user: user) { [weak self] findings in
      guard let self else { return }
      underWay[id] = nil
      looked(id, findings)
      ended([id])
    }
  }

  /// The same for one of which nothing is to be found out. Hundreds of them may come at once, after
  /// a takeover; they end together.
  func add(_ id: InstanceID) {
    if unexamined.isEmpty { timer?.set(BootClock.now()) }
    unexamined.append(id)
  }

  /// Its processes may run again.
  func cancel(_ id: InstanceID) {
    if let ticket = underWay.removeValue(forKey: id) { scans.cancel(ticket) }
  }

  private func endUnexamined() {
    let ids = unexamined
    unexamined = []
    ended(ids)
  }
}
