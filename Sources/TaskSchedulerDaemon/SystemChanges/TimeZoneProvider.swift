import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// A provider that reports a change of the machine's time zone (localtime(5)).
final class TimeZoneProvider: SystemChangeProvider {
  let subject = "the time zone"
  private let loop: EventLoop
  private let etc: String
  private let report: SystemChangeReport
  private let rulesChanged: () -> Void
  private var folder: Directory?
  private var burst: DebouncedWatch?
  /// The zone at the last reading.
  private var zone: MachineZone

  private final class Directory {
    let watch: DirectoryWatch
    init() throws(SystemError) { watch = try DirectoryWatch() }
  }

  /// - Parameter rulesChanged: Called when the zone, or only its rules, may have changed. If the
  ///   provider reports a new zone, this call follows the report.
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
    let folder = try Directory()
    // timedatectl and editors replace the file, so the provider watches the directory.
    _ = try folder.watch.add(etc)
    self.folder = folder
    zone = MachineZone(etc: etc)
    burst = try DebouncedWatch(
      folder.watch.descriptor.rawValue, loop: loop,
      take: {
        guard let changes = try? folder.watch.takeChanges() else { return true }
        return changes.contains { change in
          change.folder == nil || MachineZone.files.contains(change.name)
        }
      },
      becameQuiet: { [weak self] in self?.read() })
  }

  private func read() {
    let present = MachineZone(etc: etc)
    let isOther = !present.isSameZone(as: zone)
    zone = present
    // Makes the C library use the new zone for local times.
    tzset()
    if isOther { report(SystemChange(kind: .timeZone, value: present.name)) }
    rulesChanged()
  }
}
