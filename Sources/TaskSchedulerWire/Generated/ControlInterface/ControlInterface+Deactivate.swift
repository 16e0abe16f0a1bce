// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Makes an active application inactive, because it is interrupted or has lost the focus. It
  /// stays in the foreground of its seat until Activate makes it active again, or another
  /// application of its seat is activated.
  public enum Deactivate: InterfaceMethod {
    public static let name = "org.taskschedd.Control.Deactivate"

    public struct Input: WireStructure {
      public var application: String
      public var owner: Int?

      public static let fieldNames = ["application", "owner"]

      public init(application: String, owner: Int? = nil) {
        self.application = application
        self.owner = owner
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
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
