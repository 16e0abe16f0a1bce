// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// The reasons for the state of an application, and the next events.
  public struct Explanation: WireStructure {
    /// The cause of the last transition, as in Change; null if it has never run.
    public var cause: String?
    public var lastEntitlement: EndedEntitlement?
    /// True if a debugger outside the instance traces it. While the debugger traces it, the daemon
    /// enforces only the limits of a termination that an operator or the user requested.
    public var traced: Bool
    /// The limits in the order of their times.
    public var limits: [Limit]
    /// Set while the daemon is terminating the application under memory pressure, and after the
    /// termination until the application runs again.
    public var memoryEnd: MemoryEnd?
    /// Set while the daemon is killing the application because of a background rule, and after the
    /// kill until the application runs again.
    public var brokenRule: BrokenRule?
    /// The reason, as a clause, why the daemon released the application instead of suspending it.
    /// null if the daemon has not released the application, or manages it again.
    public var releaseReason: String?
    /// null if no session agent reports a window of the application.
    public var windows: WindowVisibility?

    public static let fieldNames = [
      "cause", "lastEntitlement", "traced", "limits", "memoryEnd", "brokenRule", "releaseReason",
      "windows",
    ]

    public init(
      cause: String? = nil, lastEntitlement: EndedEntitlement? = nil, traced: Bool, limits: [Limit],
      memoryEnd: MemoryEnd? = nil, brokenRule: BrokenRule? = nil, releaseReason: String? = nil,
      windows: WindowVisibility? = nil
    ) {
      self.cause = cause
      self.lastEntitlement = lastEntitlement
      self.traced = traced
      self.limits = limits
      self.memoryEnd = memoryEnd
      self.brokenRule = brokenRule
      self.releaseReason = releaseReason
      self.windows = windows
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      cause = try fields.optional("cause")
      lastEntitlement = try fields.optional("lastEntitlement")
      traced = try fields.required("traced")
      limits = try fields.required("limits")
      memoryEnd = try fields.optional("memoryEnd")
      brokenRule = try fields.optional("brokenRule")
      releaseReason = try fields.optional("releaseReason")
      windows = try fields.optional("windows")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "cause", cause)
      object.append(field: "lastEntitlement", lastEntitlement)
      object.append(field: "traced", traced)
      object.append(field: "limits", limits)
      object.append(field: "memoryEnd", memoryEnd)
      object.append(field: "brokenRule", brokenRule)
      object.append(field: "releaseReason", releaseReason)
      object.append(field: "windows", windows)
    }
  }
}
