import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// All sources of system changes, each independent of the others. If this machine lacks a source,
/// the daemon logs that once.
final class SystemChangeProviders {
  /// The locations of the machine's settings, services and clocks.
  struct Locations {
    /// The directory of `localtime`, `timezone`, `locale.conf` and `default/locale`.
    var etc = "/etc"
    /// The system's message bus.
    var systemBus = BusAddress(text: "unix:path=/run/dbus/system_bus_socket")
    /// Returns the offset of the wall clock from CLOCK_BOOTTIME.
    var clockOffset = { WallClock.offset() }
    /// The netlink sockets that systemd opened for the daemon.
    var networkSockets = NetworkSockets()

    init() {}
  }

  let clock: ClockProvider
  private let providers: [any SystemChangeProvider]

  /// The providers' descriptors that the kernel takes a long time to close (see
  /// ``DescriptorStore/save(slowToClose:)``).
  var slowToClose: [Int32] { providers.compactMap(\.slowToClose) }

  /// Starts all providers.
  ///
  /// - Parameters:
  ///   - report: Called for each change.
  ///   - clockSet: Called after the wall clock was set, with its new offset in nanoseconds (see
  ///     `WallClock.offset()`). Wall-clock times now correspond to other instants, so this call
  ///     comes before `report` is called for the clock and for a new day.
  init(
    loop: EventLoop, log: Log, locations: Locations = Locations(),
    report: @escaping SystemChangeReport, clockSet: @escaping (Int64) -> Void
  ) {
    let day = DayProvider(
      loop: loop, etc: locations.etc, readOffset: locations.clockOffset, report: report)
    clock = ClockProvider(loop: loop, readOffset: locations.clockOffset) { offset in
      clockSet(offset)
      report(SystemChange(kind: .clock))
      day.reconsider()
    }
    let timeZone = TimeZoneProvider(
      loop: loop, etc: locations.etc, report: report, rulesChanged: { day.reconsider() })
    let power = PowerProvider(loop: loop, address: locations.systemBus, report: report) { reason in
      log.write(.debug, "changes of the power source are not reported: \(reason)")
    }
    providers = [
      clock, timeZone, day, LocaleProvider(loop: loop, etc: locations.etc, report: report),
      NetworkProvider(loop: loop, inherited: locations.networkSockets, report: report), power,
    ]
    for provider in providers {
      do throws(SystemError) {
        try provider.start()
      } catch {
        log.write(.notice, "changes of \(provider.subject) are not reported: \(error)")
      }
    }
  }
}
