// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Why an application was chosen to end for memory, in bytes.
  public struct MemoryEnd: WireStructure {
    /// Its state then, which decides its class: suspended ones go before those of the background.
    public var state: State
    /// What its end would give back: private dirty and swapped.
    public var dirty: Int
    public var estimate: Bool
    /// How many of its class there were, it included.
    public var candidates: Int
    /// Those of its class that would have been next, as far as the caller may see them.
    public var next: [MemoryRival]
    /// What of the machine's memory was available, and all of it.
    public var available: Int
    public var total: Int
    /// When pressure began, and whoever ran was warned.
    public var pressedSinceUSec: Int
    /// When it was warned itself; null where it could not hear it.
    public var warnedAtUSec: Int?
    public var chosenAtUSec: Int
    /// How long it took to find out who it is, once one was to end; 0 where it was known before.
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
