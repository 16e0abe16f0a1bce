import TaskSchedulerCore

/// What a daemon that is gone has left standing still, as far as its event log tells.
///
/// The policy is not asked: also of an event log that cannot be gone on from, this can be found,
/// and beyond what of it is damaged. Who is named is to be checked by the start time, as ever.
public struct LeftBehind: Hashable, Sendable {
  /// Processes that were, or were about to be, sent SIGSTOP.
  public private(set) var stopped: [Holdings.Stopped] = []
  /// Paths of control groups that may be frozen.
  public private(set) var groups: [String] = []
  /// Priorities that were, or were about to be, lowered, by instance.
  public private(set) var lowered: [[Holdings.Lowered]] = []
  /// The first of the event log: who is named there is not known, or not rightly.
  public private(set) var damage: EventLogDamage?

  /// Of an event log that cannot be opened as one, so much of its beginning is looked at. Source:
  /// this project; one of a thousand applications has 2 MiB.
  public static let bytesMax = 64 << 20

  /// Nobody.
  public init() {}

  /// - Parameter boot: the present one: of an earlier run of the machine nothing is left.
  /// - Throws: ``EventLogRefusal/otherBoot``, or why it is no event log, where nothing in it is
  ///   one's.
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
    if let refusal, names.wholeCount == 0 { throw refusal }
    damage =
      refusal.map { EventLogDamage(place: 0, problem: "\($0)") } ?? records.damage
    stopped = names.stopped.sorted { $0.key < $1.key }.flatMap(\.value)
    lowered = names.lowered.sorted { $0.key < $1.key }.map(\.value)
    groups = names.groups.sorted()
  }

  /// Adds what another event log tells of.
  public mutating func add(_ other: LeftBehind) {
    stopped += other.stopped
    groups += other.groups.filter { !groups.contains($0) }
    lowered += other.lowered
    damage = damage ?? other.damage
  }

  /// Who is named in records.
  private struct Names {
    var stopped: [InstanceID: [Holdings.Stopped]] = [:]
    var lowered: [InstanceID: [Holdings.Lowered]] = [:]
    var groups: Set<String> = []
    var wholeCount = 0

    mutating func take(_ record: SalvagedRecords.Record, isAfterDamage: Bool) {
      if record.isWhole { wholeCount += 1 }
      let value = UnsafeRawBufferPointer(rebasing: record.bytes.dropFirst())
      switch EventLogLayout.RecordKind(rawValue: record.bytes[0]) {
      case .holdings:
        guard let holdings = try? StoredReader.read(Holdings.self, from: value) else { return }
        take(holdings, isWhole: record.isWhole)
      case .note:
        guard let note = try? StoredReader.read(Note.self, from: value) else { return }
        if isAfterDamage { add(note, isWhole: record.isWhole) } else { take(note) }
      case .start, .scheduler, .event, nil: break
      }
    }

    private mutating func take(_ holdings: Holdings, isWhole: Bool) {
      for (id, instance) in holdings.instances {
        stopped[id, default: []] += instance.stopped
        // What they were before may be what is damaged.
        if isWhole { lowered[id] = instance.lowered }
      }
      // Who was arriving when the event log was begun has no instance in what it begins with.
      let arrivals = holdings.instances.values.map(\.arrival) + holdings.arrivals.values
      groups.formUnion(arrivals.compactMap(\.group))
    }

    private mutating func take(_ note: Note) {
      switch note {
      case .arrival(let arrival): if let group = arrival.group { groups.insert(group) }
      case .stopping(let id, let more): stopped[id, default: []] += more
      case .letRun(let id): stopped[id] = nil
      case .forgotten(let id): (stopped[id], lowered[id]) = (nil, nil)
      case .lowering(let id, let items): lowered[id, default: []] += items
      case .gaveBack(let id): lowered[id] = nil
      case .stream, .monitor, .input, .inputWhole, .unsaved: break
      }
    }

    /// Nobody is let go for it: what was lost may have been later.
    private mutating func add(_ note: Note, isWhole: Bool) {
      switch note {
      case .arrival, .stopping: take(note)
      case .lowering: if isWhole { take(note) }
      case .letRun, .forgotten, .gaveBack, .stream, .monitor, .input, .inputWhole,
        .unsaved:
        break
      }
    }
  }
}
