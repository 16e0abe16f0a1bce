// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// An entitlement that has ended. `kind` says how, and `atUSec` says when.
  public struct EndedEntitlement: WireStructure {
    public var kind: EndedEntitlementKind
    public var task: Int?
    public var taskName: String?
    public var callback: CallbackKind?
    public var atUSec: Int

    public static let fieldNames = ["kind", "task", "taskName", "callback", "atUSec"]

    public init(
      kind: EndedEntitlementKind, task: Int? = nil, taskName: String? = nil,
      callback: CallbackKind? = nil, atUSec: Int
    ) {
      self.kind = kind
      self.task = task
      self.taskName = taskName
      self.callback = callback
      self.atUSec = atUSec
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      kind = try fields.required("kind")
      task = try fields.optional("task")
      taskName = try fields.optional("taskName")
      callback = try fields.optional("callback")
      atUSec = try fields.required("atUSec")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "kind", kind)
      object.append(field: "task", task)
      object.append(field: "taskName", taskName)
      object.append(field: "callback", callback)
      object.append(field: "atUSec", atUSec)
    }
  }
}
