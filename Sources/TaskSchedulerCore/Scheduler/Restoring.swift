// Restores the scheduler from the state in an event log.

extension Scheduler {
  /// Creates a scheduler from a stored state, and computes its seats, deadlines and counts from
  /// that state.
  init(
    policy: Policy, instanceIDLast: UInt64, isStarted: Bool, applications: Applications,
    launches: [InstanceID: PendingLaunch],
    instances: BoxedDictionary<InstanceID, Instance>, keepAlives: KeepAlivePlanner,
    notifications: Notifications, changes: SystemChanges, memory: Memory, sessions: Sessions,
    snapshots: Snapshots, calls: Calls, location: LocationServices
  ) throws(InvariantViolation) {
    self.init(policy: policy)
    self.instanceIDLast = instanceIDLast
    self.isStarted = isStarted
    self.applications = applications
    self.launches = launches
    self.instances = instances
    self.keepAlives = keepAlives
    self.notifications = notifications
    self.changes = changes
    self.memory = memory
    self.sessions = sessions
    self.snapshots = snapshots
    self.calls = calls
    self.location = location
    for (id, instance) in instances {
      deadlines.set(id, to: instance.deadline(self.policy))
      self.applications.taskCountChanged(
        by: instance.tasks.count, of: instance.application.owner)
      if instance.isAtSeat { seats.enter(instance.seat, id) }
    }
    for application in applications.unordered {
      relaunches.set(application.key, to: application.relaunch)
    }
    try check()
  }
}
