// The machine's memory (contract §11): what is known of it, and of who uses how much.

/// Pressure on memory, as a trigger of the kernel told it.
public struct MemoryPressure: Hashable, Sendable {
  /// Whose processes waited for memory.
  public enum Source: String, Hashable, Sendable, CaseIterable {
    /// Anybody's: also those of a container that thrashes within its own limit.
    case machine
    /// Those of the daemon's own slice, which the applications share.
    case slice
  }

  public var source: Source
  public var memory: MemoryReading

  public init(source: Source, memory: MemoryReading) {
    self.source = source
    self.memory = memory
  }
}

/// What the machine has, in bytes.
public struct MemoryReading: Hashable, Sendable {
  /// MemAvailable: what programs could get without paging anything out.
  public var available: UInt64
  public var total: UInt64

  public init(available: UInt64, total: UInt64) {
    self.available = available
    self.total = total
  }

  /// Whether less than so many hundredths of it are available.
  func isBelow(percent: Double) -> Bool {
    Double(available) * 100 < Double(total) * percent
  }
}

/// How much memory the processes of one instance use, in bytes.
public struct MemorySize: Hashable, Sendable {
  public var instance: InstanceID
  /// What its end would give back: private dirty and swapped.
  public var dirty: UInt64
  /// All that is resident, with its share of what is shared.
  public var total: UInt64
  /// Whether it could not be read in full, and is what statm tells.
  public var isEstimate: Bool

  public init(_ instance: InstanceID, dirty: UInt64, total: UInt64, isEstimate: Bool = false) {
    self.instance = instance
    self.dirty = dirty
    self.total = total
    self.isEstimate = isEstimate
  }
}

/// What happens of memory.
public enum MemoryEvent: Hashable, Sendable {
  /// A trigger has fired.
  case pressed(MemoryPressure)
  /// The answer to ``MemoryEffect/look``.
  case looked(MemoryReading)
  /// The answer to ``MemoryEffect/measure(_:)``.
  case measured([MemorySize])
  /// The answer to ``MemoryEffect/reclaim(_:)``: its processes are gone.
  case reclaimed(InstanceID, MemoryReading)
  /// An operator simulates a warning: for one application, for one user's, or for all.
  case warn(RequestID, ApplicationKey?, owner: UserID?)

  var request: RequestID? {
    switch self {
    case .warn(let request, _, _): request
    case .pressed, .looked, .measured, .reclaimed: nil
    }
  }
}

/// What is to be done about memory.
public enum MemoryEffect: Hashable, Sendable {
  /// Reads how much there is; answered by `looked`.
  case look
  /// Finds out how much these use; answered by `measured`.
  case measure([InstanceID])
  /// The instance has been killed, or is over: frees its memory, waits for the end of its
  /// processes, reads how much there is; answered by `reclaimed`.
  case reclaim(InstanceID)
  /// The instance is suspended: what it uses may be written to swap.
  case pageOut(InstanceID)
}

/// An application that may be ended for memory, or never is, with the reason for its place.
public struct MemoryCandidate: Hashable, Sendable {
  public var application: ApplicationKey
  public var state: ApplicationState
  public var size: MemorySize
  /// When it was active last, as the number of the activation; 0 is never.
  public var activation: UInt64

  public init(
    application: ApplicationKey, state: ApplicationState, size: MemorySize, activation: UInt64
  ) {
    self.application = application
    self.state = state
    self.size = size
    self.activation = activation
  }
}

/// Who was chosen to end, and why.
public struct MemoryChoice: Hashable, Sendable {
  public var chosen: MemoryCandidate
  /// Those who would have been next, of the same class.
  public var runnersUp: [MemoryCandidate]
  /// How many of its class there were, it included.
  public var classCount: Int
  /// How much the machine had when it was looked at last.
  public var memory: MemoryReading
  /// When the stretch of pressure began, and whoever ran was warned.
  public var pressedSince: Instant
  public var at: Instant
  /// How long it took to find out who it is, once one was to end; 0 where it was known before.
  public var choosingTime: Duration
}

/// What is known of the machine's memory.
struct Memory: Hashable, Sendable {
  /// How far it has come since pressure began.
  enum Phase: Hashable {
    /// No pressure.
    case calm
    /// Whoever runs has been warned. Nobody is ended before `patience` is over; it is looked then
    /// whether there is too little still, where that is not said otherwise.
    case warned(patience: Instant, looks: Bool)
    /// It was asked how much the candidates use.
    case measuring(since: Instant)
    /// This one was told to end.
    case ending(InstanceID, givenUpAt: Instant)
    /// This one was killed, and its memory is being reclaimed.
    case reclaiming(InstanceID, givenUpAt: Instant)
  }

  var phase = Phase.calm
  /// When a trigger fired last.
  var pressedAt = Instant(nanoseconds: 0)
  /// When the last stretch of pressure began.
  var pressedSince = Instant(nanoseconds: 0)
  /// By when its warning has had its time.
  var warningEnds = Instant(nanoseconds: 0)
  /// What was read last.
  var reading = MemoryReading(available: 0, total: 0)
  /// Stretches of pressure so far; each has one warning for everybody.
  var episodeLast: UInt64 = 0
  /// What the candidates use, where that was asked.
  var measurement: Measurement?

  /// How much the candidates use: asked for before one is to end, where there is time for that.
  struct Measurement: Hashable {
    /// No size is older.
    var askedAt: Instant
    /// nil until the answer has come.
    var sizes: [MemorySize]?
  }

  /// The stretch of pressure that goes on.
  var episode: UInt64? { phase == .calm ? nil : episodeLast }

  func deadline(_ policy: Policy) -> Instant? {
    switch phase {
    case .calm, .measuring: return nil
    case .warned(let patience, let looks):
      let quiet = pressedAt.advanced(by: policy.memoryQuietTime)
      guard looks else { return quiet }
      let isToBeMeasured = measurement == nil
      return min(
        quiet, isToBeMeasured ? patience.earlier(by: Policy.memoryMeasuringLead) : patience)
    case .ending(_, let givenUpAt), .reclaiming(_, let givenUpAt): return givenUpAt
    }
  }

  var isBeingMeasured: Bool { measurement.map { $0.sizes == nil } ?? false }

  /// Pressure is over. What was measured meanwhile is of no use; an answer may be on its way.
  mutating func calmDown() {
    phase = .calm
    if !isBeingMeasured { measurement = nil }
  }

  func check() throws(InvariantViolation) {
    try require(episodeLast < InvariantViolation.countMax, "pressures are numbered too high")
    try require(
      phase != .calm || measurement?.sizes == nil, "sizes are kept, and there is no pressure")
  }
}

/// How things stand with memory.
public struct MemoryStatus: Hashable, Sendable {
  /// How far the procedure has come.
  public enum Phase: String, Hashable, Sendable, CaseIterable {
    case calm, warned, measuring, ending, reclaiming
  }

  public var phase: Phase
  /// When a trigger fired last; nil is never.
  public var pressedAt: Instant?
  /// Who is being ended for it.
  public var ending: InstanceID?
}

extension Scheduler {
  /// How things stand with memory.
  public var memoryStatus: MemoryStatus {
    let pressedAt = memory.episodeLast == 0 ? nil : memory.pressedAt
    switch memory.phase {
    case .calm: return MemoryStatus(phase: .calm, pressedAt: pressedAt)
    case .warned: return MemoryStatus(phase: .warned, pressedAt: pressedAt)
    case .measuring: return MemoryStatus(phase: .measuring, pressedAt: pressedAt)
    case .ending(let id, _):
      return MemoryStatus(phase: .ending, pressedAt: pressedAt, ending: id)
    case .reclaiming(let id, _):
      return MemoryStatus(phase: .reclaiming, pressedAt: pressedAt, ending: id)
    }
  }

  /// Those whose sizes are given, in the order in which they would be ended. Those of the
  /// foreground come last, and never are.
  public func memoryOrder(_ sizes: [MemorySize]) -> [MemoryCandidate] {
    sizes.compactMap { size in
      guard let instance = instances[size.instance], instance.termination == nil else {
        return nil
      }
      return MemoryCandidate(
        application: instance.application, state: instance.state, size: size,
        activation: applications[instance.application]?.activation ?? 0)
    }.sorted(by: Self.goesBefore)
  }

  /// Suspended ones first, then those of the background; among them the largest dirty, at a tie the
  /// least recently active.
  private static func goesBefore(_ one: MemoryCandidate, _ other: MemoryCandidate) -> Bool {
    if one.state.memoryClass != other.state.memoryClass {
      return one.state.memoryClass < other.state.memoryClass
    }
    if one.size.dirty != other.size.dirty { return one.size.dirty > other.size.dirty }
    if one.activation != other.activation { return one.activation < other.activation }
    return one.size.instance < other.size.instance
  }
}

extension ApplicationState {
  /// Its place in the order of terminations; 2 is never.
  var memoryClass: Int {
    switch self {
    case .suspended: 0
    case .background: 1
    case .active, .inactive, .notRunning: 2
    }
  }
}
