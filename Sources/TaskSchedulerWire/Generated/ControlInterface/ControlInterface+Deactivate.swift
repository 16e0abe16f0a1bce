// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Makes the active application inactive: interrupted, or visible without focus. It stays in
  /// front of its seat until Activate makes it active again, or another application of its seat is
  /// activated. An application that has not acknowledged willEnterForeground or didFinishLaunching
  /// stays inactive.
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
