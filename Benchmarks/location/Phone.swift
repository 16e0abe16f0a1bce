import TaskSchedulerCore

/// A rule that decides when the receiver runs.
enum Scheme: String, CaseIterable {
  /// The scheduler decides.
  case scheduler = "taskschedd"
  case minute = "a fix each minute"
  case continuous = "continuous"
}

/// A phone with the scheduler and ten suspended applications, each of which monitors its regions.
///
/// In all schemes, the scheduler determines the crossings from the locations that it receives. The
/// schemes differ only in the times of these locations.
final class Phone {
  /// A report that tells an application that the phone crossed a boundary. The time is in seconds.
  struct Told {
    var application: Int
    var crossing: RegionCrossing
    var at: Double
  }

  /// The number of locations, the use of the receiver, and the reports of crossings in the week.
  struct Tally {
    var fixCount = 0
    /// The time for which the receiver was on, in seconds.
    var receiverOn = 0.0
    var told: [Told] = []
  }

  private let week: Week
  private let scheme: Scheme
  private var scheduler = Scheduler()
  private var receiver: Receiver
  private var tally = Tally()
  private var now = 0.0
  private var queue: [Event] = []
  private var requestLast: UInt64 = 0
  private var applications: [InstanceID: Int] = [:]
  /// The time at which the receiver was turned on; nil if it is off.
  private var onSince: Double?
  private var nextFix: Double?

  init(_ week: Week, _ scheme: Scheme, seed: UInt64) {
    self.week = week
    self.scheme = scheme
    receiver = Receiver(seed: seed)
  }

  /// The time since boot at the start of the week (Monday, 0:00), in nanoseconds.
  private static let start: UInt64 = 1_000_000_000_000

  private static func instant(at time: Double) -> Instant {
    Instant(nanoseconds: start + UInt64(time * 1_000_000_000))
  }

  private static func time(of instant: Instant) -> Double {
    Double(instant.nanoseconds - min(start, instant.nanoseconds)) / 1_000_000_000
  }

  static func wallTime(at time: Double) -> WallTime {
    WallTime(nanoseconds: 1_800_000_000_000_000_000 + Int64(time * 1_000_000_000))
  }

  func run() -> Tally {
    setUp()
    if scheme == .minute { nextFix = 60 }
    if scheme == .continuous {
      onSince = 0
      nextFix = Receiver.fixTime
    }
    let end = Double(week.seconds)
    while true {
      // Adds 1 µs, because the daemon's timer has this resolution and never fires early.
      let deadline = scheduler.nextDeadline.map { max(now, Phone.time(of: $0) + 0.000_001) }
      let next = min(deadline ?? end, nextFix ?? end)
      guard next < end else { break }
      now = next
      if nextFix == next { fix() } else { handle(.scheduler(.deadlineReached)) }
    }
    now = end
    turnReceiver(on: false)
    tally.fixCount = fixCount
    return tally
  }

  /// The number of locations that the receiver determines. A continuous receiver determines one
  /// each second. While the phone rests, the simulation computes only one in ten of these
  /// locations, but they all count here.
  private var fixCount: Int {
    scheme == .continuous ? Int(Double(week.seconds) - Receiver.fixTime) : receiver.fixCount
  }

  // MARK: The receiver

  private func fix() {
    let location = receiver.location(on: week, at: now)
    switch scheme {
    case .scheduler: nextFix = now + 1
    case .minute:
      tally.receiverOn += Receiver.fixTime
      nextFix = now + 60
    case .continuous:
      let isNearMotion = week.isMoving(at: now) || week.isMoving(at: max(0, now - 120))
      nextFix = now + (isNearMotion ? 1 : 10)
    }
    handle(.location(.located(.gpsd, location)))
  }

  private func turnReceiver(on isOn: Bool) {
    if isOn, onSince == nil {
      onSince = now
      nextFix = now + Receiver.fixTime
    } else if !isOn, let since = onSince {
      tally.receiverOn += now - since
      onSince = nil
      nextFix = nil
    }
  }

  // MARK: The applications

  private func request() -> RequestID {
    requestLast += 1
    return RequestID(requestLast)
  }

  private func setUp() {
    let keys = (0..<Week.applicationCount).map { number -> ApplicationKey in
      guard let id = ApplicationID("org.example.places-\(number)") else {
        preconditionFailure("an id is not valid")
      }
      return ApplicationKey(id, owner: UserID(1000))
    }
    handle(
      .scheduler(
        .manifestsChanged(
          keys.map { Manifest(id: $0.id, owner: $0.owner, locationServices: [.regions]) })))
    handle(.scheduler(.clockRead(Phone.wallTime(at: 0))))
    handle(.location(.rulesChanged(LocationRules(allowsAll: true))))
    handle(.location(.sourceChanged(.gpsd, isAvailable: true)))
    for (number, key) in keys.enumerated() {
      let leader = Leader(pid: Int32(100 + number), startTime: UInt64(number))
      handle(
        .application(
          .register(request(), key, leader, target: .background, seat: SeatID("seat0"))))
    }
    for (instance, application) in applications.sorted(by: { $0.key < $1.key }) {
      // The scheduler suspends the application after the acknowledgement, so the application starts
      // the monitoring first.
      for one in week.regions where one.application == application {
        handle(.location(.startMonitoring(request(), instance, one.region)))
      }
    }
    for instance in applications.keys.sorted() { acknowledge(CallbackID(1), instance) }
  }

  private func acknowledge(_ callback: CallbackID, _ instance: InstanceID) {
    handle(.application(.acknowledge(request(), instance, callback)))
  }

  // MARK: Events and effects

  private func handle(_ event: Event) {
    queue.append(event)
    // An effect may cause further events at the same instant. The outer call handles these events.
    guard queue.count == 1 else { return }
    while let event = queue.first {
      for effect in scheduler.handle(event, at: Phone.instant(at: now)) { carryOut(effect) }
      queue.removeFirst()
    }
  }

  private func carryOut(_ effect: Effect) {
    switch effect {
    case .manage(let id, let leader, _): applications[id] = Int(leader.pid) - 100
    case .suspend(let id): handle(.process(.suspensionCompleted(id)))
    case .checkTracer(let id): handle(.process(.tracerChecked(id, isTraced: false)))
    case .location(.store(let id, _, _)): handle(.location(.stored(id)))
    case .location(.need(let needs)):
      if scheme == .scheduler { turnReceiver(on: needs.accuracy != nil) }
    case .notify(let id, .region(let callback, let crossing, _)):
      if let application = applications[id] {
        tally.told.append(Told(application: application, crossing: crossing, at: now))
      }
      acknowledge(callback, id)
    case .resources(.sample(let id)):
      handle(.resources(.used(id, ResourceUse(processor: .zero, gpu: .zero))))
    case .reply(_, .refused(let refusal)): preconditionFailure("refused: \(refusal)")
    case .reply, .deliver, .expire, .notify, .socket, .notification, .spawn, .resume, .terminate,
      .kill, .release, .record, .memory, .resources, .audio, .remote, .dropPicture, .location:
      break
    }
  }
}
