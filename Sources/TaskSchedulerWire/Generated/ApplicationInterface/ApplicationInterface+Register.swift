// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// Opens the event stream. It must be called with `more`, on a connection of its own. The first
  /// reply sets `registered`; each later reply sets exactly one of the other fields.
  ///
  /// A process that belongs to no instance becomes the leader of a new instance of `application`.
  /// The instance starts in the foreground unless `background` is true. The seat of a process with
  /// a controlling terminal is that terminal; see org.taskschedd.Control.Application.
  ///
  /// A process that belongs to an instance opens the event stream of that instance, and
  /// `application` must name its application. A second event stream replaces the first, which ends
  /// with StreamReplaced.
  ///
  /// In the foreground, the state in `registered` is inactive, even if the instance was active
  /// before. The application is active when it has acknowledged didFinishLaunching.
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
      /// System changes in the order in which they happened.
      public var systemChanges: [SystemChange]?
      public var notification: NotificationEvent?
      /// True when memory is low. The application should release memory that it can restore later,
      /// such as caches. It does not acknowledge the warning.
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
