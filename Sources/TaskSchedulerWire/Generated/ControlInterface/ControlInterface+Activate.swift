// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Brings an application to the foreground, launching it if it is not running and can be. Replies
  /// when its processes run and its seat is its own. An application that has opened its event
  /// stream is inactive until it has acknowledged willEnterForeground; then it is active. As with
  /// Deactivate, SendToBackground and Terminate, asking for the state that the application is in
  /// already succeeds and changes nothing.
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
