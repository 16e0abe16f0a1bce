/// An outstanding background task.
public struct BackgroundTask: Equatable, Sendable {
  public let id: TaskID
  /// The name that operators see; nil if the application gave none.
  public let name: String?
  public let beganAt: Instant
  /// Whether the scheduler has called the expiration handler of the task in the current stay in the
  /// background.
  public internal(set) var isExpired: Bool
}

/// The outstanding background tasks of one instance (contract §4).
struct BackgroundTasks: Equatable, Sendable {
  /// The outstanding tasks, in the order in which they began. Most instances have few.
  private(set) var all: [BackgroundTask] = []
  private(set) var idLast: UInt64 = 0

  var isEmpty: Bool { all.isEmpty }
  var count: Int { all.count }

  mutating func begin(name: String?, at now: Instant) -> TaskID {
    idLast += 1
    let id = TaskID(idLast)
    all.append(BackgroundTask(id: id, name: name, beganAt: now, isExpired: false))
    return id
  }

  /// Ends an outstanding task.
  ///
  /// - Returns: The ended task; nil if `id` is unknown or the task had already ended.
  mutating func end(_ id: TaskID) -> BackgroundTask? {
    all.firstIndex { $0.id == id }.map { all.remove(at: $0) }
  }

  /// Marks all tasks as not expired when a stay in the background ends, so that they expire again
  /// in the next one.
  mutating func endStint() {
    for index in all.indices { all[index].isExpired = false }
  }

  /// Marks all tasks as expired. Returns those that had not expired before, in the order in which
  /// they began.
  mutating func expireAll() -> [BackgroundTask] {
    let fresh = all.filter { !$0.isExpired }
    for index in all.indices { all[index].isExpired = true }
    return fresh
  }

  func check() throws(InvariantViolation) {
    try require(idLast < InvariantViolation.countMax, "the last task id is too high")
    var previous: UInt64 = 0
    for task in all {
      try require(
        task.id.number > previous && task.id.number <= idLast, "a task's id is wrong")
      previous = task.id.number
    }
  }
}
