// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Terminates an application. Replies with its end when its leader has exited. With `byUser`, the
  /// reason is terminatedByUser instead of terminatedByOperator.
  ///
  /// The daemon cancels a planned relaunch. If the application does not run, the reply is its last
  /// end; null if it has never run.
  public enum Terminate: InterfaceMethod {
    public static let name = "org.taskschedd.Control.Terminate"

    public struct Input: WireStructure {
      public var application: String
      public var owner: Int?
      public var byUser: Bool?

      public static let fieldNames = ["application", "owner", "byUser"]

      public init(application: String, owner: Int? = nil, byUser: Bool? = nil) {
        self.application = application
        self.owner = owner
        self.byUser = byUser
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
        owner = try fields.optional("owner")
        byUser = try fields.optional("byUser")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "owner", owner)
        object.append(field: "byUser", byUser)
      }
    }

    public struct Output: WireStructure {
      public var end: End?

      public static let fieldNames = ["end"]

      public init(end: End? = nil) {
        self.end = end
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        end = try fields.optional("end")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "end", end)
      }
    }
  }
}
