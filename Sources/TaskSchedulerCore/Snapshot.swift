/// The whole state, to go on from after the daemon's death. What follows from the rest (seats,
/// deadlines, counts) is not written but found again.
///
/// Reading one that contradicts itself, or whose policy is out of its bounds, throws.
extension Scheduler: Codable {
  private enum CodingKeys: CodingKey {
    case policy, applications, instances, launches, instanceIDLast, isStarted
    case keepAlives, notifications, changes, memory
  }

  private struct Launch: Codable {
    var id: InstanceID
    var pending: PendingLaunch
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(policy: try values.decode(Policy.self, forKey: .policy))
    instanceIDLast = try values.decode(UInt64.self, forKey: .instanceIDLast)
    // Earlier versions did not write it, and had started.
    isStarted = try values.decodeIfPresent(Bool.self, forKey: .isStarted) ?? true
    applications = try values.decode(Applications.self, forKey: .applications)
    for launch in try values.decode([Launch].self, forKey: .launches) {
      launches[launch.id] = launch.pending
    }
    var list = try values.nestedUnkeyedContainer(forKey: .instances)
    while !list.isAtEnd {
      let instance = try list.decode(Instance.self)
      instances[instance.id] = instance
      deadlines.set(instance.id, to: instance.deadline(policy))
      if instance.state == .active, instance.termination == nil,
        seats.active(at: instance.seat) == nil {
        seats.take(instance.seat, instance.id)
      }
    }
    keepAlives = try values.decode(KeepAlivePlanner.self, forKey: .keepAlives)
    notifications = try values.decode(Notifications.self, forKey: .notifications)
    changes = try values.decode(SystemChanges.self, forKey: .changes)
    memory = try values.decode(Memory.self, forKey: .memory)
    for application in applications.unordered {
      relaunches.set(application.key, to: application.relaunch?.dueAt)
    }
    for (owner, count) in countTasks() { applications.taskCountChanged(by: count, of: owner) }
    do throws(Contradiction) {
      try check()
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: error.sentence))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(policy, forKey: .policy)
    try values.encode(instanceIDLast, forKey: .instanceIDLast)
    try values.encode(isStarted, forKey: .isStarted)
    try values.encode(applications, forKey: .applications)
    try values.encode(keepAlives, forKey: .keepAlives)
    try values.encode(notifications, forKey: .notifications)
    try values.encode(changes, forKey: .changes)
    try values.encode(memory, forKey: .memory)
    let pending = launches.sorted { $0.key < $1.key }.map { Launch(id: $0, pending: $1) }
    try values.encode(pending, forKey: .launches)
    try values.encode(instances.values.sorted { $0.id < $1.id }, forKey: .instances)
  }
}
