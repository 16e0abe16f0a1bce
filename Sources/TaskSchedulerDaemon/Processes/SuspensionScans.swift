import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// Examines the descriptors of stopped instances before the daemon reports the suspension. All
/// processes are already stopped, so no process can take a lock or close a socket after the
/// examination.
///
/// The scans run on threads (``DescriptorScans``). A resume cancels the scan of the instance.
final class SuspensionScans {
  private let scans: DescriptorScans
  private let scanned: (InstanceID, DescriptorScan.Findings) -> Void
  private let ended: ([InstanceID]) -> Void
  private var underWay: [InstanceID: DescriptorScans.RequestedScan] = [:]
  private var unexamined: [InstanceID] = []
  private var timer: TimerSource?

  /// - Parameters:
  ///   - scanned: Called with the findings, before `ended`.
  ///   - ended: Called with the instances whose scans have ended, or that need no scan.
  init(
    scans: DescriptorScans, loop: EventLoop,
    scanned: @escaping (InstanceID, DescriptorScan.Findings) -> Void,
    ended: @escaping ([InstanceID]) -> Void
  ) throws(SystemError) {
    self.scans = scans
    self.scanned = scanned
    self.ended = ended
    timer = try loop.timer { [weak self] in self?.endUnexamined() }
  }

  /// Examines an instance whose processes are all stopped.
  func add(_ id: InstanceID, user: UInt32, _ scan: DescriptorScan) {
    cancel(id)
    underWay[id] = scans.request(scan, user: user) { [weak self] findings in
      guard let self else { return }
      underWay[id] = nil
      scanned(id, findings)
      ended([id])
    }
  }

  /// Adds an instance that needs no scan. After a takeover there may be hundreds of such instances,
  /// so the daemon reports all their suspensions at once.
  func add(_ id: InstanceID) {
    if unexamined.isEmpty { timer?.set(BootClock.now()) }
    unexamined.append(id)
  }

  /// Cancels the scan, because the processes may run again.
  func cancel(_ id: InstanceID) {
    if let scan = underWay.removeValue(forKey: id) { scans.cancel(scan) }
  }

  private func endUnexamined() {
    let ids = unexamined
    unexamined = []
    ended(ids)
  }
}
