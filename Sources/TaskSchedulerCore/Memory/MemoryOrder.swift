// The order in which the scheduler terminates applications to free memory
// (contract.md#memory-order).

/// An application, with the properties that determine its place in the order of terminations to
/// free memory. The scheduler never terminates a foreground application for this purpose.
public struct MemoryCandidate: Equatable, Sendable {
  public var application: ApplicationKey
  public var state: ApplicationState
  public var size: MemorySize
  /// The number of the last activation; 0 if the application was never active.
  public var activation: UInt64

  public init(
    application: ApplicationKey, state: ApplicationState, size: MemorySize, activation: UInt64
  ) {
    self.application = application
    self.state = state
    self.size = size
    self.activation = activation
  }

  /// Returns whether the scheduler terminates this application before another. Suspended
  /// applications come first, then background ones. In each class, the application with the larger
  /// dirty size comes first. Of two equally large ones, the less recently active one comes first.
  func isEnded(before other: MemoryCandidate) -> Bool {
    if state.memoryClass != other.state.memoryClass {
      return state.memoryClass < other.state.memoryClass
    }
    if size.dirty != other.size.dirty { return size.dirty > other.size.dirty }
    if activation != other.activation { return activation < other.activation }
    return size.instance < other.size.instance
  }
}

/// The application that the scheduler chose to terminate, and the reasons for the choice.
public struct MemoryChoice: Equatable, Sendable {
  public var chosen: MemoryCandidate
  /// The applications in the same state that follow the chosen one in the order of terminations, at
  /// most three.
  public var runnersUp: [MemoryCandidate]
  /// The number of applications in that state, including the chosen one.
  public var classCount: Int
  /// The machine's memory at the last reading.
  public var memory: MemoryReading
  /// The instant at which the episode of pressure began and the scheduler warned the running
  /// applications.
  public var pressedSince: Instant
  public var at: Instant
  /// How long the scheduler waited for the sizes after the choice had become necessary; 0 if it
  /// already knew the sizes.
  public var choosingTime: Duration
}

extension ApplicationState {
  /// The position of the state in the order of terminations to free memory. The scheduler never
  /// terminates an application at position 2 for this purpose.
  var memoryClass: Int {
    switch self {
    case .suspended: 0
    case .background: 1
    case .active, .inactive, .notRunning: 2
    }
  }
}
