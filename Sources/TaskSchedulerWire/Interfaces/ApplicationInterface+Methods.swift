/// The methods.
extension ApplicationInterface {
  /// Opens the event stream; must be called with `more`, on a connection of its own. The first
  /// reply holds `registered`; each later one holds exactly one of `callback` and `expiration`.
  ///
  /// A process that the daemon does not know yet becomes the leader of a new instance of
  /// `application`, in the foreground unless `background` is true. A process of an instance that
  /// the daemon launched or took over opens that instance's stream, and `application` must name it.
  /// A second stream of the same instance replaces the first, which ends with StreamReplaced.
  public enum Register: InterfaceMethod {
    public static var name: String { MethodName.register.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var application: String
      public var background: Bool?

      public init(application: String, background: Bool? = nil) {
        self.application = application
        self.background = background
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public var registered: Registration?
      public var callback: Callback?
      public var expiration: Expiration?

      public init(
        registered: Registration? = nil, callback: Callback? = nil,
        expiration: Expiration? = nil
      ) {
        self.registered = registered
        self.callback = callback
        self.expiration = expiration
      }
    }
  }

  /// Acknowledges the callback that was delivered last.
  public enum Acknowledge: InterfaceMethod {
    public static var name: String { MethodName.acknowledge.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var callback: Int

      public init(callback: Int) {
        self.callback = callback
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public init() {}
    }
  }

  /// Begins a background task. Every begin is balanced by one EndBackgroundTask. The name is for
  /// people: it is shown to operators and in the log (at most 256 bytes, no control characters).
  public enum BeginBackgroundTask: InterfaceMethod {
    public static var name: String { MethodName.beginBackgroundTask.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var name: String?

      public init(name: String? = nil) {
        self.name = name
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public var task: Int
      public var backgroundTimeRemainingUSec: Int?

      public init(task: Int, backgroundTimeRemainingUSec: Int? = nil) {
        self.task = task
        self.backgroundTimeRemainingUSec = backgroundTimeRemainingUSec
      }
    }
  }

  /// Ends a background task.
  public enum EndBackgroundTask: InterfaceMethod {
    public static var name: String { MethodName.endBackgroundTask.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var task: Int

      public init(task: Int) {
        self.task = task
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public init() {}
    }
  }

  /// What the application may know about itself.
  public enum GetStatus: InterfaceMethod {
    public static var name: String { MethodName.getStatus.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public init() {}
    }

    public struct Output: Codable, Hashable, Sendable {
      public var application: String
      public var instance: Int
      public var state: State
      /// null means unlimited (foreground).
      public var backgroundTimeRemainingUSec: Int?
      public var tasks: [BackgroundTask]

      public init(
        application: String, instance: Int, state: State,
        backgroundTimeRemainingUSec: Int? = nil, tasks: [BackgroundTask]
      ) {
        self.application = application
        self.instance = instance
        self.state = state
        self.backgroundTimeRemainingUSec = backgroundTimeRemainingUSec
        self.tasks = tasks
      }
    }
  }
}
