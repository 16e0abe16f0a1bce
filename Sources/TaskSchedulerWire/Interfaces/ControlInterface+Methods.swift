/// The methods.
extension ControlInterface {
  /// All applications that the caller may see, in the application switcher's order, the rest by id.
  public enum ListApplications: InterfaceMethod {
    public static var name: String { MethodName.listApplications.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public init() {}
    }

    public struct Output: Codable, Hashable, Sendable {
      public var applications: [Application]

      public init(applications: [Application]) {
        self.applications = applications
      }
    }
  }

  /// One application.
  public enum GetApplication: InterfaceMethod {
    public static var name: String { MethodName.getApplication.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var application: String
      public var owner: Int?

      public init(application: String, owner: Int? = nil) {
        self.application = application
        self.owner = owner
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public var application: Application

      public init(application: Application) {
        self.application = application
      }
    }
  }

  /// Why an application is in its state, what it may run for, and what comes next.
  public enum Explain: InterfaceMethod {
    public static var name: String { MethodName.explain.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var application: String
      public var owner: Int?

      public init(application: String, owner: Int? = nil) {
        self.application = application
        self.owner = owner
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public var application: Application
      public var explanation: Explanation

      public init(application: Application, explanation: Explanation) {
        self.application = application
        self.explanation = explanation
      }
    }
  }

  /// Starts what the manifest names, to the foreground unless `background` is true. Replies when
  /// the program has been executed.
  public enum Launch: InterfaceMethod {
    public static var name: String { MethodName.launch.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var application: String
      public var owner: Int?
      public var background: Bool?

      public init(application: String, owner: Int? = nil, background: Bool? = nil) {
        self.application = application
        self.owner = owner
        self.background = background
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public var instance: Int
      public var pid: Int

      public init(instance: Int, pid: Int) {
        self.instance = instance
        self.pid = pid
      }
    }
  }

  /// Takes a process under management: its own user's, or any user's for an operator. The
  /// descriptor is a pidfd sent with the message. The application starts in the foreground unless
  /// `background` is true. `backgroundTask` begins one task of that name at once, which lasts until
  /// the program ends or the background time does. `backgroundModes` (audio, location, voip)
  /// declares modes for this instance, as a manifest would. `marker` is what the caller has put
  /// into the process's environment as TASKSCHEDD_INSTANCE, by which its descendants are known for
  /// its own.
  public enum Adopt: InterfaceMethod {
    public static var name: String { MethodName.adopt.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var application: String
      public var processFileDescriptor: FileDescriptorIndex
      public var background: Bool?
      public var backgroundTask: String?
      public var backgroundModes: [String]?
      public var marker: String?

      public init(
        application: String, processFileDescriptor: FileDescriptorIndex, background: Bool? = nil,
        backgroundTask: String? = nil, backgroundModes: [String]? = nil, marker: String? = nil
      ) {
        self.application = application
        self.processFileDescriptor = processFileDescriptor
        self.background = background
        self.backgroundTask = backgroundTask
        self.backgroundModes = backgroundModes
        self.marker = marker
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public var instance: Int

      public init(instance: Int) {
        self.instance = instance
      }
    }
  }

  /// Brings an application to the foreground, launching it if it is not running and can be. As with
  /// Deactivate, SendToBackground and Terminate, asking for the state that the application is in
  /// already succeeds and changes nothing.
  public enum Activate: InterfaceMethod {
    public static var name: String { MethodName.activate.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var application: String
      public var owner: Int?

      public init(application: String, owner: Int? = nil) {
        self.application = application
        self.owner = owner
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public init() {}
    }
  }

  /// Makes the active application inactive: interrupted, or visible without focus.
  public enum Deactivate: InterfaceMethod {
    public static var name: String { MethodName.deactivate.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var application: String
      public var owner: Int?

      public init(application: String, owner: Int? = nil) {
        self.application = application
        self.owner = owner
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public init() {}
    }
  }

  /// Sends an application away from the foreground.
  public enum SendToBackground: InterfaceMethod {
    public static var name: String { MethodName.sendToBackground.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var application: String
      public var owner: Int?

      public init(application: String, owner: Int? = nil) {
        self.application = application
        self.owner = owner
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public init() {}
    }
  }

  /// Ends an application; replies when its leader has exited. `byUser` records that a person at the
  /// device did it, rather than an operator. One that waits for its relaunch is not launched again.
  /// Of an application that does not run, the reply says how it ended last; null where it has never
  /// run.
  public enum Terminate: InterfaceMethod {
    public static var name: String { MethodName.terminate.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var application: String
      public var owner: Int?
      public var byUser: Bool?

      public init(application: String, owner: Int? = nil, byUser: Bool? = nil) {
        self.application = application
        self.owner = owner
        self.byUser = byUser
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public var end: End?

      public init(end: End? = nil) {
        self.end = end
      }
    }
  }

  /// A page of the notifications of one application, or of all that the caller may see, by id.
  public enum ListNotifications: InterfaceMethod {
    public static var name: String { MethodName.listNotifications.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var application: String?
      public var owner: Int?
      /// The id after which the page begins.
      public var after: Int?

      public init(application: String? = nil, owner: Int? = nil, after: Int? = nil) {
        self.application = application
        self.owner = owner
        self.after = after
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public var notifications: [ApplicationNotification]
      /// What `after` must be for the next page; nil in the last page.
      public var next: Int?

      public init(notifications: [ApplicationNotification], next: Int? = nil) {
        self.notifications = notifications
        self.next = next
      }
    }
  }

  /// Schedules a notification for an application, or presents it now, as the application itself
  /// could.
  public enum PostNotification: InterfaceMethod {
    public static var name: String { MethodName.postNotification.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var application: String
      public var owner: Int?
      public var content: NotificationContent
      public var schedule: NotificationSchedule?

      public init(
        application: String, owner: Int? = nil, content: NotificationContent,
        schedule: NotificationSchedule? = nil
      ) {
        self.application = application
        self.owner = owner
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

  /// Cancels a notification by its id, or all notifications of an application.
  public enum CancelNotifications: InterfaceMethod {
    public static var name: String { MethodName.cancelNotifications.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var application: String?
      public var owner: Int?
      public var notification: Int?

      public init(application: String? = nil, owner: Int? = nil, notification: Int? = nil) {
        self.application = application
        self.owner = owner
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

  /// Tells applications of a change of the machine: a custom one, of this name. An operator tells
  /// all applications, any other user their own. At most 64 bytes of letters, digits, dot, - and _;
  /// the value at most 256 bytes.
  public enum PostSystemChange: InterfaceMethod {
    public static var name: String { MethodName.postSystemChange.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var name: String
      public var value: String?

      public init(name: String, value: String? = nil) {
        self.name = name
        self.value = value
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public init() {}
    }
  }

  /// Live: called with `more`, replies with one `application` for each that the caller may see,
  /// then one `ready`, then each `change` as it happens. Exactly one of the three is given at a
  /// time. A reader that does not keep up is disconnected and starts again from a new snapshot.
  ///
  /// `application` limits all of this to one application, which need not be known yet; `owner`, to
  /// the applications of one user.
  public enum Monitor: InterfaceMethod {
    public static var name: String { MethodName.monitor.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public var application: String?
      public var owner: Int?

      public init(application: String? = nil, owner: Int? = nil) {
        self.application = application
        self.owner = owner
      }
    }

    public struct Output: Codable, Hashable, Sendable {
      public var application: Application?
      public var ready: Bool?
      public var change: Change?

      public init(application: Application? = nil, ready: Bool? = nil, change: Change? = nil) {
        self.application = application
        self.ready = ready
        self.change = change
      }
    }
  }

  /// The effective settings and where each came from. `warnings` says what is no mistake and is
  /// probably not meant, a sentence each: an operators' group that there is not.
  public enum GetSettings: InterfaceMethod {
    public static var name: String { MethodName.getSettings.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public init() {}
    }

    public struct Output: Codable, Hashable, Sendable {
      public var settings: [Setting]
      public var warnings: [String]

      public init(settings: [Setting], warnings: [String] = []) {
        self.settings = settings
        self.warnings = warnings
      }
    }
  }

  /// Reads the configuration and the manifests again. With any mistake in them all stays as it was,
  /// and InvalidConfiguration lists each one.
  public enum Reload: InterfaceMethod {
    public static var name: String { MethodName.reload.rawValue }

    public struct Input: Codable, Hashable, Sendable {
      public init() {}
    }

    public struct Output: Codable, Hashable, Sendable {
      public init() {}
    }
  }
}
