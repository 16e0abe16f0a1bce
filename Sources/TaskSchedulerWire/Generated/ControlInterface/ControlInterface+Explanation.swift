// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Why an application is as it is, beside what `Application` says.
  public struct Explanation: WireStructure {
    /// What brought it into its state, as in Change; null where it has never run.
    public var cause: String?
    public var lastEntitlement: EndedEntitlement?
    /// True where a debugger that is no process of the instance traces it: then no limit is
    /// enforced but those of an end that an operator or the user has ordered.
    public var traced: Bool
    /// The nearest first.
    public var limits: [Limit]
    /// Set where it is being ended for memory, or was and does not run: why it of all.
    public var memoryEnd: MemoryEnd?
    /// The same for what it did in the background.
    public var brokenRule: BrokenRule?

    public static let fieldNames = [
      "cause", "lastEntitlement", "traced", "limits", "memoryEnd", "brokenRule",
    ]

    public init(
      cause: String? = nil, lastEntitlement: EndedEntitlement? = nil, traced: Bool, limits: [Limit],
      memoryEnd: MemoryEnd? = nil, brokenRule: BrokenRule? = nil
    ) {
      self.cause = cause
      self.lastEntitlement = lastEntitlement
      self.traced = traced
      self.limits = limits
      self.memoryEnd = memoryEnd
      self.brokenRule = brokenRule
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      cause = try fields.optional("cause")
      lastEntitlement = try fields.optional("lastEntitlement")
      traced = try fields.required("traced")
      limits = try fields.required("limits")
      memoryEnd = try fields.optional("memoryEnd")
      brokenRule = try fields.optional("brokenRule")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "cause", cause)
      object.append(field: "lastEntitlement", lastEntitlement)
      object.append(field: "traced", traced)
      object.append(field: "limits", limits)
      object.append(field: "memoryEnd", memoryEnd)
      object.append(field: "brokenRule", brokenRule)
    }
  }
}
