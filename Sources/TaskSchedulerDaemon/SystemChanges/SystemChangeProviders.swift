import LinuxSystem
import TaskSchedulerCore

/// All that tells of changes of the machine. Each is there or not on its own: what this machine
/// lacks is said once in the log, and its changes are not told.
final class SystemChangeProviders {
  /// Where the machine's settings, services and clocks are.
  struct Places {
    /// The folder of `localtime`, `timezone`, `locale.conf` and `default/locale`.
    var etc = "/etc"
    /// The system's message bus.
    var systemBus = BusAddress(text: "unix:path=/run/dbus/system_bus_socket", owner: nil)
    /// How far the wall clock is ahead of CLOCK_BOOTTIME.
    var clockOffset = { WallClock.offset() }

    init() {}
  }

  let clock: ClockProvider
  private let providers: [any SystemChangeProvider]

  /// What takes the kernel long to close.
  var slowToClose: [Int32] { providers.compactMap(\.slowToClose) }

  /// Starts all.
  ///
  /// - Parameters:
  ///   - report: a change, when it has happened.
  ///   - clockSet: the wall clock's new offset in nanoseconds (see `WallClock.offset()`), before
  ///     the change is reported and before a new day that it brings: wall times lie at other
  ///     instants now.
  init(
    loop: EventLoop, log: Log, places: Places = Places(),
    report: @escaping SystemChangeReport, clockSet: @escaping (Int64) -> Void
  ) {
    let day = DayProvider(
      loop: loop, etc: places.etc, readOffset: places.clockOffset, report: report)
    clock = ClockProvider(loop: loop, readOffset: places.clockOffset) { offset in
      clockSet(offset)
      report(SystemChange(kind: .clock))
      day.reconsider()
    }
    let timeZone = TimeZoneProvider(
      loop: loop, etc: places.etc, report: report, rulesChanged: { day.reconsider() })
    let power = PowerProvider(loop: loop, address: places.systemBus, report: report) { reason in
      log.write(.debug, "changes of the power source are not told: \(reason)")
    }
    providers = [
      clock, timeZone, day, LocaleProvider(loop: loop, etc: places.etc, report: report),
      NetworkProvider(loop: loop, report: report), power,
    ]
    for provider in providers {
      do throws(SystemError) {
        try provider.start()
      } catch {
        log.write(.notice, "changes of \(provider.subject) are not told: \(error)")
      }
    }
  }
}
