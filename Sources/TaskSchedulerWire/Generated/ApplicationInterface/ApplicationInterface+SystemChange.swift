// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// A system change. When an application is resumed, it gets the newest change of each kind that
  /// happened while it was suspended.
  public struct SystemChange: WireStructure {
    public var kind: SystemChangeKind
    /// The name of a custom change.
    public var name: String?
    /// The new value: a time zone (Europe/Berlin), a date (2026-11-22), a locale (de_DE.UTF-8),
    /// online or offline, mains or battery, or the text of a custom change. null for the kind
    /// clock, for a custom change without a text, and if the daemon does not know the value.
    public var value: String?

    public static let fieldNames = ["kind", "name", "value"]

    public init(kind: SystemChangeKind, name: String? = nil, value: String? = nil) {
      self.kind = kind
      self.name = name
      self.value = value
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      kind = try fields.required("kind")
      name = try fields.optional("name")
      value = try fields.optional("value")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "kind", kind)
      object.append(field: "name", name)
      object.append(field: "value", value)
    }
  }
}
