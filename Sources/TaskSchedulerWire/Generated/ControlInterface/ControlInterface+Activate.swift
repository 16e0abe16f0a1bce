// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Brings an application to the foreground. Launches it if it does not run and a manifest says
  /// how. Replies when its processes run and it is in the foreground of its seat.
  ///
  /// An application that has opened its event stream is inactive until it has acknowledged
  /// willEnterForeground. Activate, Deactivate, SendToBackground and Terminate succeed and change
  /// nothing if the application already is in the requested state.
  public enum Activate: InterfaceMethod {
    public static let name = "org.taskschedd.Control.Activate"

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
