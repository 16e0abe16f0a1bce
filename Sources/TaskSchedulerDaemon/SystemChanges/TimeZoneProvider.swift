import Glibc
import LinuxSystem
import TaskSchedulerCore

/// Tells when the machine's time zone is another (localtime(5)).
final class TimeZoneProvider: SystemChangeProvider {
  let subject = "the time zone"
  private let loop: EventLoop
  private let etc: String
  private let report: SystemChangeReport
  private let rulesChanged: () -> Void
  private var folder: Folder?
  private var burst: BurstWatch?
  /// What was told last.
  private var zone: MachineZone

  private final class Folder {
    let watch: FolderWatch
    init() throws(SystemError) { watch = try FolderWatch() }
  }

  /// - Parameter rulesChanged: called after a change was reported, and where the same zone's rules
  ///   may be others.
  init(
    loop: EventLoop, etc: String, report: @escaping SystemChangeReport,
    rulesChanged: @escaping () -> Void
  ) {
    self.loop = loop
    self.etc = etc
    self.report = report
    self.rulesChanged = rulesChanged
    zone = MachineZone(etc: etc)
  }

  var slowToClose: Int32? { folder?.watch.descriptor.rawValue }

  func start() throws(SystemError) {
    let folder = try Folder()
    // The folder and not the file: timedatectl and editors put another in its place.
    _ = try folder.watch.add(etc)
    self.folder = folder
    zone = MachineZone(etc: etc)
    burst = try BurstWatch(
      folder.watch.descriptor.rawValue, loop: loop,
      take: {
        guard let changes = try? folder.watch.takeChanges() else { return true }
        return changes.contains { change in
          change.folder == nil || MachineZone.files.contains(change.name)
        }
      },
      settled: { [weak self] in self?.look() })
  }

  private func look() {
    let present = MachineZone(etc: etc)
    let isOther = !present.isSameZone(as: zone)
    zone = present
    // What the C library does with local times, it does by the new zone from now on.
    tzset()
    if isOther { report(SystemChange(kind: .timeZone, value: present.name)) }
    rulesChanged()
  }
}
