// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// An effective setting.
  public struct Setting: WireStructure {
    public var name: String
    public var value: String
    public var `default`: String
    /// The file and line of the value, or "default".
    public var source: String

    public static let fieldNames = ["name", "value", "default", "source"]

    public init(name: String, value: String, `default`: String, source: String) {
      self.name = name
      self.value = value
      self.default = `default`
      self.source = source
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      name = try fields.required("name")
      value = try fields.required("value")
      `default` = try fields.required("default")
      source = try fields.required("source")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "name", name)
      object.append(field: "value", value)
      object.append(field: "default", `default`)
      object.append(field: "source", source)
    }
  }
}
