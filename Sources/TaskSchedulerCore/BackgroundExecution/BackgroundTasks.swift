/// An outstanding background task.
public struct BackgroundTask: Hashable, Sendable {
  public let id: TaskID
  /// A name for people.
  public let name: String?
  public let beganAt: Instant
  /// Whether the expiration handler of the task has been called in this stint.
  public internal(set) var isExpired: Bool
}

/// The outstanding background tasks of one instance (contract §4).
struct BackgroundTasks: Hashable, Sendable {
  private(set) var tasks: [TaskID: BackgroundTask] = [:]
  private(set) var idLast: UInt64 = 0

  var isEmpty: Bool { tasks.isEmpty }
  var count: Int { tasks.count }

  /// The tasks, in the order in which they began.
  var inOrder: [BackgroundTask] {
    tasks.isEmpty ? [] : tasks.values.sorted { $0.id < $1.id }
  }

  mutating func begin(name: String?, at now: Instant) -> TaskID {
    idLast += 1
    let id = TaskID(idLast)
    tasks[id] = BackgroundTask(id: id, name: name, beganAt: now, isExpired: false)
    return id
  }

  /// - Returns: The task that has ended; nil if `id` is unknown or the task had already ended.
  mutating func end(_ id: TaskID) -> BackgroundTask? {
    tasks.removeValue(forKey: id)
  }

  /// Ends the stint. The outstanding tasks expire again in the next one.
  mutating func endStint() {
    for id in tasks.keys { tasks[id]?.isExpired = false }
  }

  /// Marks all tasks as expired. Returns those that were not before, in order.
  mutating func expireAll() -> [BackgroundTask] {
    let fresh = inOrder.filter { !$0.isExpired }
    for task in fresh { tasks[task.id]?.isExpired = true }
    return fresh
  }

  func check() throws(InvariantViolation) {
    try require(idLast < InvariantViolation.countMax, "the last task id is too high")
    for (id, task) in tasks {
      try require(id == task.id && id.number > 0 && id.number <= idLast, "a task's id is wrong")
    }
  }
}
