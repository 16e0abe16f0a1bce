/// The whole state, to go on from after the daemon's death. What follows from the rest (seats,
/// deadlines, counts) is not written but found again.
///
/// Reading one that contradicts itself, or whose policy is out of its bounds, throws.
extension Scheduler: Codable {
  private enum CodingKeys: CodingKey {
    case policy, applications, instances, instanceDetails, launches, instanceIDLast, isStarted
    case keepAlives, notifications, changes, memory
  }

  /// For so many of a kind at most room is made before they are read: a damaged event log may claim
  /// any count.
  static let reservedMax = 4096

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
    try readInstances(values)
    keepAlives = try values.decode(KeepAlivePlanner.self, forKey: .keepAlives)
    notifications = try values.decode(Notifications.self, forKey: .notifications)
    changes = try values.decode(SystemChanges.self, forKey: .changes)
    memory = try values.decode(Memory.self, forKey: .memory)
    for application in applications.unordered {
      relaunches.set(application.key, to: application.relaunch)
    }
    for (owner, count) in countTasks() { applications.taskCountChanged(by: count, of: owner) }
    do throws(InvariantViolation) {
      try check()
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: error.sentence))
    }
  }

  private mutating func readInstances(_ values: KeyedDecodingContainer<CodingKeys>) throws {
    try values.forEach(in: .instances) {
      (instance: consuming Instance, left) throws(MalformedBytes) in
      if instances.isEmpty { instances.reserveCapacity(min(left, Self.reservedMax)) }
      let id = instance.id
      guard instances.updateValue(instance, forKey: id) == nil else {
        throw MalformedBytes("instance \(id.number) is there twice")
      }
    }
    let details = try values.decodeIfPresent([InstanceDetails].self, forKey: .instanceDetails)
    for details in details ?? [] {
      guard let index = instances.index(forKey: details.id) else {
        throw MalformedBytes("details of no instance, \(details.id.number)").asDecodingError
      }
      details.restore(to: &instances.values[index])
    }
    for (id, instance) in instances {
      deadlines.set(id, to: instance.deadline(policy))
      if instance.state.isForeground, instance.termination == nil,
        seats.front(of: instance.seat) == nil {
        seats.take(instance.seat, id)
      }
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
    let list = instances.values.sorted { $0.id < $1.id }
    try values.encode(CompactBytes(list), forKey: .instances)
    try values.encode(list.compactMap { InstanceDetails($0) }, forKey: .instanceDetails)
  }
}
