// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

/// The interface between operators and taskschedd. taskctl uses it.
///
/// Root, the daemon's own user and members of the operators' group may see and operate every
/// application. Any other user may see and operate the applications that run as that user. A call
/// names an application by its id. If several users have an application with this id, the call must
/// also name the owner's uid.
///
/// Times are integers in microseconds; instants count from boot (CLOCK_BOOTTIME).
///
/// A field with a name that ends in FileDescriptor is an index into the file descriptors that are
/// sent with the message (SCM_RIGHTS). The first one has the index 0.
///
/// If a client sends a message that is not a valid call, the daemon closes the connection. It does
/// not carry out any part of the message, sends no reply, and logs the reason.
///
/// A valid call is a JSON object in UTF-8, at most 1 MiB long and nested at most 64 levels deep. It
/// has only the fields of a Varlink call, each with its type. No object in it contains a name
/// twice. It does not set both more and oneway. It comes with at most 8 file descriptors.
///
/// If a parameter of a valid call is wrong, the daemon replies with the error InvalidParameter,
/// which names the field. The connection stays open.
public enum ControlInterface {
  public static let name = "org.taskschedd.Control"

  /// The contents of the `.varlink` file. Introspection returns its text.
  public static let description = InterfaceDescription(
    embedded: PackageResources.org_taskschedd_Control_varlink)

  /// The types of the methods.
  public static let methods: [any InterfaceMethod.Type] = [
    ListApplications.self, GetApplication.self, Explain.self, Launch.self, Adopt.self,
    Activate.self, Deactivate.self, SendToBackground.self, Terminate.self, ListSwitcher.self,
    GetSnapshot.self, RemoveFromSwitcher.self, ListNotifications.self, PostNotification.self,
    CancelNotifications.self, PostSystemChange.self, RemoteControl.self, GetLocation.self,
    PostLocation.self, SetLocationAuthorization.self, ForgetLocation.self, ListSessions.self,
    GetMemory.self, WarnMemory.self, Monitor.self, GetSettings.self, GetLog.self, Reload.self,
  ]

  /// The full names of the methods, which identify calls.
  public enum MethodName: String, CaseIterable, Sendable {
    case listApplications = "org.taskschedd.Control.ListApplications"
    case getApplication = "org.taskschedd.Control.GetApplication"
    case explain = "org.taskschedd.Control.Explain"
    case launch = "org.taskschedd.Control.Launch"
    case adopt = "org.taskschedd.Control.Adopt"
    case activate = "org.taskschedd.Control.Activate"
    case deactivate = "org.taskschedd.Control.Deactivate"
    case sendToBackground = "org.taskschedd.Control.SendToBackground"
    case terminate = "org.taskschedd.Control.Terminate"
    case listSwitcher = "org.taskschedd.Control.ListSwitcher"
    case getSnapshot = "org.taskschedd.Control.GetSnapshot"
    case removeFromSwitcher = "org.taskschedd.Control.RemoveFromSwitcher"
    case listNotifications = "org.taskschedd.Control.ListNotifications"
    case postNotification = "org.taskschedd.Control.PostNotification"
    case cancelNotifications = "org.taskschedd.Control.CancelNotifications"
    case postSystemChange = "org.taskschedd.Control.PostSystemChange"
    case remoteControl = "org.taskschedd.Control.RemoteControl"
    case getLocation = "org.taskschedd.Control.GetLocation"
    case postLocation = "org.taskschedd.Control.PostLocation"
    case setLocationAuthorization = "org.taskschedd.Control.SetLocationAuthorization"
    case forgetLocation = "org.taskschedd.Control.ForgetLocation"
    case listSessions = "org.taskschedd.Control.ListSessions"
    case getMemory = "org.taskschedd.Control.GetMemory"
    case warnMemory = "org.taskschedd.Control.WarnMemory"
    case monitor = "org.taskschedd.Control.Monitor"
    case getSettings = "org.taskschedd.Control.GetSettings"
    case getLog = "org.taskschedd.Control.GetLog"
    case reload = "org.taskschedd.Control.Reload"
  }

  /// A type that carries out the methods of the interface. A method replies to its caller, at
  /// once or later, or throws a ``MethodFailure``.
  public protocol Implementation {
    /// The client that calls.
    associatedtype Caller

    func listApplications(_ input: ListApplications.Input, _ caller: Caller) throws
    func getApplication(_ input: GetApplication.Input, _ caller: Caller) throws
    func explain(_ input: Explain.Input, _ caller: Caller) throws
    func launch(_ input: Launch.Input, _ caller: Caller) throws
    func adopt(_ input: Adopt.Input, _ caller: Caller) throws
    func activate(_ input: Activate.Input, _ caller: Caller) throws
    func deactivate(_ input: Deactivate.Input, _ caller: Caller) throws
    func sendToBackground(_ input: SendToBackground.Input, _ caller: Caller) throws
    func terminate(_ input: Terminate.Input, _ caller: Caller) throws
    func listSwitcher(_ input: ListSwitcher.Input, _ caller: Caller) throws
    func getSnapshot(_ input: GetSnapshot.Input, _ caller: Caller) throws
    func removeFromSwitcher(_ input: RemoveFromSwitcher.Input, _ caller: Caller) throws
    func listNotifications(_ input: ListNotifications.Input, _ caller: Caller) throws
    func postNotification(_ input: PostNotification.Input, _ caller: Caller) throws
    func cancelNotifications(_ input: CancelNotifications.Input, _ caller: Caller) throws
    func postSystemChange(_ input: PostSystemChange.Input, _ caller: Caller) throws
    func remoteControl(_ input: RemoteControl.Input, _ caller: Caller) throws
    func getLocation(_ input: GetLocation.Input, _ caller: Caller) throws
    func postLocation(_ input: PostLocation.Input, _ caller: Caller) throws
    func setLocationAuthorization(_ input: SetLocationAuthorization.Input, _ caller: Caller) throws
    func forgetLocation(_ input: ForgetLocation.Input, _ caller: Caller) throws
    func listSessions(_ input: ListSessions.Input, _ caller: Caller) throws
    func getMemory(_ input: GetMemory.Input, _ caller: Caller) throws
    func warnMemory(_ input: WarnMemory.Input, _ caller: Caller) throws
    func monitor(_ input: Monitor.Input, _ caller: Caller) throws
    func getSettings(_ input: GetSettings.Input, _ caller: Caller) throws
    func getLog(_ input: GetLog.Input, _ caller: Caller) throws
    func reload(_ input: Reload.Input, _ caller: Caller) throws
  }

  /// Decodes the parameters of a call, and carries it out.
  ///
  /// - Throws: ``ParameterError`` if the parameters are not those of the method.
  public static func carryOut<Methods: Implementation>(
    _ method: MethodName, _ call: ReceivedCall, by methods: Methods,
    for caller: Methods.Caller
  ) throws {
    switch method {
    case .listApplications:
      try methods.listApplications(call.decode(ListApplications.Input.self), caller)
    case .getApplication:
      try methods.getApplication(call.decode(GetApplication.Input.self), caller)
    case .explain:
      try methods.explain(call.decode(Explain.Input.self), caller)
    case .launch:
      try methods.launch(call.decode(Launch.Input.self), caller)
    case .adopt:
      try methods.adopt(call.decode(Adopt.Input.self), caller)
    case .activate:
      try methods.activate(call.decode(Activate.Input.self), caller)
    case .deactivate:
      try methods.deactivate(call.decode(Deactivate.Input.self), caller)
    case .sendToBackground:
      try methods.sendToBackground(call.decode(SendToBackground.Input.self), caller)
    case .terminate:
      try methods.terminate(call.decode(Terminate.Input.self), caller)
    case .listSwitcher:
      try methods.listSwitcher(call.decode(ListSwitcher.Input.self), caller)
    case .getSnapshot:
      try methods.getSnapshot(call.decode(GetSnapshot.Input.self), caller)
    case .removeFromSwitcher:
      try methods.removeFromSwitcher(call.decode(RemoveFromSwitcher.Input.self), caller)
    case .listNotifications:
      try methods.listNotifications(call.decode(ListNotifications.Input.self), caller)
    case .postNotification:
      try methods.postNotification(call.decode(PostNotification.Input.self), caller)
    case .cancelNotifications:
      try methods.cancelNotifications(call.decode(CancelNotifications.Input.self), caller)
    case .postSystemChange:
      try methods.postSystemChange(call.decode(PostSystemChange.Input.self), caller)
    case .remoteControl:
      try methods.remoteControl(call.decode(RemoteControl.Input.self), caller)
    case .getLocation:
      try methods.getLocation(call.decode(GetLocation.Input.self), caller)
    case .postLocation:
      try methods.postLocation(call.decode(PostLocation.Input.self), caller)
    case .setLocationAuthorization:
      try methods.setLocationAuthorization(call.decode(SetLocationAuthorization.Input.self), caller)
    case .forgetLocation:
      try methods.forgetLocation(call.decode(ForgetLocation.Input.self), caller)
    case .listSessions:
      try methods.listSessions(call.decode(ListSessions.Input.self), caller)
    case .getMemory:
      try methods.getMemory(call.decode(GetMemory.Input.self), caller)
    case .warnMemory:
      try methods.warnMemory(call.decode(WarnMemory.Input.self), caller)
    case .monitor:
      try methods.monitor(call.decode(Monitor.Input.self), caller)
    case .getSettings:
      try methods.getSettings(call.decode(GetSettings.Input.self), caller)
    case .getLog:
      try methods.getLog(call.decode(GetLog.Input.self), caller)
    case .reload:
      try methods.reload(call.decode(Reload.Input.self), caller)
    }
  }
}

extension ControlInterface {
  /// Lists the applications that the caller may see, in the order of the application switcher.
  /// Those that are not in the switcher follow in the order of their ids.
  public enum ListApplications: InterfaceMethod {
    public static let name = "org.taskschedd.Control.ListApplications"

    public typealias Input = NoFields

    public struct Output: WireStructure {
      public var applications: [Application]
      /// The uids of the users with an attached session agent: all of them if the caller is an
      /// operator, otherwise only the caller's uid.
      public var sessionAgents: [Int]

      public static let fieldNames = ["applications", "sessionAgents"]

      public init(applications: [Application], sessionAgents: [Int]) {
        self.applications = applications
        self.sessionAgents = sessionAgents
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        applications = try fields.required("applications")
        sessionAgents = try fields.required("sessionAgents")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "applications", applications)
        object.append(field: "sessionAgents", sessionAgents)
      }
    }
  }
}

extension ControlInterface {
  /// Returns an application.
  public enum GetApplication: InterfaceMethod {
    public static let name = "org.taskschedd.Control.GetApplication"

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

    public struct Output: WireStructure {
      public var application: Application

      public static let fieldNames = ["application"]

      public init(application: Application) {
        self.application = application
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
      }
    }
  }
}

extension ControlInterface {
  /// Explains why an application is in its state, what entitles it to run, and what happens next.
  public enum Explain: InterfaceMethod {
    public static let name = "org.taskschedd.Control.Explain"

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

    public struct Output: WireStructure {
      public var application: Application
      public var explanation: Explanation

      public static let fieldNames = ["application", "explanation"]

      public init(application: Application, explanation: Explanation) {
        self.application = application
        self.explanation = explanation
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
        explanation = try fields.required("explanation")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "explanation", explanation)
      }
    }
  }
}

extension ControlInterface {
  /// Launches the program that the application's manifest names, in the foreground unless
  /// `background` is true. Replies when the program has started.
  ///
  /// In the foreground the application is active at first. When it opens its event stream, it
  /// becomes inactive until it has acknowledged didFinishLaunching.
  public enum Launch: InterfaceMethod {
    public static let name = "org.taskschedd.Control.Launch"

    public struct Input: WireStructure {
      public var application: String
      public var owner: Int?
      public var background: Bool?

      public static let fieldNames = ["application", "owner", "background"]

      public init(application: String, owner: Int? = nil, background: Bool? = nil) {
        self.application = application
        self.owner = owner
        self.background = background
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
        owner = try fields.optional("owner")
        background = try fields.optional("background")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "owner", owner)
        object.append(field: "background", background)
      }
    }

    public struct Output: WireStructure {
      public var instance: Int
      public var pid: Int

      public static let fieldNames = ["instance", "pid"]

      public init(instance: Int, pid: Int) {
        self.instance = instance
        self.pid = pid
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        instance = try fields.required("instance")
        pid = try fields.required("pid")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "instance", instance)
        object.append(field: "pid", pid)
      }
    }
  }
}

extension ControlInterface {
  /// Makes a running process an instance of an application, in the foreground unless `background`
  /// is true. The controlling terminal of the process is the seat of the instance; see
  /// Application.seat.
  ///
  /// Users may adopt their own processes. Operators may adopt the processes of every user. A user's
  /// own daemon manages only processes of that user.
  public enum Adopt: InterfaceMethod {
    public static let name = "org.taskschedd.Control.Adopt"

    public struct Input: WireStructure {
      public var application: String
      /// A pidfd of the process.
      public var processFileDescriptor: FileDescriptorIndex
      public var background: Bool?
      /// The name of a background task that begins at once. It lasts until the process exits or the
      /// background time is over.
      public var backgroundTask: String?
      /// The background modes of this instance: audio, location, voip. null means those of the
      /// manifest.
      public var backgroundModes: [String]?
      /// The value of TASKSCHEDD_INSTANCE in the environment of the process. By this value, the
      /// daemon recognizes the descendants of the process.
      public var marker: String?

      public static let fieldNames = [
        "application", "processFileDescriptor", "background", "backgroundTask", "backgroundModes",
        "marker",
      ]

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

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
        processFileDescriptor = try fields.required("processFileDescriptor")
        background = try fields.optional("background")
        backgroundTask = try fields.optional("backgroundTask")
        backgroundModes = try fields.optional("backgroundModes")
        marker = try fields.optional("marker")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "processFileDescriptor", processFileDescriptor)
        object.append(field: "background", background)
        object.append(field: "backgroundTask", backgroundTask)
        object.append(field: "backgroundModes", backgroundModes)
        object.append(field: "marker", marker)
      }
    }

    public struct Output: WireStructure {
      public var instance: Int

      public static let fieldNames = ["instance"]

      public init(instance: Int) {
        self.instance = instance
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        instance = try fields.required("instance")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "instance", instance)
      }
    }
  }
}

extension ControlInterface {
  /// Brings an application to the foreground. Launches it if it does not run and a manifest says
  /// how. Replies when its processes run and it is in the foreground at its seat.
  ///
  /// An application that has opened its event stream is inactive until it has acknowledged
  /// willEnterForeground. If the application is already in the requested state, Activate,
  /// Deactivate, SendToBackground and Terminate succeed without a change.
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

extension ControlInterface {
  /// Makes an active application inactive, as an interruption or the loss of the focus does. The
  /// application stays in the foreground at its seat, and Activate makes it active again.
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

extension ControlInterface {
  /// Sends an application from the foreground to the background.
  public enum SendToBackground: InterfaceMethod {
    public static let name = "org.taskschedd.Control.SendToBackground"

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

extension ControlInterface {
  /// Terminates an application. When the leader has exited, the reply describes the end of the
  /// application. With `byUser`, the reason is terminatedByUser instead of terminatedByOperator.
  ///
  /// The daemon cancels a planned relaunch. If the application does not run, the reply describes
  /// its last end; `end` is null if it has never run.
  public enum Terminate: InterfaceMethod {
    public static let name = "org.taskschedd.Control.Terminate"

    public struct Input: WireStructure {
      public var application: String
      public var owner: Int?
      public var byUser: Bool?

      public static let fieldNames = ["application", "owner", "byUser"]

      public init(application: String, owner: Int? = nil, byUser: Bool? = nil) {
        self.application = application
        self.owner = owner
        self.byUser = byUser
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
        owner = try fields.optional("owner")
        byUser = try fields.optional("byUser")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "owner", owner)
        object.append(field: "byUser", byUser)
      }
    }

    public struct Output: WireStructure {
      public var end: End?

      public static let fieldNames = ["end"]

      public init(end: End? = nil) {
        self.end = end
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        end = try fields.optional("end")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "end", end)
      }
    }
  }
}

extension ControlInterface {
  /// Lists the applications in the application switcher of a seat, the most recently active one
  /// first.
  ///
  /// An application enters the switcher when it becomes active. It stays while it runs, and after
  /// its end if a manifest says how to launch it. RemoveFromSwitcher removes it.
  ///
  /// `seat` names the seat, as in Application.seat, and `owner` limits the list to the applications
  /// of one user. If `seat` is null, but `owner` is given or `all` is true, the method lists the
  /// applications of all seats. If none of the three is given, it lists the applications of the
  /// caller's seat. The caller's seat is the first of these that has an application in the
  /// switcher: the caller's controlling terminal, then the caller's login session. If neither has
  /// one, it is the default seat of the caller's user. The reply names the seat; null stands for
  /// all seats.
  public enum ListSwitcher: InterfaceMethod {
    public static let name = "org.taskschedd.Control.ListSwitcher"

    public struct Input: WireStructure {
      public var seat: String?
      public var owner: Int?
      public var all: Bool?

      public static let fieldNames = ["seat", "owner", "all"]

      public init(seat: String? = nil, owner: Int? = nil, all: Bool? = nil) {
        self.seat = seat
        self.owner = owner
        self.all = all
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        seat = try fields.optional("seat")
        owner = try fields.optional("owner")
        all = try fields.optional("all")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "seat", seat)
        object.append(field: "owner", owner)
        object.append(field: "all", all)
      }
    }

    public struct Output: WireStructure {
      public var seat: String?
      public var applications: [Application]

      public static let fieldNames = ["seat", "applications"]

      public init(seat: String? = nil, applications: [Application]) {
        self.seat = seat
        self.applications = applications
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        seat = try fields.optional("seat")
        applications = try fields.required("applications")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "seat", seat)
        object.append(field: "applications", applications)
      }
    }
  }
}

extension ControlInterface {
  /// Returns the picture of an application in the application switcher. The picture is a PNG image
  /// in a memfd that is open for reading and sealed against every change. All fields are null if
  /// the application has no snapshot, or if its snapshot is sensitive.
  ///
  /// The daemon has checked the beginning and the structure of the image, but has not decoded it.
  /// The reader must treat the image as untrusted.
  public enum GetSnapshot: InterfaceMethod {
    public static let name = "org.taskschedd.Control.GetSnapshot"

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

    public struct Output: WireStructure {
      public var snapshotFileDescriptor: FileDescriptorIndex?
      /// The size of the image in bytes.
      public var size: Int?
      /// The size in pixels.
      public var width: Int?
      public var height: Int?

      public static let fieldNames = ["snapshotFileDescriptor", "size", "width", "height"]

      public init(
        snapshotFileDescriptor: FileDescriptorIndex? = nil, size: Int? = nil, width: Int? = nil,
        height: Int? = nil
      ) {
        self.snapshotFileDescriptor = snapshotFileDescriptor
        self.size = size
        self.width = width
        self.height = height
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        snapshotFileDescriptor = try fields.optional("snapshotFileDescriptor")
        size = try fields.optional("size")
        width = try fields.optional("width")
        height = try fields.optional("height")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "snapshotFileDescriptor", snapshotFileDescriptor)
        object.append(field: "size", size)
        object.append(field: "width", width)
        object.append(field: "height", height)
      }
    }
  }
}

extension ControlInterface {
  /// Removes an application from the application switcher, for example because the user closed it
  /// there. Deletes its snapshot, and terminates it as Terminate does. When the leader has exited,
  /// the reply describes the end of the application.
  ///
  /// The application enters the switcher again when it becomes active again.
  public enum RemoveFromSwitcher: InterfaceMethod {
    public static let name = "org.taskschedd.Control.RemoveFromSwitcher"

    public struct Input: WireStructure {
      public var application: String
      public var owner: Int?
      public var byUser: Bool?

      public static let fieldNames = ["application", "owner", "byUser"]

      public init(application: String, owner: Int? = nil, byUser: Bool? = nil) {
        self.application = application
        self.owner = owner
        self.byUser = byUser
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
        owner = try fields.optional("owner")
        byUser = try fields.optional("byUser")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "owner", owner)
        object.append(field: "byUser", byUser)
      }
    }

    public struct Output: WireStructure {
      public var end: End?

      public static let fieldNames = ["end"]

      public init(end: End? = nil) {
        self.end = end
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        end = try fields.optional("end")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "end", end)
      }
    }
  }
}

extension ControlInterface {
  /// Lists the notifications of an application or, if `application` is null, of all applications
  /// that the caller may see. The notifications are in the order of their ids, in pages. A page
  /// begins after the id `after`; null selects the first page. To get the next page, pass `next` as
  /// `after`. In the last page, `next` is null. A page has at most 256 notifications and at most
  /// 256 KiB of texts. A larger notification has a page of its own.
  ///
  /// The list can contain notifications of applications that the daemon no longer knows.
  public enum ListNotifications: InterfaceMethod {
    public static let name = "org.taskschedd.Control.ListNotifications"

    public struct Input: WireStructure {
      public var application: String?
      public var owner: Int?
      public var after: Int?

      public static let fieldNames = ["application", "owner", "after"]

      public init(application: String? = nil, owner: Int? = nil, after: Int? = nil) {
        self.application = application
        self.owner = owner
        self.after = after
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.optional("application")
        owner = try fields.optional("owner")
        after = try fields.optional("after")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "owner", owner)
        object.append(field: "after", after)
      }
    }

    public struct Output: WireStructure {
      public var notifications: [ApplicationNotification]
      public var next: Int?

      public static let fieldNames = ["notifications", "next"]

      public init(notifications: [ApplicationNotification], next: Int? = nil) {
        self.notifications = notifications
        self.next = next
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        notifications = try fields.required("notifications")
        next = try fields.optional("next")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "notifications", notifications)
        object.append(field: "next", next)
      }
    }
  }
}

extension ControlInterface {
  /// Schedules a notification for an application, or presents it now if `schedule` is null. The
  /// application itself uses org.taskschedd.Application.ScheduleNotification.
  public enum PostNotification: InterfaceMethod {
    public static let name = "org.taskschedd.Control.PostNotification"

    public struct Input: WireStructure {
      public var application: String
      public var owner: Int?
      public var content: NotificationContent
      public var schedule: NotificationSchedule?

      public static let fieldNames = ["application", "owner", "content", "schedule"]

      public init(
        application: String, owner: Int? = nil, content: NotificationContent,
        schedule: NotificationSchedule? = nil
      ) {
        self.application = application
        self.owner = owner
        self.content = content
        self.schedule = schedule
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
        owner = try fields.optional("owner")
        content = try fields.required("content")
        schedule = try fields.optional("schedule")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "owner", owner)
        object.append(field: "content", content)
        object.append(field: "schedule", schedule)
      }
    }

    public struct Output: WireStructure {
      public var notification: Int

      public static let fieldNames = ["notification"]

      public init(notification: Int) {
        self.notification = notification
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        notification = try fields.required("notification")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "notification", notification)
      }
    }
  }
}

extension ControlInterface {
  /// Cancels the notification `notification`, or all notifications of `application`. The call must
  /// set at least one of these parameters. `application` may name an application that the daemon no
  /// longer knows.
  public enum CancelNotifications: InterfaceMethod {
    public static let name = "org.taskschedd.Control.CancelNotifications"

    public struct Input: WireStructure {
      public var application: String?
      public var owner: Int?
      public var notification: Int?

      public static let fieldNames = ["application", "owner", "notification"]

      public init(application: String? = nil, owner: Int? = nil, notification: Int? = nil) {
        self.application = application
        self.owner = owner
        self.notification = notification
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.optional("application")
        owner = try fields.optional("owner")
        notification = try fields.optional("notification")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "owner", owner)
        object.append(field: "notification", notification)
      }
    }

    public struct Output: WireStructure {
      public var cancelled: [Int]

      public static let fieldNames = ["cancelled"]

      public init(cancelled: [Int]) {
        self.cancelled = cancelled
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        cancelled = try fields.required("cancelled")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "cancelled", cancelled)
      }
    }
  }
}

extension ControlInterface {
  /// Posts a custom system change. If the caller is an operator, the daemon reports the change to
  /// all applications, otherwise to the applications of the caller's user.
  ///
  /// The name has 1 to 64 letters, digits, dots, - and _. The value has at most 256 bytes and no
  /// control characters.
  public enum PostSystemChange: InterfaceMethod {
    public static let name = "org.taskschedd.Control.PostSystemChange"

    public struct Input: WireStructure {
      public var name: String
      public var value: String?

      public static let fieldNames = ["name", "value"]

      public init(name: String, value: String? = nil) {
        self.name = name
        self.value = value
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        name = try fields.required("name")
        value = try fields.optional("value")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "name", name)
        object.append(field: "value", value)
      }
    }

    public typealias Output = NoFields
  }
}

extension ControlInterface {
  /// Sends a command to an application of one user. Two kinds of applications receive commands:
  /// media players on the session bus, and applications with the mode audio and an event stream. Of
  /// these, the receiver is the one that was audible last. If the application is suspended, the
  /// daemon resumes it for EventTime (10 s by default). Only an operator may name another user as
  /// `owner`; null means the caller. The reply names the application.
  ///
  /// The call must set `seconds` with seek, and only with seek. The value is from -1000000000 to
  /// 1000000000; a negative value moves backwards.
  ///
  /// A media player may ignore a command that it does not support.
  public enum RemoteControl: InterfaceMethod {
    public static let name = "org.taskschedd.Control.RemoteControl"

    public struct Input: WireStructure {
      public var command: RemoteCommand
      public var seconds: Double?
      public var owner: Int?

      public static let fieldNames = ["command", "seconds", "owner"]

      public init(command: RemoteCommand, seconds: Double? = nil, owner: Int? = nil) {
        self.command = command
        self.seconds = seconds
        self.owner = owner
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        command = try fields.required("command")
        seconds = try fields.optional("seconds")
        owner = try fields.optional("owner")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "command", command)
        object.append(field: "seconds", seconds)
        object.append(field: "owner", owner)
      }
    }

    public struct Output: WireStructure {
      public var application: String

      public static let fieldNames = ["application"]

      public init(application: String) {
        self.application = application
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
      }
    }
  }
}

extension ControlInterface {
  /// Returns the sources of locations, the accuracy that the applications need at present, and the
  /// applications that use the location. Operators get the applications of all users, or of
  /// `owner`. Other callers get their own applications. Each reply contains the sources that serve
  /// all users.
  public enum GetLocation: InterfaceMethod {
    public static let name = "org.taskschedd.Control.GetLocation"

    public struct Input: WireStructure {
      public var owner: Int?

      public static let fieldNames = ["owner"]

      public init(owner: Int? = nil) {
        self.owner = owner
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        owner = try fields.optional("owner")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "owner", owner)
      }
    }

    public struct Output: WireStructure {
      public var sources: [LocationSource]
      /// The best accuracy that an application of any user needs now. null if no receiver must run,
      /// or if the caller is not an operator and has no application that uses the location.
      public var needed: LocationAccuracy?
      /// The next time at which the daemon determines the location for regions and significant
      /// changes. null if no such time is known, for example because the daemon waits until the
      /// machine moves.
      public var nextLookUSec: Int?
      /// The newest location that the daemon has for the user whose applications are in `uses`, or
      /// for any user if `uses` covers all users. null if the daemon has none.
      public var location: Location?
      /// The instant until which a location from PostLocation replaces the locations of the
      /// sources; null if there is no such location.
      public var simulatedUntilUSec: Int?
      /// In the order of the ids of the applications, then of their owners.
      public var uses: [LocationUse]

      public static let fieldNames = [
        "sources", "needed", "nextLookUSec", "location", "simulatedUntilUSec", "uses",
      ]

      public init(
        sources: [LocationSource], needed: LocationAccuracy? = nil, nextLookUSec: Int? = nil,
        location: Location? = nil, simulatedUntilUSec: Int? = nil, uses: [LocationUse]
      ) {
        self.sources = sources
        self.needed = needed
        self.nextLookUSec = nextLookUSec
        self.location = location
        self.simulatedUntilUSec = simulatedUntilUSec
        self.uses = uses
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        sources = try fields.required("sources")
        needed = try fields.optional("needed")
        nextLookUSec = try fields.optional("nextLookUSec")
        location = try fields.optional("location")
        simulatedUntilUSec = try fields.optional("simulatedUntilUSec")
        uses = try fields.required("uses")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "sources", sources)
        object.append(field: "needed", needed)
        object.append(field: "nextLookUSec", nextLookUSec)
        object.append(field: "location", location)
        object.append(field: "simulatedUntilUSec", simulatedUntilUSec)
        object.append(field: "uses", uses)
      }
    }
  }
}

extension ControlInterface {
  /// Simulates a location. For LocationFixTime (60 s by default), the simulated location replaces
  /// the locations of the sources, and counts as a source.
  ///
  /// With `owner`, the applications of this user receive the location. Without `owner`, the
  /// applications of the caller receive it, or the applications of all users if the caller is an
  /// operator.
  public enum PostLocation: InterfaceMethod {
    public static let name = "org.taskschedd.Control.PostLocation"

    public struct Input: WireStructure {
      public var location: Location
      public var owner: Int?

      public static let fieldNames = ["location", "owner"]

      public init(location: Location, owner: Int? = nil) {
        self.location = location
        self.owner = owner
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        location = try fields.required("location")
        owner = try fields.optional("owner")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "location", location)
        object.append(field: "owner", owner)
      }
    }

    public typealias Output = NoFields
  }
}

extension ControlInterface {
  /// Decides, in place of the user, whether an application may learn the location. If
  /// `authorization` is notDetermined, the daemon asks the user again: at once if the application
  /// uses a location service, and otherwise when it next starts one. The reply means that the
  /// decision is durable. The settings of the daemon override this decision; GetLocation returns
  /// the authorization that is in effect.
  ///
  /// Even if the daemon no longer knows the application, the call works while the daemon stores a
  /// decision about the application, or a location service that the application uses.
  public enum SetLocationAuthorization: InterfaceMethod {
    public static let name = "org.taskschedd.Control.SetLocationAuthorization"

    public struct Input: WireStructure {
      public var application: String
      public var owner: Int?
      public var authorization: LocationAuthorization

      public static let fieldNames = ["application", "owner", "authorization"]

      public init(application: String, owner: Int? = nil, authorization: LocationAuthorization) {
        self.application = application
        self.owner = owner
        self.authorization = authorization
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
        owner = try fields.optional("owner")
        authorization = try fields.required("authorization")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "owner", owner)
        object.append(field: "authorization", authorization)
      }
    }

    public typealias Output = NoFields
  }
}

extension ControlInterface {
  /// Stops monitoring the regions and the significant changes of an application, and withdraws the
  /// decision whether it may learn the location. If the application runs and has started continuous
  /// updates, the daemon asks the user again. The reply means that these changes are durable. The
  /// application need not run. If the daemon remembers nothing about how the application uses the
  /// location, the call fails with UnknownApplication.
  public enum ForgetLocation: InterfaceMethod {
    public static let name = "org.taskschedd.Control.ForgetLocation"

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

extension ControlInterface {
  /// Returns the login sessions that can show applications: graphical sessions, and text consoles
  /// at a seat. Operators get the sessions of all users, other callers get their own. The list is
  /// empty without logind. When the screen of a session is locked, the daemon interrupts the active
  /// applications at the seat of the session and at the terminals in the session.
  public enum ListSessions: InterfaceMethod {
    public static let name = "org.taskschedd.Control.ListSessions"

    public typealias Input = NoFields

    public struct Output: WireStructure {
      public var sessions: [LoginSession]

      public static let fieldNames = ["sessions"]

      public init(sessions: [LoginSession]) {
        self.sessions = sessions
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        sessions = try fields.required("sessions")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "sessions", sessions)
      }
    }
  }
}

extension ControlInterface {
  /// Returns the state of the machine's memory, and the memory use of the applications that the
  /// caller may see. The applications are in the order in which the daemon would terminate them.
  public enum GetMemory: InterfaceMethod {
    public static let name = "org.taskschedd.Control.GetMemory"

    public typealias Input = NoFields

    public struct Output: WireStructure {
      public var phase: MemoryPhase
      /// The time at which the daemon last detected memory pressure; null if it has never detected
      /// any.
      public var pressedAtUSec: Int?
      /// The scopes whose memory pressure the daemon monitors: machine, slice.
      public var heard: [String]
      /// The available memory, in bytes.
      public var available: Int
      /// The machine's memory, in bytes.
      public var total: Int
      /// MemoryFloorPercent: under pressure of the whole machine, the daemon terminates
      /// applications only while less than this percentage of the memory is available.
      public var floorPercent: Int
      public var applications: [MemoryUse]

      public static let fieldNames = [
        "phase", "pressedAtUSec", "heard", "available", "total", "floorPercent", "applications",
      ]

      public init(
        phase: MemoryPhase, pressedAtUSec: Int? = nil, heard: [String], available: Int, total: Int,
        floorPercent: Int, applications: [MemoryUse]
      ) {
        self.phase = phase
        self.pressedAtUSec = pressedAtUSec
        self.heard = heard
        self.available = available
        self.total = total
        self.floorPercent = floorPercent
        self.applications = applications
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        phase = try fields.required("phase")
        pressedAtUSec = try fields.optional("pressedAtUSec")
        heard = try fields.required("heard")
        available = try fields.required("available")
        total = try fields.required("total")
        floorPercent = try fields.required("floorPercent")
        applications = try fields.required("applications")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "phase", phase)
        object.append(field: "pressedAtUSec", pressedAtUSec)
        object.append(field: "heard", heard)
        object.append(field: "available", available)
        object.append(field: "total", total)
        object.append(field: "floorPercent", floorPercent)
        object.append(field: "applications", applications)
      }
    }
  }
}

extension ControlInterface {
  /// Simulates a memory warning for an application or, if `application` is null, for all
  /// applications that the caller may operate.
  public enum WarnMemory: InterfaceMethod {
    public static let name = "org.taskschedd.Control.WarnMemory"

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

    public typealias Output = NoFields
  }
}

extension ControlInterface {
  /// Reports all applications that the caller may see, and then their changes. The caller must set
  /// `more`. The daemon sends one reply with `application` for each application, then one with
  /// `ready`, then one with `change` for each change. It disconnects a client that does not read
  /// fast enough.
  ///
  /// `application` limits the reports to one application, which need not be known yet. `owner`
  /// limits them to the applications of one user. A user may have MaxMonitorsPerUser (64 by
  /// default) monitors without `application`, and the same number for each single application.
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

extension ControlInterface {
  /// Returns the effective settings. Each of `warnings` is a sentence about a setting that is valid
  /// but probably a mistake, such as an operators' group that does not exist.
  public enum GetSettings: InterfaceMethod {
    public static let name = "org.taskschedd.Control.GetSettings"

    public typealias Input = NoFields

    public struct Output: WireStructure {
      public var settings: [Setting]
      public var warnings: [String]

      public static let fieldNames = ["settings", "warnings"]

      public init(settings: [Setting], warnings: [String]) {
        self.settings = settings
        self.warnings = warnings
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        settings = try fields.required("settings")
        warnings = try fields.required("warnings")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "settings", settings)
        object.append(field: "warnings", warnings)
      }
    }
  }
}

extension ControlInterface {
  /// Returns the latest log records about the applications that the caller may see: at most 100
  /// records, or at most `lines` if that is less. The oldest of these records comes first. With
  /// `before`, the method returns the latest records before the record with this number.
  ///
  /// The call is for users without permission to read the system journal. The daemon keeps at most
  /// 500 records for each user, and none from before its start.
  public enum GetLog: InterfaceMethod {
    public static let name = "org.taskschedd.Control.GetLog"

    public struct Input: WireStructure {
      public var application: String?
      public var owner: Int?
      public var before: Int?
      public var lines: Int?

      public static let fieldNames = ["application", "owner", "before", "lines"]

      public init(
        application: String? = nil, owner: Int? = nil, before: Int? = nil, lines: Int? = nil
      ) {
        self.application = application
        self.owner = owner
        self.before = before
        self.lines = lines
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.optional("application")
        owner = try fields.optional("owner")
        before = try fields.optional("before")
        lines = try fields.optional("lines")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "owner", owner)
        object.append(field: "before", before)
        object.append(field: "lines", lines)
      }
    }

    public struct Output: WireStructure {
      public var records: [LogRecord]

      public static let fieldNames = ["records"]

      public init(records: [LogRecord]) {
        self.records = records
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        records = try fields.required("records")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "records", records)
      }
    }
  }
}

extension ControlInterface {
  /// Reads the configuration and the manifests again. If a file contains a mistake, the previous
  /// configuration and manifests stay in effect, and InvalidConfiguration lists each mistake.
  public enum Reload: InterfaceMethod {
    public static let name = "org.taskschedd.Control.Reload"

    public typealias Input = NoFields

    public typealias Output = NoFields
  }
}
