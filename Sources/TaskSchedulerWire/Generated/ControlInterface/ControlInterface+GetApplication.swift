// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Returns an application.
  public enum GetApplication: InterfaceMethod {
    public static let name = "org.taskschedd.Control.GetApplication"

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

    public struct Output: WireStructure {
      public var application: Application

      public static let fieldNames = ["application"]

      public init(application: Application) {
        self.application = application
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
      }
    }
  }
}
