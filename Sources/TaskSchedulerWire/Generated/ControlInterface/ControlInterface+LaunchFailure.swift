// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// A failed launch. `reason` says which step failed and why.
  public struct LaunchFailure: WireStructure {
    public var reason: String
    public var atUSec: Int

    public static let fieldNames = ["reason", "atUSec"]

    public init(reason: String, atUSec: Int) {
      self.reason = reason
      self.atUSec = atUSec
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      reason = try fields.required("reason")
      atUSec = try fields.required("atUSec")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "reason", reason)
      object.append(field: "atUSec", atUSec)
    }
  }
}
