import HeapModule
import TaskSchedulerCore

/// A rule that decides when the device wakes, and which clients it then calls.
enum Scheme: String, CaseIterable {
  case planner = "taskschedd"
  case everybody = "everybody each time"
  case timers = "a timer each"
  case minute = "systemd, 1 min"
  case third = "systemd, a third"
  case slots = "10 min slots"

  func run(_ mix: ClientMix) -> Tally {
    switch self {
    case .planner: Scheme.run(mix, with: PlannerDevice())
    case .everybody: Scheme.run(mix, with: CallAllDevice())
    case .timers: Scheme.run(mix, with: TimerDevice())
    case .minute: SystemdDevice.run(mix) { _ in .minutes(1) }
    case .third: SystemdDevice.run(mix) { $0 / 3 }
    case .slots: Scheme.run(mix, with: FixedIntervalDevice())
    }
  }

  /// Runs the mix on a device in virtual time. `freeWakeUps` are the times at which the device
  /// wakes for other reasons.
  static func run(_ mix: ClientMix, with device: some Device, freeWakeUps: [Instant] = []) -> Tally
  {
    var device = device
    var tally = Tally(mix)
    var changes = mix.changes[...]
    var free = freeWakeUps[...]
    let end = mix.window.upperBound
    while true {
      let change = changes.first?.at ?? .never
      let wakeUp = device.nextWakeUp ?? .never
      let freeWakeUp = free.first ?? .never
      let now = min(change, wakeUp, freeWakeUp)
      guard now < end else { return tally.ended() }
      if wakeUp == now {
        tally.wokeUp(at: now)
        for client in device.wake(at: now) { tally.called(client, at: now) }
      } else if freeWakeUp == now {
        free.removeFirst()
        for client in device.isAwakeAnyway(at: now) { tally.called(client, at: now) }
      } else {
        let (_, client, arrives) = changes.removeFirst()
        if arrives {
          device.add(client, interval: mix.clients[client].interval, at: now)
          tally.arrived(client, at: now)
        } else {
          device.remove(client)
          tally.left(client, at: now)
        }
      }
    }
  }
}

/// A device that wakes and calls clients. A client's id is its index in the mix.
protocol Device {
  var nextWakeUp: Instant? { get }
  mutating func add(_ client: Int, interval: Duration, at now: Instant)
  mutating func remove(_ client: Int)
  /// Handles a wake-up at `nextWakeUp`. Returns the called clients.
  mutating func wake(at now: Instant) -> [Int]
  /// Handles a wake-up that has another reason. Returns the called clients.
  mutating func isAwakeAnyway(at now: Instant) -> [Int]
}

extension Device {
  mutating func isAwakeAnyway(at now: Instant) -> [Int] { [] }
}

extension InstanceID {
  init(client: Int) { self.init(UInt64(client) + 1) }
  var client: Int { Int(number) - 1 }
}

/// A device with the planner of taskschedd.
struct PlannerDevice: Device {
  /// Whether the planner also calls clients at wake-ups for other reasons.
  var usesWakeUps = true
  private(set) var planner = KeepAlivePlanner()

  init(usesWakeUps: Bool = true) { self.usesWakeUps = usesWakeUps }

  var nextWakeUp: Instant? { planner.nextBurst }

  mutating func add(_ client: Int, interval: Duration, at now: Instant) {
    planner.set(InstanceID(client: client), interval: interval, at: now)
  }

  mutating func remove(_ client: Int) {
    planner.remove(InstanceID(client: client))
  }

  mutating func wake(at now: Instant) -> [Int] { planner.burst(at: now).map(\.client) }

  mutating func isAwakeAnyway(at now: Instant) -> [Int] {
    usesWakeUps ? planner.useWakeUp(at: now).map(\.client) : []
  }
}

/// A device that wakes as late as possible, and calls all clients at every wake-up. Each call
/// restarts the interval of its client and so postpones the client's next deadline. Therefore no
/// other scheme wakes less often.
struct CallAllDevice: Device {
  private var intervals: [Int: Duration] = [:]
  private var deadlines: [Int: Instant] = [:]
  private(set) var nextWakeUp: Instant?

  mutating func add(_ client: Int, interval: Duration, at now: Instant) {
    intervals[client] = interval
    deadlines[client] = now.advanced(by: interval)
    nextWakeUp = min(nextWakeUp ?? .never, now.advanced(by: interval))
  }

  mutating func remove(_ client: Int) {
    intervals[client] = nil
    let deadline = deadlines.removeValue(forKey: client)
    if deadline == nextWakeUp { nextWakeUp = deadlines.values.min() }
  }

  mutating func wake(at now: Instant) -> [Int] {
    deadlines = intervals.mapValues { now.advanced(by: $0) }
    nextWakeUp = deadlines.values.min()
    return intervals.keys.sorted()
  }
}

/// A device with a timer for each client. Each timer is set to the deadline of its client.
struct TimerDevice: Device {
  private struct Timer: Comparable {
    let at: Instant
    let client: Int
    static func < (lhs: Timer, rhs: Timer) -> Bool {
      (lhs.at, lhs.client) < (rhs.at, rhs.client)
    }
  }

  private var timers: Heap<Timer> = []
  private var intervals: [Int: Duration] = [:]

  var nextWakeUp: Instant? { timers.min?.at }

  mutating func add(_ client: Int, interval: Duration, at now: Instant) {
    intervals[client] = interval
    timers.insert(Timer(at: now.advanced(by: interval), client: client))
  }

  mutating func remove(_ client: Int) {
    intervals[client] = nil
    while let first = timers.min, intervals[first.client] == nil { timers.removeMin() }
  }

  mutating func wake(at now: Instant) -> [Int] {
    var called: [Int] = []
    while let first = timers.min, first.at <= now {
      timers.removeMin()
      guard let interval = intervals[first.client] else { continue }
      timers.insert(Timer(at: now.advanced(by: interval), client: first.client))
      called.append(first.client)
    }
    while let first = timers.min, intervals[first.client] == nil { timers.removeMin() }
    return called
  }
}

/// A device that wakes only at slots, which are ten minutes apart by the clock. At a slot, it calls
/// all clients with a deadline before the next slot. Without such a client, it sleeps through the
/// slot.
struct FixedIntervalDevice: Device {
  private static let slot: UInt64 = 600_000_000_000

  private var intervals: [Int: Duration] = [:]
  /// The slot in which each client is called.
  private var slots: [Int: UInt64] = [:]
  private var bySlot: [UInt64: Set<Int>] = [:]

  var nextWakeUp: Instant? {
    bySlot.keys.min().map { Instant(nanoseconds: $0 * Self.slot) }
  }

  mutating func add(_ client: Int, interval: Duration, at now: Instant) {
    intervals[client] = interval
    let slot = now.advanced(by: interval).nanoseconds / Self.slot
    slots[client] = slot
    bySlot[slot, default: []].insert(client)
  }

  mutating func remove(_ client: Int) {
    intervals[client] = nil
    guard let slot = slots.removeValue(forKey: client) else { return }
    bySlot[slot]?.remove(client)
    if bySlot[slot]?.isEmpty == true { bySlot[slot] = nil }
  }

  mutating func wake(at now: Instant) -> [Int] {
    let due = (bySlot[now.nanoseconds / Self.slot] ?? []).sorted()
    for client in due {
      guard let interval = intervals[client] else { continue }
      remove(client)
      add(client, interval: interval, at: now)
    }
    return due
  }
}
