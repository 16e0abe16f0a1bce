// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Posts a custom system change. If the caller is an operator, the daemon reports it to all
  /// applications, otherwise to the applications of the caller's user.
  ///
  /// The name has at most 64 bytes of letters, digits, dots, - and _. The value has at most 256
  /// bytes.
  public enum PostSystemChange: InterfaceMethod {
    public static let name = "org.taskschedd.Control.PostSystemChange"

    public struct Input: WireStructure {
      public var name: String
      public var value: String?

      public static let fieldNames = ["name", "value"]

      public init(name: String, value: String? = nil) {
        self.name = name
        self.value = value
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        name = try fields.required("name")
        value = try fields.optional("value")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "name", name)
        object.append(field: "value", value)
      }
    }

    public typealias Output = NoFields
  }
}
