/// A sentence that should hold of the state and does not.
struct InvariantViolation: Error, Hashable {
  let sentence: String

  /// No count comes near it in the life of a machine: one that has was not counted.
  static let countMax = UInt64.max / 2
}

func require(_ holds: Bool, _ sentence: String) throws(InvariantViolation) {
  if !holds { throw InvariantViolation(sentence: sentence) }
}

extension Scheduler {
  /// Traps where the state contradicts itself. Called after every event in tests and simulation.
  public func checkInvariants() {
    if let violatedInvariant { preconditionFailure(violatedInvariant) }
  }

  /// The first sentence that should hold of the state and does not; nil where all hold.
  public var violatedInvariant: String? {
    do throws(InvariantViolation) {
      try check()
      return nil
    } catch {
      return error.sentence
    }
  }

  func check() throws(InvariantViolation) {
    try require(instanceIDLast < InvariantViolation.countMax, "instances are numbered too high")
    try deadlines.check()
    try applications.check()
    try keepAlives.check()
    try notifications.check()
    try changes.check()
    try memory.check()
    switch memory.phase {
    case .calm, .warned, .measuring: break
    case .ending(let id, _):
      try require(
        instances[id]?.termination != nil, "whoever ends for memory is not told to end")
    case .reclaiming(let id, _):
      try require(id.number <= instanceIDLast, "the memory of nobody is reclaimed")
    }
    for (id, _) in keepAlives.all {
      try require(
        instances[id].map { $0.termination == nil } ?? false, "a keep-alive handler of nobody")
    }
    for application in applications.unordered {
      try require(
        relaunches.isSet(application.key, to: application.relaunch), "a relaunch is lost")
    }
    for (id, instance) in instances {
      try instance.check()
      try require(id == instance.id, "an instance is kept under another's id")
      try require(id.number > 0 && id.number <= instanceIDLast, "an instance has a wrong id")
      try require(
        applications[instance.application]?.instance == id, "an instance without application")
      try require(
        deadlines.isSet(id, to: instance.deadline(policy)), "a deadline is not kept")
      let hasSeat = instance.state.isForeground && instance.termination == nil
      try require(
        hasSeat == (seats.front(of: instance.seat) == id),
        "a seat has not one application in front")
    }
    for (owner, count) in countTasks() {
      try require(applications.taskCount(of: owner) == count, "the tasks are miscounted")
    }
    for application in applications.unordered {
      try require(
        application.instance.map { instances[$0] != nil } ?? true, "an instance is lost")
      try require(
        application.launching.map { launches[$0]?.application == application.key } ?? true,
        "a launch is lost")
    }
    for (id, launch) in launches {
      try require(
        applications[launch.application]?.launching == id, "a launch without application")
      try require(id.number > 0 && id.number <= instanceIDLast, "a launch has a wrong id")
    }
  }

  func countTasks() -> [UserID: Int] {
    instances.values.reduce(into: [:]) { $0[$1.application.owner, default: 0] += $1.tasks.count }
  }
}
