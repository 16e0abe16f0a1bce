// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Reports all applications that the caller may see, and then their changes. It must be called
  /// with `more`. The daemon sends one reply with `application` for each application, then one with
  /// `ready`, then one with `change` for each change. It disconnects a client that does not read
  /// fast enough.
  ///
  /// `application` limits the reports to one application, which need not be known yet. `owner`
  /// limits them to the applications of one user. A user may have MaxMonitorsPerUser (64 by
  /// default) monitors for all applications, and as many for each application.
  public enum Monitor: InterfaceMethod {
    public static let name = "org.taskschedd.Control.Monitor"

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

    public struct Output: WireStructure {
      public var application: Application?
      public var ready: Bool?
      public var change: Change?

      public static let fieldNames = ["application", "ready", "change"]

      public init(application: Application? = nil, ready: Bool? = nil, change: Change? = nil) {
        self.application = application
        self.ready = ready
        self.change = change
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.optional("application")
        ready = try fields.optional("ready")
        change = try fields.optional("change")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "ready", ready)
        object.append(field: "change", change)
      }
    }
  }
}
