import TaskSchedulerCore

/// The stopped processes, frozen control groups and lowered priorities that a dead daemon left
/// behind, according to its event log.
///
/// The leftovers do not depend on the scheduler or its events. They can therefore be read from an
/// event log from which no daemon can recover, even from records that follow damage. The caller
/// must compare the start time of each process before it acts on the process.
public struct Leftovers: Equatable, Sendable {
  /// Processes that the daemon has stopped with SIGSTOP, or was about to stop.
  public private(set) var stopped: [DaemonState.Stopped] = []
  /// Paths of control groups that may be frozen.
  public private(set) var groups: [String] = []
  /// Priorities that the daemon has lowered, or was about to lower, by instance.
  public private(set) var lowered: [[DaemonState.Lowered]] = []
  /// The first damage of the event log. A process that only a damaged record names may be missing.
  public private(set) var damage: EventLogDamage?

  /// The number of bytes to read from the beginning of a file that is not a usable event log: 64
  /// MiB. The event log of a thousand applications has 2 MiB.
  public static let bytesMax = 64 << 20

  /// Creates an empty value.
  public init() {}

  /// Reads an event log.
  ///
  /// - Parameter boot: The present boot. No process of an earlier boot exists.
  /// - Throws: ``EventLogRefusal/otherBoot``. If the bytes contain no intact record, the reason why
  ///   they are not an event log.
  public init(_ bytes: UnsafeRawBufferPointer, boot: BootID?) throws(EventLogRefusal) {
    var refusal: EventLogRefusal?
    do throws(EventLogRefusal) {
      try EventLogLayout.checkHeader(bytes, boot: boot)
    } catch {
      if error == .otherBoot { throw error }
      refusal = error
    }
    var names = Names()
    var records = SalvagedRecords(bytes)
    while let record = records.next() { names.take(record, isAfterDamage: records.damage != nil) }
    if let refusal, names.intactCount == 0 { throw refusal }
    damage =
      refusal.map { EventLogDamage(place: 0, problem: "\($0)") } ?? records.damage
    stopped = names.stopped.sortedByKey.flatMap(\.value)
    lowered = names.lowered.sortedByKey.map(\.value)
    groups = names.groups.sorted()
  }

  /// Adds the processes, control groups and priorities of another event log.
  public mutating func add(_ other: Leftovers) {
    stopped += other.stopped
    groups += other.groups.filter { !groups.contains($0) }
    lowered += other.lowered
    damage = damage ?? other.damage
  }

  /// The processes, control groups and priorities that the records contain.
  private struct Names {
    var stopped: [InstanceID: [DaemonState.Stopped]] = [:]
    var lowered: [InstanceID: [DaemonState.Lowered]] = [:]
    var groups: Set<String> = []
    var intactCount = 0

    mutating func take(_ record: SalvagedRecords.Record, isAfterDamage: Bool) {
      if record.isIntact { intactCount += 1 }
      let value = UnsafeRawBufferPointer(rebasing: record.bytes.dropFirst())
      switch EventLogLayout.RecordKind(rawValue: record.bytes[0]) {
      case .daemonState:
        guard let daemonState = try? StoredReader.read(DaemonState.self, from: value) else {
          return
        }
        take(daemonState, isIntact: record.isIntact)
      case .note:
        guard let note = try? StoredReader.read(Note.self, from: value) else { return }
        if isAfterDamage { add(note, isIntact: record.isIntact) } else { take(note) }
      case .start, .scheduler, .event, nil: break
      }
    }

    private mutating func take(_ daemonState: DaemonState, isIntact: Bool) {
      for (id, instance) in daemonState.instances {
        stopped[id, default: []] += instance.stopped
        // In a damaged record, the priorities to restore may be wrong.
        if isIntact { lowered[id] = instance.lowered }
      }
      // A leader has no instance yet if the event log begins before the event that reports the
      // leader.
      let unmanagedLeaders =
        daemonState.instances.values.map(\.details) + daemonState.unmanagedLeaders.values
      groups.formUnion(unmanagedLeaders.compactMap(\.group))
    }

    private mutating func take(_ note: Note) {
      switch note {
      case .leader(let details): if let group = details.group { groups.insert(group) }
      case .stopping(let id, let more): stopped[id, default: []] += more
      case .resumed(let id): stopped[id] = nil
      case .forgotten(let id): (stopped[id], lowered[id]) = (nil, nil)
      case .lowering(let id, let items): lowered[id, default: []] += items
      case .restored(let id): lowered[id] = nil
      case .stream, .monitor, .input, .inputComplete, .unsaved, .agent: break
      }
    }

    /// Adds the processes and control groups of a note that is damaged or follows damage. Adds the
    /// priorities of the note only if the note is intact. Ignores notes that report a resume,
    /// because the daemon may have stopped the processes again, and the record of this may be
    /// missing.
    private mutating func add(_ note: Note, isIntact: Bool) {
      switch note {
      case .leader, .stopping: take(note)
      case .lowering: if isIntact { take(note) }
      case .resumed, .forgotten, .restored, .stream, .monitor, .input, .inputComplete,
        .unsaved, .agent:
        break
      }
    }
  }
}
