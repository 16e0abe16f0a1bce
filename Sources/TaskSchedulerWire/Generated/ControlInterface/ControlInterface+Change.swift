// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// A change. `message` is a sentence for users; programs use the other fields.
  public struct Change: WireStructure {
    public var kind: ChangeKind
    public var atUSec: Int
    public var application: String
    public var owner: Int
    public var pid: Int?
    public var from: State?
    public var to: State?
    /// The cause of a transition, such as launch, activate, acknowledged, interruption, sendAway,
    /// otherActivated, register, terminate, noEntitlement, event, location, focused, unfocused,
    /// hidden or leaderExited.
    public var cause: String?
    /// With otherActivated: the application that was activated; null if the caller may not see it.
    public var by: String?
    public var reason: String?
    public var task: Int?
    public var taskName: String?
    public var message: String

    public static let fieldNames = [
      "kind", "atUSec", "application", "owner", "pid", "from", "to", "cause", "by", "reason",
      "task", "taskName", "message",
    ]

    public init(
      kind: ChangeKind, atUSec: Int, application: String, owner: Int, pid: Int? = nil,
      from: State? = nil, to: State? = nil, cause: String? = nil, by: String? = nil,
      reason: String? = nil, task: Int? = nil, taskName: String? = nil, message: String
    ) {
      self.kind = kind
      self.atUSec = atUSec
      self.application = application
      self.owner = owner
      self.pid = pid
      self.from = from
      self.to = to
      self.cause = cause
      self.by = by
      self.reason = reason
      self.task = task
      self.taskName = taskName
      self.message = message
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      kind = try fields.required("kind")
      atUSec = try fields.required("atUSec")
      application = try fields.required("application")
      owner = try fields.required("owner")
      pid = try fields.optional("pid")
      from = try fields.optional("from")
      to = try fields.optional("to")
      cause = try fields.optional("cause")
      by = try fields.optional("by")
      reason = try fields.optional("reason")
      task = try fields.optional("task")
      taskName = try fields.optional("taskName")
      message = try fields.required("message")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "kind", kind)
      object.append(field: "atUSec", atUSec)
      object.append(field: "application", application)
      object.append(field: "owner", owner)
      object.append(field: "pid", pid)
      object.append(field: "from", from)
      object.append(field: "to", to)
      object.append(field: "cause", cause)
      object.append(field: "by", by)
      object.append(field: "reason", reason)
      object.append(field: "task", task)
      object.append(field: "taskName", taskName)
      object.append(field: "message", message)
    }
  }
}
