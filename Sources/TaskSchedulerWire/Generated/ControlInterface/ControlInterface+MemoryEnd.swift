// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// The reason why the daemon terminated an application under memory pressure. Sizes are in bytes.
  public struct MemoryEnd: WireStructure {
    /// The state of the application when the daemon chose it. The daemon terminates suspended
    /// applications before other applications in the background.
    public var state: State
    /// The memory that its end would free: private dirty and swapped.
    public var dirty: Int
    /// True if the daemon could not read the exact number and estimated it from /proc/PID/statm.
    public var estimate: Bool
    /// The number of applications in the same state, including this one.
    public var candidates: Int
    /// The next applications in the same state, in the order of termination. The list omits
    /// applications that the caller may not see.
    public var next: [MemoryRival]
    /// The machine's available memory when the daemon chose the application.
    public var available: Int
    /// The machine's memory.
    public var total: Int
    /// The time at which the memory pressure began and the daemon warned the running applications.
    public var pressedSinceUSec: Int
    /// The time at which the daemon warned this application; null if the daemon could not warn it.
    public var warnedAtUSec: Int?
    public var chosenAtUSec: Int
    /// The time that the daemon needed to choose the application; 0 if the sizes were already
    /// known.
    public var choosingTimeUSec: Int

    public static let fieldNames = [
      "state", "dirty", "estimate", "candidates", "next", "available", "total", "pressedSinceUSec",
      "warnedAtUSec", "chosenAtUSec", "choosingTimeUSec",
    ]

    public init(
      state: State, dirty: Int, estimate: Bool, candidates: Int, next: [MemoryRival],
      available: Int, total: Int, pressedSinceUSec: Int, warnedAtUSec: Int? = nil,
      chosenAtUSec: Int, choosingTimeUSec: Int
    ) {
      self.state = state
      self.dirty = dirty
      self.estimate = estimate
      self.candidates = candidates
      self.next = next
      self.available = available
      self.total = total
      self.pressedSinceUSec = pressedSinceUSec
      self.warnedAtUSec = warnedAtUSec
      self.chosenAtUSec = chosenAtUSec
      self.choosingTimeUSec = choosingTimeUSec
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      state = try fields.required("state")
      dirty = try fields.required("dirty")
      estimate = try fields.required("estimate")
      candidates = try fields.required("candidates")
      next = try fields.required("next")
      available = try fields.required("available")
      total = try fields.required("total")
      pressedSinceUSec = try fields.required("pressedSinceUSec")
      warnedAtUSec = try fields.optional("warnedAtUSec")
      chosenAtUSec = try fields.required("chosenAtUSec")
      choosingTimeUSec = try fields.required("choosingTimeUSec")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "state", state)
      object.append(field: "dirty", dirty)
      object.append(field: "estimate", estimate)
      object.append(field: "candidates", candidates)
      object.append(field: "next", next)
      object.append(field: "available", available)
      object.append(field: "total", total)
      object.append(field: "pressedSinceUSec", pressedSinceUSec)
      object.append(field: "warnedAtUSec", warnedAtUSec)
      object.append(field: "chosenAtUSec", chosenAtUSec)
      object.append(field: "choosingTimeUSec", choosingTimeUSec)
    }
  }
}
