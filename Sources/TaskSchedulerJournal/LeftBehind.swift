import TaskSchedulerCore

/// What a daemon that is gone has left standing still, as far as its journal tells.
///
/// The policy is not asked: also of a journal that cannot be gone on from, this can be found.
public struct LeftBehind: Hashable, Sendable {
  /// Processes that were, or were about to be, sent SIGSTOP.
  public private(set) var stopped: [Holdings.Stopped] = []
  /// Paths of control groups that may be frozen.
  public private(set) var groups: [String] = []
  /// Priorities that were, or were about to be, lowered, by instance.
  public private(set) var lowered: [[Holdings.Lowered]] = []
  /// Where the journal ends early: whoever was stopped later is not known.
  public private(set) var damage: JournalDamage?

  /// - Parameter boot: the present one: of an earlier run of the machine nothing is left.
  public init(_ bytes: UnsafeRawBufferPointer, boot: BootID?) throws(JournalRefusal) {
    var reader = try JournalReader(bytes, boot: boot)
    var stoppedOf = reader.holdings.instances.mapValues(\.stopped)
    // Who was arriving when the journal was begun has no instance in what it begins with.
    let arrivals = reader.holdings.instances.values.map(\.arrival) + reader.holdings.arrivals.values
    var loweredOf = reader.holdings.instances.compactMapValues(\.lowered)
    var groups = Set(arrivals.compactMap(\.group))
    while let entry = reader.next() {
      guard case .note(let note) = entry else { continue }
      switch note {
      case .arrival(let arrival): if let group = arrival.group { groups.insert(group) }
      case .stopping(let id, let stopped): stoppedOf[id, default: []] += stopped
      case .letRun(let id): stoppedOf[id] = nil
      case .forgotten(let id): (stoppedOf[id], loweredOf[id]) = (nil, nil)
      case .lowering(let id, let items): loweredOf[id, default: []] += items
      case .gaveBack(let id): loweredOf[id] = nil
      case .stream, .monitor, .waiting, .input, .inputWhole, .unsaved: break
      }
    }
    damage = reader.damage
    stopped = stoppedOf.sorted { $0.key < $1.key }.flatMap(\.value)
    lowered = loweredOf.sorted { $0.key < $1.key }.map(\.value)
    self.groups = groups.sorted()
  }
}
