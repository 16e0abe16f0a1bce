// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

extension SessionInterface {
  /// A notification that the agent must close. If the agent has not shown the notification yet, it
  /// must not show it.
  public struct WithdrawnNotification: WireStructure {
    public var id: Int
    /// Set if an agent has shown the notification.
    public var shown: ShownNotification?

    public static let fieldNames = ["id", "shown"]

    public init(id: Int, shown: ShownNotification? = nil) {
      self.id = id
      self.shown = shown
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      id = try fields.required("id")
      shown = try fields.optional("shown")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "id", id)
      object.append(field: "shown", shown)
    }
  }
}
