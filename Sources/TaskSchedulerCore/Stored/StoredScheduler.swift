/// The whole state of the scheduler, from which a restarted daemon continues. Seats, deadlines and
/// counts are not stored, because they follow from the other values.
///
/// Reading throws ``MalformedBytes`` if the state violates an invariant, or if a value of its
/// policy is out of bounds.
extension Scheduler: StoredByForm {
  package static let form = Form(
    derived: {
      (
        policy: Policy, instanceIDLast: UInt64, isStarted: Bool, applications: Applications,
        launches: [InstanceID: PendingLaunch],
        instances: BoxedDictionary<InstanceID, Instance>, keepAlives: KeepAlivePlanner,
        notifications: Notifications, changes: SystemChanges, memory: Memory, sessions: Sessions,
        snapshots: Snapshots, calls: Calls, location: LocationServices
      ) throws(MalformedBytes) in
      try restoring { () throws(InvariantViolation) in
        try Scheduler(
          policy: policy, instanceIDLast: instanceIDLast, isStarted: isStarted,
          applications: applications, launches: launches, instances: instances,
          keepAlives: keepAlives, notifications: notifications, changes: changes, memory: memory,
          sessions: sessions, snapshots: snapshots, calls: calls, location: location)
      }
    }, \.policy.value, \.instanceIDLast, \.isStarted, \.applications, \.launches,
    \.instances, \.keepAlives, \.notifications, \.changes, \.memory, \.sessions,
    \.snapshots, \.calls, \.location)
}

/// Makes a value from stored parts. Throws ``MalformedBytes`` if an invariant of the value is
/// violated.
func restoring<Value>(
  _ make: () throws(InvariantViolation) -> Value
) throws(MalformedBytes) -> Value {
  do throws(InvariantViolation) {
    return try make()
  } catch {
    throw MalformedBytes(error.sentence)
  }
}

/// Stored as the values of all settings, in the order of ``PolicySetting/all``.
extension Policy: Stored {
  package init(from reader: inout StoredReader) throws(MalformedBytes) {
    self.init()
    for setting in PolicySetting.all {
      switch setting.kind {
      case .timeSpan(let property, _): self[keyPath: property] = try Duration(from: &reader)
      case .count(let property, _): self[keyPath: property] = try Int(from: &reader)
      case .flag(let property): self[keyPath: property] = try Bool(from: &reader)
      }
    }
    if let problem = problems.first { throw MalformedBytes(problem) }
  }

  package func write(to writer: inout StoredWriter) {
    for setting in PolicySetting.all {
      switch setting.kind {
      case .timeSpan(let property, _): self[keyPath: property].write(to: &writer)
      case .count(let property, _): self[keyPath: property].write(to: &writer)
      case .flag(let property): self[keyPath: property].write(to: &writer)
      }
    }
  }
}

extension KeepAlive: StoredByForm {
  package static let form = Form(
    {
      (interval: Duration, countedFrom: Instant, lastRun: Instant?) throws(MalformedBytes) in
      guard interval >= .nanoseconds(1), interval <= KeepAlive.intervalMax else {
        throw MalformedBytes("a keep-alive interval is \(interval)")
      }
      return KeepAlive(interval: interval, countedFrom: countedFrom, lastRun: lastRun)
    }, \.interval, \.countedFrom, \.lastRun)
}

/// Deadlines are not stored, because they follow from the handlers.
extension KeepAlivePlanner: StoredByForm {
  package static let form = Form(derived: KeepAlivePlanner.init(_:), \.keepAlives)
}

extension SystemChanges: StoredByForm {
  static let form = Form(SystemChanges.init(entries:numberLast:), \.entries, \.numberLast)
}

extension SystemChanges.Entry: StoredByForm {
  static let form = Form(
    SystemChanges.Entry.init(change:owner:number:), \.change, \.owner, \.number)
}

extension Memory: StoredByForm {
  static let form = Form(
    Memory.init(
      phase:pressedAt:pressedSince:warningEnds:reading:episodeLast:measurement:), \.phase,
    \.pressedAt, \.pressedSince, \.warningEnds, \.reading, \.episodeLast, \.measurement)
}

extension Memory.Phase: StoredByCases {
  static let cases: [Case<Self>] = [
    Case("calm", Self.calm), Case("warned", Self.warned), Case("measuring", Self.measuring),
    Case("ending", Self.ending), Case("reclaiming", Self.reclaiming),
  ]

  func write(to writer: inout StoredWriter) {
    switch self {
    case .calm: writer.write(case: 0)
    case .warned(let a, let b): writer.write(case: 1, a, b)
    case .measuring(let a): writer.write(case: 2, a)
    case .ending(let a, let b): writer.write(case: 3, a, b)
    case .reclaiming(let a, let b): writer.write(case: 4, a, b)
    }
  }
}

extension Memory.Measurement: StoredByForm {
  static let form = Form(Memory.Measurement.init(askedAt:sizes:), \.askedAt, \.sizes)
}
