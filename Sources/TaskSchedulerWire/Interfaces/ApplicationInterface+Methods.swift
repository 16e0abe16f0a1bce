/// The methods.
extension ApplicationInterface {
  /// Opens the event stream; must be called with `more`, on a connection of its own. The first
  /// reply holds `registered`; each later one holds exactly one of the others.
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
      public var socketEvent: SocketEvent?
      /// In the order in which they happened.
      public var systemChanges: [SystemChange]?
      public var notification: NotificationEvent?
      /// Memory is short: let go of what can be had again. Need not be acknowledged.
      public var memoryWarning: Bool?

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
    }
  }

  /// Acknowledges the callback that was delivered last, or a socket event: it is handled.
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

  /// Sets the keep-alive handler: a callback of kind keepAlive comes at least once before each
  /// interval ends, counted from the last; also out of suspension. At least KeepAliveMinimum (600 s
  /// by default). null clears it. Needs the mode voip, and the event stream.
  public enum SetKeepAliveTimeout: InterfaceMethod {
    public static var name: String { MethodName.setKeepAliveTimeout.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var seconds: Double?

      public init(seconds: Double? = nil) {
        self.seconds = seconds
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public init() {}
    }
  }

  /// Hands a connected stream socket over. While the application is suspended, the daemon watches
  /// it, without reading a byte: what arrives resumes the application, which hears of it by a
  /// socketEvent. Its number is its cookie (SO_COOKIE), and so the same if it is handed over again.
  /// Needs the mode voip.
  public enum ManageSocket: InterfaceMethod {
    public static var name: String { MethodName.manageSocket.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var socketFileDescriptor: FileDescriptorIndex

      public init(socketFileDescriptor: FileDescriptorIndex) {
        self.socketFileDescriptor = socketFileDescriptor
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public var socket: Int

      public init(socket: Int) {
        self.socket = socket
      }
    }
  }

  /// Takes a managed socket back. One that the application closes need not be taken back: the
  /// daemon does not keep the connection open.
  public enum ReleaseSocket: InterfaceMethod {
    public static var name: String { MethodName.releaseSocket.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var socket: Int

      public init(socket: Int) {
        self.socket = socket
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public init() {}
    }
  }

  /// Schedules a local notification, or presents it now. It is stored durably before the reply.
  public enum ScheduleNotification: InterfaceMethod {
    public static var name: String { MethodName.scheduleNotification.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var content: NotificationContent
      public var schedule: NotificationSchedule?

      public init(content: NotificationContent, schedule: NotificationSchedule? = nil) {
        self.content = content
        self.schedule = schedule
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public var notification: Int

      public init(notification: Int) {
        self.notification = notification
      }
    }
  }

  /// A page of the application's notifications, by id.
  public enum ListNotifications: InterfaceMethod {
    public static var name: String { MethodName.listNotifications.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      /// The id after which the page begins.
      public var after: Int?

      public init(after: Int? = nil) {
        self.after = after
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public var notifications: [Notification]
      /// What `after` must be for the next page; nil in the last page.
      public var next: Int?

      public init(notifications: [Notification], next: Int? = nil) {
        self.notifications = notifications
        self.next = next
      }
    }
  }

  /// Cancels one that waits for its time or is shown, or (null) all of them.
  public enum CancelNotifications: InterfaceMethod {
    public static var name: String { MethodName.cancelNotifications.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var notification: Int?

      public init(notification: Int? = nil) {
        self.notification = notification
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public var cancelled: [Int]

      public init(cancelled: [Int]) {
        self.cancelled = cancelled
      }
    }
  }

  /// Sets the application's badge; 0 removes it.
  public enum SetBadge: InterfaceMethod {
    public static var name: String { MethodName.setBadge.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var badge: Int

      public init(badge: Int) {
        self.badge = badge
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
        application: String, instance: Int, state: State, backgroundTimeRemainingUSec: Int? = nil,
        tasks: [BackgroundTask]
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
