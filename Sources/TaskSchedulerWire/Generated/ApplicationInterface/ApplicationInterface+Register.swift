// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// Opens the event stream; must be called with `more`, on a connection of its own. The first
  /// reply holds `registered`; each later one holds exactly one of the others.
  ///
  /// A process that the daemon does not know yet becomes the leader of a new instance of
  /// `application`, in the foreground unless `background` is true. A process of an instance that
  /// the daemon launched or took over opens that instance's stream, and `application` must name it.
  /// In the foreground `registered` says inactive, also where that instance was active until then:
  /// the application is active once it has acknowledged didFinishLaunching. The seat of a process
  /// that has a controlling terminal is that terminal; see org.taskschedd.Control.Application. A
  /// second stream of the same instance replaces the first, which ends with StreamReplaced.
  public enum Register: InterfaceMethod {
    public static let name = "org.taskschedd.Application.Register"

    public struct Input: WireStructure {
      public var application: String
      public var background: Bool?

      public static let fieldNames = ["application", "background"]

      public init(application: String, background: Bool? = nil) {
        self.application = application
        self.background = background
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
        background = try fields.optional("background")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "background", background)
      }
    }

    public struct Output: WireStructure {
      public var registered: Registration?
      public var callback: Callback?
      public var expiration: Expiration?
      public var socketEvent: SocketEvent?
      /// In the order in which they happened.
      public var systemChanges: [SystemChange]?
      public var notification: NotificationEvent?
      /// Memory is short: let go of what can be had again. Need not be acknowledged.
      public var memoryWarning: Bool?

      public static let fieldNames = [
        "registered", "callback", "expiration", "socketEvent", "systemChanges", "notification",
        "memoryWarning",
      ]

      public init(
        registered: Registration? = nil, callback: Callback? = nil, expiration: Expiration? = nil,
        socketEvent: SocketEvent? = nil, systemChanges: [SystemChange]? = nil,
        notification: NotificationEvent? = nil, memoryWarning: Bool? = nil
      ) {
        self.registered = registered
        self.callback = callback
        self.expiration = expiration
        self.socketEvent = socketEvent
        self.systemChanges = systemChanges
        self.notification = notification
        self.memoryWarning = memoryWarning
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        registered = try fields.optional("registered")
        callback = try fields.optional("callback")
        expiration = try fields.optional("expiration")
        socketEvent = try fields.optional("socketEvent")
        systemChanges = try fields.optional("systemChanges")
        notification = try fields.optional("notification")
        memoryWarning = try fields.optional("memoryWarning")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "registered", registered)
        object.append(field: "callback", callback)
        object.append(field: "expiration", expiration)
        object.append(field: "socketEvent", socketEvent)
        object.append(field: "systemChanges", systemChanges)
        object.append(field: "notification", notification)
        object.append(field: "memoryWarning", memoryWarning)
      }
    }
  }
}
