// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Simulates a memory warning for an application or, if `application` is null, for all
  /// applications that the caller may operate.
  public enum WarnMemory: InterfaceMethod {
    public static let name = "org.taskschedd.Control.WarnMemory"

    public struct Input: WireStructure {
      public var application: String?
      public var owner: Int?

      public static let fieldNames = ["application", "owner"]

      public init(application: String? = nil, owner: Int? = nil) {
        self.application = application
        self.owner = owner
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.optional("application")
        owner = try fields.optional("owner")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "owner", owner)
      }
    }

    public typealias Output = NoFields
  }
}
