// The invariants of the scheduler between two events. Tests and simulations check them after every
// event.

extension Scheduler {
  /// Traps if an invariant is violated. Tests and simulations call this after every event.
  public func checkInvariants() {
    if let violatedInvariant { preconditionFailure(violatedInvariant) }
  }

  /// The first violated invariant, as a sentence; nil if all hold.
  public var violatedInvariant: String? {
    do throws(InvariantViolation) {
      try check()
      return nil
    } catch {
      return error.sentence
    }
  }

  private func checkAudio() throws(InvariantViolation) {
    for id in calls.answered.compactMap(\.instance) {
      try require(
        instances[id]?.audio?.isInCall == true, "an instance with a call does not know of its call")
    }
    for id in sessions.audio.values.lazy.flatMap(\.active.keys) {
      try require(instances[id] != nil, "an audio session has no instance")
    }
  }

  func check() throws(InvariantViolation) {
    try require(instanceIDLast < InvariantViolation.countMax, "the last instance id is too high")
    try deadlines.check()
    try applications.check()
    try keepAlives.check()
    try notifications.check()
    try changes.check()
    try memory.check()
    try snapshots.check()
    try checkAudio()
    switch memory.phase {
    case .calm, .warned, .measuring: break
    case .ending(let id, _):
      try require(
        instances[id]?.termination != nil,
        "an instance that was chosen to free memory is not ending")
    case .reclaiming(let id, _):
      try require(
        id.number <= instanceIDLast, "the memory of an unknown instance is being reclaimed")
    }
    for (id, _) in keepAlives.all {
      try require(
        instances[id].map { $0.termination == nil } ?? false,
        "a keep-alive handler has no instance, or its instance is ending")
    }
    for box in applications.boxes {
      try require(
        relaunches.isSet(box.value.key, to: box.value.relaunch),
        "the relaunch deadline of an application is wrong")
      try require(
        box.value.instance.map { instances[$0] != nil } ?? true,
        "the instance of an application is missing")
      try require(
        box.value.activation == 0 || box.value.canReturn,
        "the switcher contains an application that neither runs nor can be launched")
      try require(
        box.value.launching.map { launches[$0]?.application == box.value.key } ?? true,
        "the launch of an application is missing")
    }
    for key in snapshots.byApplication.keys {
      try require(
        applications[key]?.canReturn == true,
        "an application that neither runs nor can be launched has a snapshot")
    }
    var taskCounts = applications.taskCounts
    for (id, instance) in instances {
      taskCounts.subtract(instance.application.owner, count: instance.tasks.count)
      try instance.check()
      try require(id == instance.id, "an instance is stored under another id")
      try require(id.number > 0 && id.number <= instanceIDLast, "an instance has a wrong id")
      try require(
        applications[instance.application]?.instance == id, "an instance has no application")
      try require(
        deadlines.isSet(id, to: instance.deadline(policy)), "the deadline of an instance is wrong")
      let foreground = seats.foreground(of: instance.seat)
      try require(
        instance.isAtSeat == foreground.contains(id),
        "the foreground of a seat does not match the states of its instances")
      try require(
        !instance.isAtSeat || !instance.isActiveOrActivating
          || !foreground.contains { $0 != id && instances[$0]?.isActiveOrActivating ?? false },
        "two instances are active at one seat")
    }
    try require(taskCounts.isExact, "the count of the tasks of a user is wrong")
    for (id, launch) in launches {
      try require(
        applications[launch.application]?.launching == id, "a launch has no application")
      try require(id.number > 0 && id.number <= instanceIDLast, "a launch has a wrong id")
    }
  }
}
