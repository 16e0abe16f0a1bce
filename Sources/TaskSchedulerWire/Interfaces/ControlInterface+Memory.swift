/// What operators ask about memory.
extension ControlInterface {
  /// How far it has come with pressure on memory: none; all who run were warned; the candidates are
  /// being measured; one is ending; its memory is being taken back.
  public enum MemoryPhase: String, Codable, CaseIterable, Hashable, Sendable {
    case calm, warned, measuring, ending, reclaiming
  }

  /// How much memory an application uses, in bytes.
  public struct MemoryUse: Codable, Hashable, Sendable {
    public var application: String
    public var owner: Int
    public var state: State
    /// What its end would give back: private dirty and swapped.
    public var dirty: Int
    /// All that is resident, with its share of what is shared.
    public var total: Int
    /// True where it could not be read in full, and is what statm tells.
    public var estimate: Bool
    /// Place in the order of terminations: 1 is next; null never is, in the foreground.
    public var position: Int?

    public init(
      application: String, owner: Int, state: State, dirty: Int, total: Int, estimate: Bool,
      position: Int? = nil
    ) {
      self.application = application
      self.owner = owner
      self.state = state
      self.dirty = dirty
      self.total = total
      self.estimate = estimate
      self.position = position
    }
  }

  /// How the machine's memory stands, and what the applications use that the caller may see, in the
  /// order in which they would be ended.
  public enum GetMemory: InterfaceMethod {
    public static var name: String { MethodName.getMemory.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public init() {}
    }

    public struct Output: Codable, Hashable, Sendable {
      public var phase: MemoryPhase
      /// When pressure was last heard of; null is never.
      public var pressedAtUSec: Int?
      /// Whose pressure is heard of: machine, slice.
      public var heard: [String]
      public var available: Int
      public var total: Int
      /// The part of the total below which applications are ended, in hundredths.
      public var floorPercent: Int
      public var applications: [MemoryUse]

      public init(
        phase: MemoryPhase, pressedAtUSec: Int? = nil, heard: [String], available: Int, total: Int,
        floorPercent: Int, applications: [MemoryUse]
      ) {
        self.phase = phase
        self.pressedAtUSec = pressedAtUSec
        self.heard = heard
        self.available = available
        self.total = total
        self.floorPercent = floorPercent
        self.applications = applications
      }
    }
  }

  /// Simulates a warning that memory is short: for one application, or (null) for all that the
  /// caller may operate.
  public enum WarnMemory: InterfaceMethod {
    public static var name: String { MethodName.warnMemory.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var application: String?
      public var owner: Int?

      public init(application: String? = nil, owner: Int? = nil) {
        self.application = application
        self.owner = owner
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public init() {}
    }
  }
}
