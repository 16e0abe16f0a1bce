import TaskSchedulerCore

/// Background tasks are balanced (§4): each begin has an id of its own and is kept until its end;
/// expiration handlers are called once in each stint, in the order in which the tasks were begun,
/// and before anything is killed for its background time.
struct TaskChecker: Checker {
  static let name = "tasks"

  /// The last task of this event whose handler was called.
  private var expiredLast: (instance: InstanceID, task: TaskID)?
  private var eventLast: UInt64 = 0

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    switch effect {
    case .reply(_, .began(let task, let remaining)):
      guard case .application(.beginBackgroundTask(_, let id, _)) = ledger.event,
        let sighting = ledger[id]
      else { return try require(false, "a task begins without a request") }
      try checkBegin(task, remaining, sighting, ledger)
    case .reply(_, .registered(let registration)): try checkKept(registration, ledger)
    case .reply(_, .done):
      if case .application(.endBackgroundTask(_, _, let task)) = ledger.event {
        try require(ledger.isExpected, "task \(task.number) ends, which was not outstanding")
      }
      if case .application(.acknowledge(_, _, let callback)) = ledger.event {
        try require(
          ledger.isExpected, "callback \(callback.number) is taken, which was not in flight")
      }
    case .reply(_, .refused(let refusal)):
      let isReport: Bool =
        switch refusal {
        case .unknownTask, .unknownCallback: true
        case _: false
        }
      if isReport { try require(!ledger.isExpected, "refused \(refusal), and it was right") }
    case .expire(let id, let task, _): try checkExpiration(id, task, ledger)
    case .record(let record): try checkRecord(record, ledger)
    case .reply, .deliver, .notify, .socket, .notification, .memory, .spawn, .manage, .suspend,
      .resume, .terminate, .kill, .release, .checkTracer, .resources:
      break
    }
  }

  private func checkBegin(
    _ task: TaskID, _ remaining: Duration?, _ sighting: Sighting, _ ledger: Ledger
  ) throws(Finding) {
    let name = sighting.key.id.name
    try require(task.number > sighting.taskLast, "\(name): a task's id is used again, or 0")
    try require(sighting.state != .suspended, "\(name) begins a task while suspended")
    try require(
      sighting.tasks.count < ledger.policy.tasksPerApplicationMax, "\(name) has too many tasks")
    let count = ledger.live.filter { $0.key.owner == sighting.key.owner }
      .reduce(0) { $0 + $1.tasks.count }
    try require(count < ledger.policy.tasksPerUserMax, "the user of \(name) has too many tasks")
    guard sighting.state == .background, !sighting.isTraced else {
      return try require(remaining == nil, "\(name)'s time is unlimited, and said to be limited")
    }
    let limit = sighting.limit(ledger.limits)
    let left = Duration.nanoseconds(Int64(limit - min(limit, ledger.now)))
    try require(
      remaining == left, "\(name) is told \(remaining.map { "\($0)" } ?? "unlimited"), not \(left)")
  }

  /// What was acknowledged to have begun is there after a lost connection, and after the daemon's
  /// death.
  private func checkKept(_ registration: Registration, _ ledger: Ledger) throws(Finding) {
    guard let sighting = ledger[registration.instance] else {
      return try require(false, "an unknown instance is registered")
    }
    let name = sighting.key.id.name
    try require(
      registration.tasks.map(\.id) == sighting.tasks.map(\.id),
      "\(name) has the tasks \(sighting.tasks.map(\.id.number)), and is told "
        + "\(registration.tasks.map(\.id.number))")
    try require(
      registration.tasks.map(\.isExpired) == sighting.tasks.map(\.isExpired),
      "\(name) is told wrongly which tasks have expired")
    try require(
      registration.state == sighting.state, "\(name) is told a state that it is not in")
    try require(
      registration.launchReason == sighting.plan.reason, "\(name) is told a wrong launch reason")
  }

  private mutating func checkExpiration(
    _ id: InstanceID, _ task: TaskID, _ ledger: Ledger
  ) throws(Finding) {
    guard let sighting = ledger[id] else {
      return try require(false, "a task expires of instance \(id.number), which is not there")
    }
    let name = sighting.key.id.name
    guard let index = sighting.tasks.firstIndex(where: { $0.id == task }) else {
      return try require(false, "\(name): task \(task.number) expires, and is not outstanding")
    }
    try require(!sighting.tasks[index].isExpired, "\(name): a task expires twice in a stint")
    try require(sighting.hasStream, "\(name) is told of an expiration without an event stream")
    try require(
      sighting.tasks[..<index].allSatisfy(\.isExpired), "\(name): tasks expire out of order")
  }

  private func checkRecord(_ record: Record, _ ledger: Ledger) throws(Finding) {
    guard let sighting = ledger.byKey[record.application] else { return }
    if case .ended(let end) = record.change, end.reason == .backgroundTimeExpired {
      try require(
        sighting.tasks.allSatisfy(\.isExpired),
        "\(sighting.key.id.name) is killed for tasks whose expiration it was not told of")
    }
    guard case .transition(_, .suspended, _) = record.change else { return }
    try require(
      sighting.tasks.isEmpty, "\(sighting.key.id.name) is suspended with a task outstanding")
  }
}
