// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Live: called with `more`, replies with one `application` for each that the caller may see,
  /// then one `ready`, then each `change` as it happens. Exactly one of the three is given at a
  /// time. A reader that does not keep up is disconnected and starts again from a new snapshot.
  ///
  /// `application` limits all of this to one application, which need not be known yet; `owner`, to
  /// the applications of one user. A user may have MaxMonitorsPerUser (64) monitors that are not
  /// limited to one application, and as many of each application.
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
