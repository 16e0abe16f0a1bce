import TaskSchedulerCore

/// Checks the ids, the ends and the expiration of background tasks (contract.md#tasks).
///
/// Each task has an id of its own, and lasts until the application ends it. The scheduler calls
/// expiration handlers once in each stay in the background (stint), in the order in which the tasks
/// began. It calls them before it kills an application whose background time has ended.
struct TaskChecker: Checker {
  static let name = "tasks"

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    switch effect {
    case .reply(_, .began(let task, let remaining)):
      guard case .application(.beginBackgroundTask(_, let id, _)) = observed.event,
        let instance = observed[id]
      else { return try require(false, "a task begins without a request") }
      try checkBegin(task, remaining, instance, observed)
    case .reply(_, .registered(let registration)): try checkKept(registration, observed)
    case .reply(_, .done):
      if case .application(.endBackgroundTask(_, _, let task)) = observed.event {
        try require(observed.isExpected, "task \(task.number) ends, but was not outstanding")
      }
      if case .application(.acknowledge(_, _, let callback)) = observed.event {
        try require(
          observed.isExpected,
          "an acknowledgement is accepted, but callback \(callback.number) is not in flight")
      }
    case .reply(_, .refused(let refusal)):
      var isReport = false
      if case .unknownTask = refusal { isReport = true }
      if case .unknownCallback = refusal { isReport = true }
      if isReport { try require(!observed.isExpected, "a valid report is refused: \(refusal)") }
    case .expire(let id, let task, _): try checkExpiration(id, task, observed)
    case .record(let record): try checkRecord(record, observed)
    case .reply, .deliver, .notify, .socket, .notification, .memory, .spawn, .manage, .suspend,
      .resume, .terminate, .kill, .release, .checkTracer, .resources, .dropPicture, .audio,
      .remote, .location:
      break
    }
  }

  private func checkBegin(
    _ task: TaskID, _ remaining: Duration?, _ instance: ObservedInstance, _ observed: ObservedState
  ) throws(Finding) {
    let name = instance.name
    try require(task.number > instance.taskLast, "\(name): a task's id is reused or 0")
    try require(instance.state != .suspended, "\(name) begins a task while suspended")
    try require(
      instance.tasks.count < observed.policy.tasksPerApplicationMax, "\(name) has too many tasks")
    let count = observed.live.filter { $0.key.owner == instance.key.owner }
      .reduce(0) { $0 + $1.tasks.count }
    try require(count < observed.policy.tasksPerUserMax, "the user of \(name) has too many tasks")
    guard instance.state == .background, !instance.isTraced else {
      return try require(
        remaining == nil, "\(name) is told a limit, but its background time is unlimited")
    }
    let limit = instance.limit(observed.limits)
    let left = Duration.nanoseconds(Int64(limit - min(limit, observed.now)))
    try require(
      remaining == left,
      "\(name) is told the background time \(remaining.map { "\($0)" } ?? "unlimited"), not "
        + "\(left)")
  }

  /// Checks that a registration contains the instance's outstanding tasks and state, even after a
  /// lost connection or the daemon's death.
  private func checkKept(_ registration: Registration, _ observed: ObservedState) throws(Finding) {
    guard let instance = observed[registration.instance] else {
      return try require(false, "an unknown instance is registered")
    }
    let name = instance.name
    try require(
      registration.tasks.map(\.id) == instance.tasks.map(\.id),
      "\(name) has the tasks \(instance.tasks.map(\.id.number)), but is told "
        + "\(registration.tasks.map(\.id.number))")
    try require(
      registration.tasks.map(\.isExpired) == instance.tasks.map(\.isExpired),
      "\(name) is told wrongly which of its tasks have expired")
    try require(
      registration.state == instance.state,
      "\(name) is \(instance.state), but is told \(registration.state)")
    try require(
      registration.launchReason == instance.plan.reason, "\(name) is told the wrong launch reason")
  }

  private func checkExpiration(
    _ id: InstanceID, _ task: TaskID, _ observed: ObservedState
  ) throws(Finding) {
    guard let instance = observed[id] else {
      return try require(
        false, "a task of instance \(id.number) expires, but the instance does not exist")
    }
    let name = instance.name
    guard let index = instance.tasks.firstIndex(where: { $0.id == task }) else {
      return try require(false, "\(name): task \(task.number) expires, but is not outstanding")
    }
    try require(
      !instance.tasks[index].isExpired,
      "\(name): a task expires twice in one stay in the background")
    try require(instance.hasStream, "\(name) is told of an expiration without an event stream")
    try require(
      instance.tasks[..<index].allSatisfy(\.isExpired), "\(name): tasks expire out of order")
  }

  private func checkRecord(_ record: Record, _ observed: ObservedState) throws(Finding) {
    guard let instance = observed.byKey[record.application] else { return }
    if case .ended(let end) = record.change, end.reason == .backgroundTimeExpired {
      try require(
        instance.tasks.allSatisfy(\.isExpired),
        "\(instance.name) is killed before its expiration handlers were called")
    }
    guard case .transition(_, .suspended, _) = record.change else { return }
    try require(
      instance.tasks.isEmpty, "\(instance.name) is suspended with an outstanding task")
  }
}
