import CSystemd
import CVirtualTime
import Glibc
import TaskSchedulerCore

/// A device that combines wake-ups as systemd does. It runs one loop of libsystemd's sd-event in
/// virtual time. The loop has a timer for each client, as PID 1 has a timer for each timer unit.
/// The accuracy of a timer corresponds to `AccuracySec=` of a timer unit.
///
/// sd-event may run a timer late, by up to the timer's accuracy. To meet the deadline nevertheless,
/// the device subtracts the accuracy from the time to which it sets the timer.
final class SystemdDevice {
  /// The argument of a timer's callback.
  private final class Timer {
    unowned let device: SystemdDevice
    let client: Int
    var source: OpaquePointer?

    init(_ device: SystemdDevice, client: Int) {
      self.device = device
      self.client = client
    }
  }

  private let mix: ClientMix
  private let accuracy: (Duration) -> Duration
  private let event: OpaquePointer
  private var timers: [Int: Timer] = [:]
  private var tally: Tally
  private var wokenAt: Instant?

  static func run(_ mix: ClientMix, accuracy: @escaping (Duration) -> Duration) -> Tally {
    virtual_time_begin(Instant.beginning.nanoseconds)
    defer { virtual_time_end() }
    return SystemdDevice(mix, accuracy).run()
  }

  private init(_ mix: ClientMix, _ accuracy: @escaping (Duration) -> Duration) {
    self.mix = mix
    self.accuracy = accuracy
    tally = Tally(mix)
    var event: OpaquePointer?
    SystemdDevice.check(sd_event_new(&event))
    guard let event else { preconditionFailure("sd_event_new returned no event loop") }
    self.event = event
    // Checks that libsystemd uses the virtual clocks. With the machine's clocks, the loop would
    // wait for days.
    var now: UInt64 = 0
    SystemdDevice.check(sd_event_now(event, CLOCK_BOOTTIME, &now))
    precondition(now == virtual_time_now() / 1000, "libsystemd does not use the virtual clock")
  }

  deinit {
    for timer in timers.values { sd_event_source_disable_unref(timer.source) }
    sd_event_unref(event)
  }

  private static func check(_ result: Int32) {
    precondition(result >= 0, "a call of sd-event failed: errno \(-result)")
  }

  private var now: Instant { Instant(nanoseconds: virtual_time_now()) }

  private func run() -> Tally {
    for (time, client, arrives) in mix.changes where time < mix.window.upperBound {
      run(until: time)
      if arrives {
        add(client)
        tally.arrived(client, at: time)
      } else {
        sd_event_source_disable_unref(timers.removeValue(forKey: client)?.source)
        tally.left(client, at: time)
      }
    }
    run(until: mix.window.upperBound)
    return tally.ended()
  }

  private func run(until end: Instant) {
    virtual_time_interrupt_at(end.nanoseconds)
    while now < end { SystemdDevice.check(sd_event_run(event, .max)) }
  }

  private func add(_ client: Int) {
    let timer = Timer(self, client: client)
    timers[client] = timer
    SystemdDevice.check(
      sd_event_add_time(
        event, &timer.source, CLOCK_BOOTTIME, microseconds(client), spread(client),
        { _, _, userdata in
          guard let userdata else { return 0 }
          let timer = Unmanaged<Timer>.fromOpaque(userdata).takeUnretainedValue()
          timer.device.fired(timer)
          return 0
        }, Unmanaged.passUnretained(timer).toOpaque()))
  }

  private func fired(_ timer: Timer) {
    if wokenAt != now { tally.wokeUp(at: now) }
    wokenAt = now
    tally.called(timer.client, at: now)
    SystemdDevice.check(sd_event_source_set_time(timer.source, microseconds(timer.client)))
    SystemdDevice.check(sd_event_source_set_enabled(timer.source, Int32(SD_EVENT_ONESHOT)))
  }

  /// Returns the earliest time of the client's next call, in µs.
  private func microseconds(_ client: Int) -> UInt64 {
    now.advanced(by: mix.clients[client].interval).nanoseconds / 1000 - spread(client)
  }

  private func spread(_ client: Int) -> UInt64 {
    Instant(nanoseconds: 0).advanced(by: accuracy(mix.clients[client].interval)).nanoseconds / 1000
  }
}
