import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerSimulation
import TestSupport

/// A scheduler that replays the events of the real daemon's event log. It predicts the state that
/// the daemon and the processes must show.
final class CoreModel {
  private let folder: String
  private var checker: TraceChecker?
  private(set) var scheduler = Scheduler()
  private(set) var eventCount = 0
  private var recordCount = 0
  /// All answers so far, in order, each with the event of its request.
  private(set) var answers: [Answer] = []
  private var asked: [RequestID: Event] = [:]
  /// The stream events that the core has sent to each instance, in order.
  private(set) var told: [InstanceID: [DeliveredEvent]] = [:]
  private var instances: [Leader: InstanceID] = [:]

  struct Answer {
    var event: Event
    var reply: Reply
  }

  /// One event of an event stream.
  enum DeliveredEvent: Hashable {
    case callback(String, UInt64)
    case expiration(UInt64)
  }

  init(_ daemon: DaemonFixture) throws {
    folder = daemon.folder.file("event-log")
    try refresh()
  }

  /// Replays the events that the daemon has logged since the last call.
  ///
  /// - Returns: the state before the first of these events, then the state after each.
  @discardableResult
  func refresh() throws -> [(Scheduler, Instant)] {
    var states = [(scheduler, now)]
    let names = try Directory.names(path: folder).filter { $0.hasPrefix("event-log.") }
    guard names == ["event-log.1"] else { throw PredictionMismatch("the event logs are \(names)") }
    let bytes = try BoundedFile(path: "\(folder)/event-log.1", bytesMax: 1 << 24).bytes
    try bytes.withUnsafeBytes { bytes in
      var reader = try EventLogReader(bytes, boot: nil)
      if checker == nil {
        scheduler = try reader.scheduler.get()
        checker = TraceChecker(from: scheduler)
        states = [(scheduler, reader.start.at)]
      }
      var record = 0
      while let entry = reader.next() {
        record += 1
        guard record > recordCount, case .event(let event, _, let at) = entry else { continue }
        try take(event, at)
        states.append((scheduler, at))
      }
      recordCount = record
      if let damage = reader.damage {
        throw PredictionMismatch("the event log is damaged \(damage)")
      }
    }
    return states
  }

  private var now = Instant(nanoseconds: 0)

  private func take(_ event: Event, _ at: Instant) throws {
    now = at
    eventCount += 1
    let effects = scheduler.handle(event, at: at)
    // The checker tests the invariants of the contract after each event.
    try checker?.check(event, effects, scheduler, at: at)
    if let request = event.request { asked[request] = event }
    for effect in effects {
      switch effect {
      case .reply(let request, let reply):
        guard let event = asked.removeValue(forKey: request) else {
          throw PredictionMismatch("\(request) is unknown, or has two answers")
        }
        answers.append(Answer(event: event, reply: reply))
      case .manage(let id, let leader, _): instances[leader] = id
      case .deliver(let id, let callback, _):
        told[id, default: []].append(.callback(callback.kind.rawValue, callback.id.number))
      case .expire(let id, let task, _): told[id, default: []].append(.expiration(task.number))
      case .notify, .socket, .notification, .memory, .spawn, .suspend, .resume, .terminate, .kill,
        .release, .checkTracer, .record, .resources, .dropPicture, .audio,
        .remote, .location:
        break
      }
    }
  }

  /// Returns the instance that a process leads or has led.
  func instance(of leader: Leader) -> InstanceID? { instances[leader] }

  /// Returns the state and the status of the instance that a process leads; nil if there is none.
  func status(_ leader: Leader) -> (state: ApplicationState, status: InstanceStatus)? {
    guard let id = instances[leader], let status = scheduler.instanceStatus(id, at: now) else {
      return nil
    }
    return (scheduler.state(of: id), status)
  }
}

/// A difference between the observed behaviour and the core's prediction.
struct PredictionMismatch: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

extension CoreModel {
  /// Returns the reply that the core would give to an event now.
  func answer(to event: Event) -> Reply? {
    var scheduler = scheduler
    let number = RequestID(.max)
    let effects = scheduler.handle(event.asked(as: number), at: now)
    return effects.lazy.compactMap { effect in
      if case .reply(number, let reply) = effect { reply } else { nil }
    }.first
  }
}

extension Event {
  /// Returns an operator's request with the given request id, and any other event unchanged.
  fileprivate func asked(as request: RequestID) -> Event {
    switch self {
    case .operation(.activate(_, let key)): .operation(.activate(request, key))
    case .operation(.deactivate(_, let key)): .operation(.deactivate(request, key))
    case .operation(.sendToBackground(_, let key)): .operation(.sendToBackground(request, key))
    case .operation(.terminate(_, let key, let byUser)):
      .operation(.terminate(request, key, byUser: byUser))
    case .operation(.launch(_, let key, let target, let reason)):
      .operation(.launch(request, key, target: target, reason: reason))
    case .operation(.adopt(_, let adoption)): .operation(.adopt(request, adoption))
    case .operation(.remoteControl(_, let user, let command)):
      .operation(.remoteControl(request, user, command))
    case .application, .process, .socket, .notification, .systemChanged, .session, .scheduler,
      .memory, .resources, .switcher, .location:
      self
    }
  }

  /// Whether two events are equal apart from the request id. Two adoptions are equal if their
  /// process, application, target and background task are equal.
  func isLike(_ other: Event) -> Bool {
    let request = RequestID(0)
    if case .operation(.adopt(_, let one)) = self, case .operation(.adopt(_, let other)) = other {
      return one.leader == other.leader && one.application == other.application
        && one.target == other.target && one.backgroundTask == other.backgroundTask
    }
    return asked(as: request) == other.asked(as: request)
  }

  /// Whether this event is a call in which the instance begins or ends a task.
  func isTaskCall(of instance: InstanceID) -> Bool {
    switch self {
    case .application(.beginBackgroundTask(_, instance, _)),
      .application(.endBackgroundTask(_, instance, _)):
      true
    case _: false
    }
  }
}

extension Reply {
  /// The name of a refusal, or "done" for every other reply.
  var word: String { if case .refused(let refusal) = self { refusal.name } else { "done" } }

  /// `task 7` if the reply reports that task 7 has begun; otherwise `word`.
  var text: String {
    if case .began(let task, _) = self { "task \(task.number)" } else { word }
  }
}

extension TestApplication {
  /// Reads the application's output until its end. Returns the callbacks and expirations, and the
  /// answers that the test has not taken yet.
  func rest() throws -> (events: [CoreModel.DeliveredEvent], answers: [String]) {
    var told: [CoreModel.DeliveredEvent] = []
    while let event = try nextEventOrEnd() {
      let parameters = event["parameters"]
      if case .string(let kind)? = parameters?["callback"]?["kind"],
        case .integer(let id)? = parameters?["callback"]?["id"] {
        told.append(.callback(kind, UInt64(id)))
      } else if case .integer(let task)? = parameters?["expiration"]?["task"] {
        told.append(.expiration(UInt64(task)))
      }
    }
    return (
      told,
      takeAnswers().map { answer in
        if case .integer(let task)? = answer["parameters"]?["task"] { return "task \(task)" }
        return answer.errorName ?? "done"
      }
    )
  }
}
