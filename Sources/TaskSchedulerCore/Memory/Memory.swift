// The machine's memory (contract §11): its current state, and the memory use of each instance.

/// Memory pressure, as a trigger of the kernel reported it.
public struct MemoryPressure: Equatable, Sendable {
  /// The processes that waited for memory.
  public enum Source: String, Equatable, Sendable, CaseIterable {
    /// All processes, including those of a container that thrashes within its own limit.
    case machine
    /// The processes of the daemon's own slice, which the applications share.
    case slice
  }

  public var source: Source
  public var memory: MemoryReading

  public init(source: Source, memory: MemoryReading) {
    self.source = source
    self.memory = memory
  }
}

/// The memory of the machine, in bytes.
public struct MemoryReading: Equatable, Sendable {
  /// MemAvailable: the memory that programs can allocate without swapping.
  public var available: UInt64
  public var total: UInt64

  public init(available: UInt64, total: UInt64) {
    self.available = available
    self.total = total
  }

  /// Returns whether less than a percentage of the memory is available.
  func isBelow(percent: Double) -> Bool {
    Double(available) * 100 < Double(total) * percent
  }
}

/// The memory use of the processes of one instance, in bytes.
public struct MemorySize: Equatable, Sendable {
  public var instance: InstanceID
  /// The memory that the end of the instance would free: its private dirty memory and its swapped
  /// memory.
  public var dirty: UInt64
  /// The resident memory. Memory that several processes share counts in proportion (PSS).
  public var total: UInt64
  /// Whether a part of the sizes is an estimate from /proc/PID/statm, because the daemon could not
  /// read the exact sizes.
  public var isEstimate: Bool

  public init(_ instance: InstanceID, dirty: UInt64, total: UInt64, isEstimate: Bool = false) {
    self.instance = instance
    self.dirty = dirty
    self.total = total
    self.isEstimate = isEstimate
  }
}

/// An event about memory.
public enum MemoryEvent: Equatable, Sendable {
  /// A trigger has fired.
  case pressed(MemoryPressure)
  /// The answer to ``MemoryEffect/read``.
  case read(MemoryReading)
  /// The answer to ``MemoryEffect/measure(_:)``.
  case measured([MemorySize])
  /// The answer to ``MemoryEffect/reclaim(_:)``: the processes of the instance have exited.
  case reclaimed(InstanceID, MemoryReading)
  /// An operator simulates a warning: for one application, for all applications of one user, or for
  /// all applications.
  case warn(RequestID, ApplicationKey?, owner: UserID?)

  var request: RequestID? {
    switch self {
    case .warn(let request, _, _): request
    case .pressed, .read, .measured, .reclaimed: nil
    }
  }
}

/// A memory-related action of the daemon.
public enum MemoryEffect: Equatable, Sendable {
  /// Reads the machine's memory. The answer is ``MemoryEvent/read(_:)``.
  case read
  /// Measures the memory of instances. The answer is ``MemoryEvent/measured(_:)``.
  case measure([InstanceID])
  /// Frees the memory of an instance that was killed or has ended, waits for the end of its
  /// processes, and reads the machine's memory. The answer is ``MemoryEvent/reclaimed(_:_:)``.
  case reclaim(InstanceID)
  /// Asks the kernel to write the memory of a suspended instance to swap at once (MADV_PAGEOUT).
  case pageOut(InstanceID)
}

/// The scheduler's knowledge about the machine's memory.
struct Memory: Equatable, Sendable {
  /// The progress since pressure began.
  enum Phase: Equatable {
    /// No pressure.
    case calm
    /// The scheduler has warned the running applications. It terminates none before `decidesAt`,
    /// unless less than half of `MemoryFloorPercent` is available. With `readsMemory`, it requests
    /// a reading of the memory at `decidesAt`.
    case warned(decidesAt: Instant, readsMemory: Bool)
    /// The scheduler must choose an application to terminate, and waits for the sizes of the
    /// candidates.
    case measuring(since: Instant)
    /// The scheduler is terminating the chosen instance, and waits for its end until `givenUpAt`.
    case ending(InstanceID, givenUpAt: Instant)
    /// The chosen instance has been killed or has ended. The scheduler waits until `givenUpAt` for
    /// the daemon to reclaim the memory of that instance.
    case reclaiming(InstanceID, givenUpAt: Instant)
  }

  var phase = Phase.calm

  /// The instant at which a trigger last fired.
  var pressedAt = Instant(nanoseconds: 0)
  /// The instant at which the last episode of pressure began.
  var pressedSince = Instant(nanoseconds: 0)
  /// The instant at which `MemoryWarningTime` ends, counted from the start of the last episode of
  /// pressure.
  var warningEnds = Instant(nanoseconds: 0)
  /// The last reading of the machine's memory.
  var reading = MemoryReading(available: 0, total: 0)
  /// The number of episodes of pressure since the scheduler was created. In each episode, every
  /// running application receives one warning.
  var episodeLast: UInt64 = 0
  /// The request for the sizes of the candidates; nil if there is none.
  var measurement: Measurement?

  /// A request for the sizes of the candidates, with its answer. If there is time, the scheduler
  /// sends the request before it must choose.
  struct Measurement: Equatable {
    /// The instant of the request. All sizes were measured later.
    var askedAt: Instant
    /// The sizes; nil until the answer has arrived.
    var sizes: [MemorySize]?
  }

  /// The number of the current episode of pressure; nil if there is none.
  var episode: UInt64? { phase == .calm ? nil : episodeLast }

  func deadline(_ policy: SharedPolicy) -> Instant? {
    switch phase {
    case .calm, .measuring: return nil
    case .warned(let decidesAt, let readsMemory):
      let quiet = pressedAt.advanced(by: policy.memoryQuietTime)
      guard readsMemory else { return quiet }
      let isToBeMeasured = measurement == nil
      return min(
        quiet, isToBeMeasured ? decidesAt.earlier(by: Policy.memoryMeasuringLead) : decidesAt)
    case .ending(_, let givenUpAt), .reclaiming(_, let givenUpAt): return givenUpAt
    }
  }

  var isBeingMeasured: Bool { measurement.map { $0.sizes == nil } ?? false }

  /// Ends the episode of pressure and discards the sizes. Keeps a request whose answer is
  /// outstanding, so that the scheduler recognizes the answer.
  mutating func endPressure() {
    phase = .calm
    if !isBeingMeasured { measurement = nil }
  }

  func check() throws(InvariantViolation) {
    try require(
      episodeLast < InvariantViolation.countMax,
      "the number of the last episode of memory pressure is too high")
    try require(
      phase != .calm || measurement?.sizes == nil,
      "memory sizes of instances are stored although there is no memory pressure")
  }
}

/// The state of the procedure for memory pressure.
public struct MemoryStatus: Equatable, Sendable {
  /// The progress of the procedure.
  public enum Phase: String, Equatable, Sendable, CaseIterable {
    case calm, warned, measuring, ending, reclaiming
  }

  public var phase: Phase
  /// The instant at which a trigger last fired; nil if no trigger has fired.
  public var pressedAt: Instant?
  /// The instance that the scheduler is terminating to free its memory; nil if there is none.
  public var ending: InstanceID?
}
