// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// A limit that applies to an application, and the time at which the limit is reached.
  public struct Limit: WireStructure {
    public var kind: LimitKind
    public var callback: CallbackKind?
    public var atUSec: Int

    public static let fieldNames = ["kind", "callback", "atUSec"]

    public init(kind: LimitKind, callback: CallbackKind? = nil, atUSec: Int) {
      self.kind = kind
      self.callback = callback
      self.atUSec = atUSec
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      kind = try fields.required("kind")
      callback = try fields.optional("callback")
      atUSec = try fields.required("atUSec")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "kind", kind)
      object.append(field: "callback", callback)
      object.append(field: "atUSec", atUSec)
    }
  }
}
