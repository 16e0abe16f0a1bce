import Glibc
import LinuxSystem

/// The behavior of a client, independent of how it communicates with the daemon.
///
/// The client begins and ends tasks, and checks the events that it receives. It usually ends an
/// expired task. In rare cases it does not, so that the daemon kills it. Its record is correct at
/// every moment.
final class Workload {
  /// The client's means of communication.
  protocol Transport: AnyObject {
    /// - Returns: The id of the task, and its remaining background time (nil if unlimited or
    ///   unknown). If the daemon has refused the task for a permitted reason, the whole result is
    ///   nil.
    func begin(_ name: String) -> (task: Int, remaining: UInt64?)?
    func end(_ task: Int) -> Ending
  }

  /// The state of a task after the request to end it.
  enum Ending {
    case ended
    case unknown
  }

  static let tickTime: UInt64 = 50_000_000

  let client: Int
  let recordFile: RecordFile
  let events: Events
  private(set) var record = Record()
  var chance: SeededGenerator
  private var tickLast: UInt64 = 0
  private var actionNext: UInt64 = 0
  private var namesLast = 0
  private var lastKind: String?
  /// Whether the client's tasks have expired since it last entered or left the background.
  private var isWarned = false
  /// Tasks that expire immediately, because they were begun less than ExpirationLead before the
  /// limit.
  private var begunInLead: Set<Int> = []

  init(client: Int, seed: UInt64) {
    self.client = client
    recordFile = RecordFile(path: Settings.recordFile)
    events = Events(path: Settings.events)
    chance = SeededGenerator(seed: seed &+ UInt64(getpid()), for: client)
    record[.pid] = Int64(getpid())
    record[.connectionsLost] = recordFile.read(slot: client + 1)?[.connectionsLost] ?? 0
    save()
  }

  func save() { recordFile.write(&record, slot: client + 1) }

  func change(_ body: (inout Record) -> Void) {
    body(&record)
    save()
  }

  func violation(_ text: String) { events.write(.violation, client, text) }

  // MARK: Time

  /// Nanoseconds until the next tick or action.
  var pause: UInt64 {
    let now = BootClock.now()
    let next = min(tickLast + Self.tickTime, actionNext)
    return next > now ? next - now : 0
  }

  /// Counts a tick if one is due, and performs the next action if it is due.
  func turn(_ transport: some Transport) {
    let now = BootClock.now()
    if now >= tickLast + Self.tickTime {
      tickLast = now
      change { $0[.ticks] += 1 }
    }
    if now >= actionNext {
      actionNext = now + UInt64(20 + chance.below(150)) * 1_000_000
      act(transport)
    }
  }

  /// Whether the client may have just been resumed from a suspension.
  var hasPaused: Bool { BootClock.now() > tickLast + 6 * Self.tickTime }

  private func act(_ transport: some Transport) {
    if record[.isCareless] != 0 { return }
    let tasks = record.outstanding
    if recordFile.phase == .settle {
      for task in tasks { end(task, transport) }
    } else if record.hasRoom, tasks.count < 5, tasks.isEmpty || chance.percent(45) {
      begin(transport)
    } else if let task = tasks.isEmpty ? nil : tasks[chance.below(tasks.count)] {
      end(task, transport)
    }
  }

  private func begin(_ transport: some Transport) {
    namesLast += 1
    // Shortly before the limit, the daemon may grant the task, expire it and kill the client before
    // the client has read the answer.
    let mayBeLate = isWarned || (record[.limitNotBefore] == 0 && !isInForeground)
    if mayBeLate { warn() }
    let sent = BootClock.now()
    change { $0[.callSince] = Int64(sent) }
    let answer = transport.begin("chaos-\(client)-\(getpid())-\(namesLast)")
    let received = BootClock.now()
    change { record in
      record[.callSince] = 0
      guard let answer else { return }
      record.began(answer.task)
      if let remaining = answer.remaining {
        if remaining < Settings.expirationLead { begunInLead.insert(answer.task) }
        record[.limitNotBefore] = max(record[.limitNotBefore], Int64(sent + remaining))
        record[.limitNotAfter] = Int64(received + remaining)
      }
    }
    let expires = answer.map { begunInLead.contains($0.task) } ?? !record.outstanding.isEmpty
    if mayBeLate, !expires { events.write(.relieved, client) }
  }

  private var isInForeground: Bool {
    lastKind == "didBecomeActive" || lastKind == "willResignActive"
  }

  /// Records that the daemon may kill the client at the limit if the client has not ended its tasks
  /// by then.
  private func warn() {
    events.write(.warned, client, "\(record[.limitNotBefore]) \(record[.limitNotAfter])")
  }

  private func end(_ task: Int, _ transport: some Transport) {
    change { record in
      record.ending(task)
      record[.callSince] = Int64(BootClock.now())
    }
    let ending = transport.end(task)
    change { record in
      record[.callSince] = 0
      switch ending {
      case .ended: record.ended(task)
      case .unknown: record.released(task)
      }
    }
    // If the daemon was already terminating the client, it refused the call. The tasks then did not
    // end in time.
    if isWarned, case .ended = ending, record.outstanding.isEmpty {
      events.write(.relieved, client)
    }
  }

  // MARK: Events

  /// Handles the expiration of a task, and checks that the expiration is not early.
  func expired(_ task: Int, remaining: UInt64?, _ transport: some Transport) {
    let now = BootClock.now()
    let due = Int64(bitPattern: UInt64(record[.limitNotBefore])) - Int64(Settings.expirationLead)
    if record[.limitNotBefore] != 0, Int64(now) < due - 2_000_000 {
      violation("task \(task) expired \((due - Int64(now)) / 1_000_000) ms early")
    }
    if let remaining, remaining > Settings.expirationLead {
      violation("task \(task) expired with \(remaining / 1_000_000) ms left")
    }
    let latest = record[.limitNotAfter]
    // The campaign checks only the time of the first expiration, and only if the task has not
    // ended. The client reads other expirations late: after it has ended the first task, or after a
    // suspension.
    let isFirst = !isWarned && !begunInLead.contains(task)
    let isJudged = isFirst && latest != 0 && record.outstanding.contains(task)
    events.write(.expired, client, isJudged ? "\(latest - Int64(Settings.expirationLead))" : "")
    if record.outstanding.contains(task) {
      isWarned = true
      warn()
    }
    change { record in
      record[.expirations] += 1
      if let remaining { record[.limitNotAfter] = Int64(now + remaining) }
    }
    if record[.isCareless] == 0, recordFile.phase == .work, chance.percent(3) {
      change { $0[.isCareless] = 1 }
      events.write(
        .careless, client, "\(record[.limitNotBefore]) \(record[.limitNotAfter])")
    }
    // If the client is already ending the task, there is nothing to do.
    if record[.isCareless] == 0, record.outstanding.contains(task) { end(task, transport) }
  }

  /// Handles a careless client that was activated before the daemon killed it. No limit applies in
  /// the foreground. In the background, its tasks entitle it to run until a new limit.
  private func moveLimit(isInBackground: Bool) {
    if isInBackground {
      events.write(.careless, client, "0 \(BootClock.now() + Settings.backgroundTime)")
    } else {
      events.write(.careless, client)
      events.write(.relieved, client)
    }
  }

  /// For each callback, the callbacks that may come directly before it, according to the contract's
  /// table (§2).
  private static let before: [String: Set<String?>] = [
    "didFinishLaunching": [nil],
    "didBecomeActive": ["didFinishLaunching", "willResignActive", "willEnterForeground"],
    "willResignActive": ["didBecomeActive"],
    "didEnterBackground": ["didFinishLaunching", "willResignActive", "willEnterForeground"],
    "willEnterForeground": ["didEnterBackground", "didFinishLaunching"],
    "willTerminate": [
      "didFinishLaunching", "didBecomeActive", "willResignActive", "didEnterBackground",
      "willEnterForeground",
    ],
  ]

  /// Handles a callback that has not been delivered before.
  func received(_ kind: String) {
    if Self.before[kind]?.contains(lastKind) != true {
      violation("callback \(kind) after \(lastKind ?? "none")")
    }
    lastKind = kind
    let beginsStint = kind == "didEnterBackground" || kind == "willEnterForeground"
    change { record in
      record[.callbacks] += 1
      // Counts a tick, because the callback proves that the client runs. The daemon may suspend the
      // client again before the client's loop counts a tick.
      record[.ticks] += 1
      // The client enters or leaves the background, so the old limit no longer applies.
      if beginsStint {
        isWarned = false
        begunInLead = []
        record[.limitNotBefore] = 0
        record[.limitNotAfter] = 0
      }
    }
    if beginsStint, record[.isCareless] != 0 {
      moveLimit(isInBackground: kind == "didEnterBackground")
    }
  }

  /// Handles a daemon that has forgotten the client.
  func forgotten(_ text: String) {
    violation(text)
    lastKind = nil
    change { record in
      record.forgetTasks()
      record[.limitNotBefore] = 0
      record[.limitNotAfter] = 0
    }
  }
}
