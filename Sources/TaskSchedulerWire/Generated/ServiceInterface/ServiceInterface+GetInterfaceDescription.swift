// Generated from org.varlink.service.varlink by 'make interfaces'; not to be edited.

extension ServiceInterface {
  /// Returns the definition of an interface.
  public enum GetInterfaceDescription: InterfaceMethod {
    public static let name = "org.varlink.service.GetInterfaceDescription"

    public struct Input: WireStructure {
      public var interface: String

      public static let fieldNames = ["interface"]

      public init(interface: String) {
        self.interface = interface
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        interface = try fields.required("interface")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "interface", interface)
      }
    }

    public struct Output: WireStructure {
      public var description: String

      public static let fieldNames = ["description"]

      public init(description: String) {
        self.description = description
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        description = try fields.required("description")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "description", description)
      }
    }
  }
}
