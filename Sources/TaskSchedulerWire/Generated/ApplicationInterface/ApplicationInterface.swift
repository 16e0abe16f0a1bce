// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

/// The interface between an application and taskschedd.
///
/// An instance is one run of an application: its leader process and the other processes of the run.
/// The daemon identifies the calling process by its socket (SO_PEERCRED, SO_PEERPIDFD). Each method
/// acts on the instance that the calling process belongs to.
///
/// Times are integers in microseconds; instants count from boot (CLOCK_BOOTTIME).
///
/// A field with a name that ends in FileDescriptor is an index into the file descriptors that are
/// sent with the message (SCM_RIGHTS). The first one has the index 0.
///
/// The daemon, 'taskctl run' and 'taskctl task' set these variables in the environment of a
/// program:
/// - `TASKSCHEDD_SOCKET`: the path of the daemon's socket
/// - `TASKSCHEDD_APPLICATION`: the application's id, which is the argument of Register
/// - `TASKSCHEDD_INSTANCE`: a marker by which the daemon recognizes the program's descendants
/// - `TASKSCHEDD_LAUNCH_REASON`: the reason for the launch: a value of LaunchReason
/// - `TASKSCHEDD_LAUNCH_REGION`: the identifier of the region that was entered or left; set only if
///   the crossing was the reason for the launch
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
public enum ApplicationInterface {
  public static let name = "org.taskschedd.Application"

  /// The contents of the `.varlink` file. Introspection returns its text.
  public static let description = InterfaceDescription(
    embedded: PackageResources.org_taskschedd_Application_varlink)

  /// The types of the methods.
  public static let methods: [any InterfaceMethod.Type] = [
    Register.self, Acknowledge.self, BeginBackgroundTask.self, EndBackgroundTask.self,
    SetKeepAliveTimeout.self, SetAudioSession.self, BeginCall.self, EndCall.self,
    StartUpdatingLocation.self, StopUpdatingLocation.self,
    StartMonitoringSignificantLocationChanges.self, StopMonitoringSignificantLocationChanges.self,
    StartMonitoringRegion.self, StopMonitoringRegion.self, ListMonitoredRegions.self,
    RequestLocationAuthorization.self, ManageSocket.self, ReleaseSocket.self,
    ScheduleNotification.self, ListNotifications.self, CancelNotifications.self, SetBadge.self,
    SetSnapshot.self, GetStatus.self,
  ]

  /// The full names of the methods, which identify calls.
  public enum MethodName: String, CaseIterable, Sendable {
    case register = "org.taskschedd.Application.Register"
    case acknowledge = "org.taskschedd.Application.Acknowledge"
    case beginBackgroundTask = "org.taskschedd.Application.BeginBackgroundTask"
    case endBackgroundTask = "org.taskschedd.Application.EndBackgroundTask"
    case setKeepAliveTimeout = "org.taskschedd.Application.SetKeepAliveTimeout"
    case setAudioSession = "org.taskschedd.Application.SetAudioSession"
    case beginCall = "org.taskschedd.Application.BeginCall"
    case endCall = "org.taskschedd.Application.EndCall"
    case startUpdatingLocation = "org.taskschedd.Application.StartUpdatingLocation"
    case stopUpdatingLocation = "org.taskschedd.Application.StopUpdatingLocation"
    case startMonitoringSignificantLocationChanges =
      "org.taskschedd.Application.StartMonitoringSignificantLocationChanges"
    case stopMonitoringSignificantLocationChanges =
      "org.taskschedd.Application.StopMonitoringSignificantLocationChanges"
    case startMonitoringRegion = "org.taskschedd.Application.StartMonitoringRegion"
    case stopMonitoringRegion = "org.taskschedd.Application.StopMonitoringRegion"
    case listMonitoredRegions = "org.taskschedd.Application.ListMonitoredRegions"
    case requestLocationAuthorization = "org.taskschedd.Application.RequestLocationAuthorization"
    case manageSocket = "org.taskschedd.Application.ManageSocket"
    case releaseSocket = "org.taskschedd.Application.ReleaseSocket"
    case scheduleNotification = "org.taskschedd.Application.ScheduleNotification"
    case listNotifications = "org.taskschedd.Application.ListNotifications"
    case cancelNotifications = "org.taskschedd.Application.CancelNotifications"
    case setBadge = "org.taskschedd.Application.SetBadge"
    case setSnapshot = "org.taskschedd.Application.SetSnapshot"
    case getStatus = "org.taskschedd.Application.GetStatus"
  }

  /// A type that carries out the methods of the interface. A method replies to its caller, at
  /// once or later, or throws a ``MethodFailure``.
  public protocol Implementation {
    /// The client that calls.
    associatedtype Caller

    func register(_ input: Register.Input, _ caller: Caller) throws
    func acknowledge(_ input: Acknowledge.Input, _ caller: Caller) throws
    func beginBackgroundTask(_ input: BeginBackgroundTask.Input, _ caller: Caller) throws
    func endBackgroundTask(_ input: EndBackgroundTask.Input, _ caller: Caller) throws
    func setKeepAliveTimeout(_ input: SetKeepAliveTimeout.Input, _ caller: Caller) throws
    func setAudioSession(_ input: SetAudioSession.Input, _ caller: Caller) throws
    func beginCall(_ input: BeginCall.Input, _ caller: Caller) throws
    func endCall(_ input: EndCall.Input, _ caller: Caller) throws
    func startUpdatingLocation(_ input: StartUpdatingLocation.Input, _ caller: Caller) throws
    func stopUpdatingLocation(_ input: StopUpdatingLocation.Input, _ caller: Caller) throws
    func startMonitoringSignificantLocationChanges(
      _ input: StartMonitoringSignificantLocationChanges.Input, _ caller: Caller
    ) throws
    func stopMonitoringSignificantLocationChanges(
      _ input: StopMonitoringSignificantLocationChanges.Input, _ caller: Caller
    ) throws
    func startMonitoringRegion(_ input: StartMonitoringRegion.Input, _ caller: Caller) throws
    func stopMonitoringRegion(_ input: StopMonitoringRegion.Input, _ caller: Caller) throws
    func listMonitoredRegions(_ input: ListMonitoredRegions.Input, _ caller: Caller) throws
    func requestLocationAuthorization(
      _ input: RequestLocationAuthorization.Input, _ caller: Caller
    ) throws
    func manageSocket(_ input: ManageSocket.Input, _ caller: Caller) throws
    func releaseSocket(_ input: ReleaseSocket.Input, _ caller: Caller) throws
    func scheduleNotification(_ input: ScheduleNotification.Input, _ caller: Caller) throws
    func listNotifications(_ input: ListNotifications.Input, _ caller: Caller) throws
    func cancelNotifications(_ input: CancelNotifications.Input, _ caller: Caller) throws
    func setBadge(_ input: SetBadge.Input, _ caller: Caller) throws
    func setSnapshot(_ input: SetSnapshot.Input, _ caller: Caller) throws
    func getStatus(_ input: GetStatus.Input, _ caller: Caller) throws
  }

  /// Decodes the parameters of a call, and carries it out.
  ///
  /// - Throws: ``ParameterError`` if the parameters are not those of the method.
  public static func carryOut<Methods: Implementation>(
    _ method: MethodName, _ call: ReceivedCall, by methods: Methods,
    for caller: Methods.Caller
  ) throws {
    switch method {
    case .register:
      try methods.register(call.decode(Register.Input.self), caller)
    case .acknowledge:
      try methods.acknowledge(call.decode(Acknowledge.Input.self), caller)
    case .beginBackgroundTask:
      try methods.beginBackgroundTask(call.decode(BeginBackgroundTask.Input.self), caller)
    case .endBackgroundTask:
      try methods.endBackgroundTask(call.decode(EndBackgroundTask.Input.self), caller)
    case .setKeepAliveTimeout:
      try methods.setKeepAliveTimeout(call.decode(SetKeepAliveTimeout.Input.self), caller)
    case .setAudioSession:
      try methods.setAudioSession(call.decode(SetAudioSession.Input.self), caller)
    case .beginCall:
      try methods.beginCall(call.decode(BeginCall.Input.self), caller)
    case .endCall:
      try methods.endCall(call.decode(EndCall.Input.self), caller)
    case .startUpdatingLocation:
      try methods.startUpdatingLocation(call.decode(StartUpdatingLocation.Input.self), caller)
    case .stopUpdatingLocation:
      try methods.stopUpdatingLocation(call.decode(StopUpdatingLocation.Input.self), caller)
    case .startMonitoringSignificantLocationChanges:
      try methods.startMonitoringSignificantLocationChanges(
        call.decode(StartMonitoringSignificantLocationChanges.Input.self), caller
      )
    case .stopMonitoringSignificantLocationChanges:
      try methods.stopMonitoringSignificantLocationChanges(
        call.decode(StopMonitoringSignificantLocationChanges.Input.self), caller
      )
    case .startMonitoringRegion:
      try methods.startMonitoringRegion(call.decode(StartMonitoringRegion.Input.self), caller)
    case .stopMonitoringRegion:
      try methods.stopMonitoringRegion(call.decode(StopMonitoringRegion.Input.self), caller)
    case .listMonitoredRegions:
      try methods.listMonitoredRegions(call.decode(ListMonitoredRegions.Input.self), caller)
    case .requestLocationAuthorization:
      try methods.requestLocationAuthorization(
        call.decode(RequestLocationAuthorization.Input.self), caller
      )
    case .manageSocket:
      try methods.manageSocket(call.decode(ManageSocket.Input.self), caller)
    case .releaseSocket:
      try methods.releaseSocket(call.decode(ReleaseSocket.Input.self), caller)
    case .scheduleNotification:
      try methods.scheduleNotification(call.decode(ScheduleNotification.Input.self), caller)
    case .listNotifications:
      try methods.listNotifications(call.decode(ListNotifications.Input.self), caller)
    case .cancelNotifications:
      try methods.cancelNotifications(call.decode(CancelNotifications.Input.self), caller)
    case .setBadge:
      try methods.setBadge(call.decode(SetBadge.Input.self), caller)
    case .setSnapshot:
      try methods.setSnapshot(call.decode(SetSnapshot.Input.self), caller)
    case .getStatus:
      try methods.getStatus(call.decode(GetStatus.Input.self), caller)
    }
  }
}

extension ApplicationInterface {
  /// Opens the event stream. The caller must set `more`, and must use a separate connection for
  /// this call. The first reply sets `registered`; each later reply sets exactly one of the other
  /// fields.
  ///
  /// A process that belongs to no instance becomes the leader of a new instance of `application`.
  /// The instance starts in the foreground unless `background` is true. The seat of a process with
  /// a controlling terminal is that terminal; see org.taskschedd.Control.Application.
  ///
  /// A process that belongs to an instance opens the event stream of that instance, and
  /// `application` must name the application of the instance. A second event stream replaces the
  /// first, which ends with StreamReplaced.
  ///
  /// If an instance in the foreground opens its first event stream, the state in `registered` is
  /// inactive, even if the instance was active before. The application becomes active when it has
  /// acknowledged didFinishLaunching.
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
      /// such as caches. The warning needs no acknowledgement.
      public var memoryWarning: Bool?
      public var remoteCommand: RemoteCommand?
      public var audioInterruption: AudioInterruption?
      public var call: CallEvent?
      /// A location of the continuous updates. It needs no acknowledgement.
      public var location: Location?
      public var significantLocationChange: SignificantLocationChange?
      public var region: RegionEvent?
      /// Whether the application may learn the location from now on. This decision needs no
      /// acknowledgement.
      public var locationAuthorization: LocationAuthorization?

      public static let fieldNames = [
        "registered", "callback", "expiration", "socketEvent", "systemChanges", "notification",
        "memoryWarning", "remoteCommand", "audioInterruption", "call", "location",
        "significantLocationChange", "region", "locationAuthorization",
      ]

      public init(
        registered: Registration? = nil, callback: Callback? = nil, expiration: Expiration? = nil,
        socketEvent: SocketEvent? = nil, systemChanges: [SystemChange]? = nil,
        notification: NotificationEvent? = nil, memoryWarning: Bool? = nil,
        remoteCommand: RemoteCommand? = nil, audioInterruption: AudioInterruption? = nil,
        call: CallEvent? = nil, location: Location? = nil,
        significantLocationChange: SignificantLocationChange? = nil, region: RegionEvent? = nil,
        locationAuthorization: LocationAuthorization? = nil
      ) {
        self.registered = registered
        self.callback = callback
        self.expiration = expiration
        self.socketEvent = socketEvent
        self.systemChanges = systemChanges
        self.notification = notification
        self.memoryWarning = memoryWarning
        self.remoteCommand = remoteCommand
        self.audioInterruption = audioInterruption
        self.call = call
        self.location = location
        self.significantLocationChange = significantLocationChange
        self.region = region
        self.locationAuthorization = locationAuthorization
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        registered = try fields.optional("registered")
        callback = try fields.optional("callback")
        expiration = try fields.optional("expiration")
        socketEvent = try fields.optional("socketEvent")
        systemChanges = try fields.optional("systemChanges")
        notification = try fields.optional("notification")
        memoryWarning = try fields.optional("memoryWarning")
        remoteCommand = try fields.optional("remoteCommand")
        audioInterruption = try fields.optional("audioInterruption")
        call = try fields.optional("call")
        location = try fields.optional("location")
        significantLocationChange = try fields.optional("significantLocationChange")
        region = try fields.optional("region")
        locationAuthorization = try fields.optional("locationAuthorization")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "registered", registered)
        object.append(field: "callback", callback)
        object.append(field: "expiration", expiration)
        object.append(field: "socketEvent", socketEvent)
        object.append(field: "systemChanges", systemChanges)
        object.append(field: "notification", notification)
        object.append(field: "memoryWarning", memoryWarning)
        object.append(field: "remoteCommand", remoteCommand)
        object.append(field: "audioInterruption", audioInterruption)
        object.append(field: "call", call)
        object.append(field: "location", location)
        object.append(field: "significantLocationChange", significantLocationChange)
        object.append(field: "region", region)
        object.append(field: "locationAuthorization", locationAuthorization)
      }
    }
  }
}

extension ApplicationInterface {
  /// Acknowledges the last callback, a socket event, a remote command, an audio interruption, a
  /// call event, a significant location change or a region event.
  ///
  /// The daemon may suspend the caller afterwards, if nothing else entitles the application to run.
  /// It sends the reply before it suspends the application, but the caller may be unable to read
  /// the reply until the application is resumed.
  public enum Acknowledge: InterfaceMethod {
    public static let name = "org.taskschedd.Application.Acknowledge"

    public struct Input: WireStructure {
      public var callback: Int

      public static let fieldNames = ["callback"]

      public init(callback: Int) {
        self.callback = callback
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        callback = try fields.required("callback")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "callback", callback)
      }
    }

    public typealias Output = NoFields
  }
}

extension ApplicationInterface {
  /// Begins a background task. The application must end each task with EndBackgroundTask. taskctl
  /// and the log show the name. It has at most 256 bytes and no control characters.
  public enum BeginBackgroundTask: InterfaceMethod {
    public static let name = "org.taskschedd.Application.BeginBackgroundTask"

    public struct Input: WireStructure {
      public var name: String?

      public static let fieldNames = ["name"]

      public init(name: String? = nil) {
        self.name = name
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        name = try fields.optional("name")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "name", name)
      }
    }

    public struct Output: WireStructure {
      public var task: Int
      public var backgroundTimeRemainingUSec: Int?

      public static let fieldNames = ["task", "backgroundTimeRemainingUSec"]

      public init(task: Int, backgroundTimeRemainingUSec: Int? = nil) {
        self.task = task
        self.backgroundTimeRemainingUSec = backgroundTimeRemainingUSec
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        task = try fields.required("task")
        backgroundTimeRemainingUSec = try fields.optional("backgroundTimeRemainingUSec")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "task", task)
        object.append(field: "backgroundTimeRemainingUSec", backgroundTimeRemainingUSec)
      }
    }
  }
}

extension ApplicationInterface {
  /// Ends a background task.
  ///
  /// The daemon may suspend the caller after the end of the last task, if nothing else entitles the
  /// application to run. It sends the reply before it suspends the application, but the caller may
  /// be unable to read the reply until the application is resumed.
  public enum EndBackgroundTask: InterfaceMethod {
    public static let name = "org.taskschedd.Application.EndBackgroundTask"

    public struct Input: WireStructure {
      public var task: Int

      public static let fieldNames = ["task"]

      public init(task: Int) {
        self.task = task
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        task = try fields.required("task")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "task", task)
      }
    }

    public typealias Output = NoFields
  }
}

extension ApplicationInterface {
  /// Sets the interval of the keep-alive handler; null clears the handler.
  ///
  /// The daemon sends the callback keepAlive at least once in each interval. An interval begins at
  /// the last keepAlive. The daemon resumes a suspended application for the callback. The interval
  /// is at least KeepAliveMinimum (600 s by default) and at most 1000000000 s. The application
  /// needs the background mode voip and an event stream.
  public enum SetKeepAliveTimeout: InterfaceMethod {
    public static let name = "org.taskschedd.Application.SetKeepAliveTimeout"

    public struct Input: WireStructure {
      public var seconds: Double?

      public static let fieldNames = ["seconds"]

      public init(seconds: Double? = nil) {
        self.seconds = seconds
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        seconds = try fields.optional("seconds")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "seconds", seconds)
      }
    }

    public typealias Output = NoFields
  }
}

extension ApplicationInterface {
  /// Sets the application's audio session. While the application plays or records, the session
  /// determines what happens to the audio of the user's other applications.
  ///
  /// With `duckOthers`, the daemon lowers the volume of other applications to DuckLevel (20 % by
  /// default) while the application plays. With `mixWithOthers` or the category ambient, but
  /// without `duckOthers`, the application plays together with others. In all other cases it is
  /// exclusive: when it begins to play, it interrupts other exclusive applications. Both options
  /// are false by default.
  ///
  /// If the application has never made this call, its running streams determine its session. The
  /// first of these rules that applies decides. If the application only records, or if all its
  /// playback streams have the media role event, it plays together with others. If all its playback
  /// streams have the role event, notification or a11y, the daemon lowers the volume of other
  /// applications. Otherwise the session is `playback` without options.
  public enum SetAudioSession: InterfaceMethod {
    public static let name = "org.taskschedd.Application.SetAudioSession"

    public struct Input: WireStructure {
      public var category: AudioCategory
      public var mixWithOthers: Bool?
      public var duckOthers: Bool?

      public static let fieldNames = ["category", "mixWithOthers", "duckOthers"]

      public init(category: AudioCategory, mixWithOthers: Bool? = nil, duckOthers: Bool? = nil) {
        self.category = category
        self.mixWithOthers = mixWithOthers
        self.duckOthers = duckOthers
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        category = try fields.required("category")
        mixWithOthers = try fields.optional("mixWithOthers")
        duckOthers = try fields.optional("duckOthers")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "category", category)
        object.append(field: "mixWithOthers", mixWithOthers)
        object.append(field: "duckOthers", duckOthers)
      }
    }

    public typealias Output = NoFields
  }
}

extension ApplicationInterface {
  /// Says that the application has a phone call, which rings or is answered. The call interrupts
  /// the audio of the user's other applications until EndCall. While the application plays or
  /// records during the call, the daemon does not suspend it. The daemon puts the earlier calls of
  /// the user's other applications on hold.
  ///
  /// The application needs the background mode voip and an event stream. If it already has a phone
  /// call, nothing changes.
  public enum BeginCall: InterfaceMethod {
    public static let name = "org.taskschedd.Application.BeginCall"

    public typealias Input = NoFields

    public typealias Output = NoFields
  }
}

extension ApplicationInterface {
  /// Says that the phone call has ended. If there is none, nothing changes. The end of the instance
  /// also ends its phone call.
  public enum EndCall: InterfaceMethod {
    public static let name = "org.taskschedd.Application.EndCall"

    public typealias Input = NoFields

    public typealias Output = NoFields
  }
}

extension ApplicationInterface {
  /// Starts continuous updates: each new location arrives in the event stream, in the field
  /// location. If updates run already, the call changes their accuracy and their distance filter.
  ///
  /// A `desiredAccuracy` of null means best. `distanceFilter` is the minimum distance, in meters,
  /// between two successive locations that the application receives. It must not be negative. With
  /// null or 0, the application receives each location.
  ///
  /// If the application has the background mode location, the daemon does not suspend it while the
  /// updates run and it may learn the location. Without the mode, the daemon suspends the
  /// application as usual. A suspended application receives no locations, and the daemon does not
  /// resume it for them. The updates end when the application calls StopUpdatingLocation, or when
  /// the instance ends. The application needs an event stream.
  ///
  /// `authorization` says whether the application may learn the location. With notDetermined, the
  /// call has succeeded, but the application receives no locations yet. The daemon asks the user
  /// once, with a notification. The event stream later reports the decision in the field
  /// locationAuthorization. If the field is authorized, the locations follow without another call.
  /// If the field is denied, the application receives no locations, and a later call fails with
  /// LocationDenied. This paragraph also applies to the other location services.
  public enum StartUpdatingLocation: InterfaceMethod {
    public static let name = "org.taskschedd.Application.StartUpdatingLocation"

    public struct Input: WireStructure {
      public var desiredAccuracy: LocationAccuracy?
      public var distanceFilter: Double?

      public static let fieldNames = ["desiredAccuracy", "distanceFilter"]

      public init(desiredAccuracy: LocationAccuracy? = nil, distanceFilter: Double? = nil) {
        self.desiredAccuracy = desiredAccuracy
        self.distanceFilter = distanceFilter
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        desiredAccuracy = try fields.optional("desiredAccuracy")
        distanceFilter = try fields.optional("distanceFilter")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "desiredAccuracy", desiredAccuracy)
        object.append(field: "distanceFilter", distanceFilter)
      }
    }

    public struct Output: WireStructure {
      public var authorization: LocationAuthorization

      public static let fieldNames = ["authorization"]

      public init(authorization: LocationAuthorization) {
        self.authorization = authorization
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        authorization = try fields.required("authorization")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "authorization", authorization)
      }
    }
  }
}

extension ApplicationInterface {
  /// Stops continuous updates. If no updates run, nothing changes.
  public enum StopUpdatingLocation: InterfaceMethod {
    public static let name = "org.taskschedd.Application.StopUpdatingLocation"

    public typealias Input = NoFields

    public typealias Output = NoFields
  }
}

extension ApplicationInterface {
  /// Starts to monitor significant changes of the location. The first location after this call and
  /// each later change arrive in the event stream, in the field significantLocationChange. The
  /// application needs an event stream.
  ///
  /// The daemon resumes a suspended application for a change. If the application does not run but
  /// has a manifest, the daemon launches it with the launch reason location. If it has no manifest,
  /// or an operator or the user terminated it, the daemon does not launch it, and the change waits
  /// until the application runs.
  ///
  /// The daemon stores the request durably before it replies. The request outlasts the end of the
  /// application, the end of the daemon and a reboot. An application that the daemon has launched
  /// need not call this method again. `authorization` has the same meaning as in
  /// StartUpdatingLocation.
  public enum StartMonitoringSignificantLocationChanges: InterfaceMethod {
    public static let name = "org.taskschedd.Application.StartMonitoringSignificantLocationChanges"

    public typealias Input = NoFields

    public struct Output: WireStructure {
      public var authorization: LocationAuthorization

      public static let fieldNames = ["authorization"]

      public init(authorization: LocationAuthorization) {
        self.authorization = authorization
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        authorization = try fields.required("authorization")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "authorization", authorization)
      }
    }
  }
}

extension ApplicationInterface {
  /// Stops monitoring significant changes. If they are not monitored, nothing changes.
  public enum StopMonitoringSignificantLocationChanges: InterfaceMethod {
    public static let name = "org.taskschedd.Application.StopMonitoringSignificantLocationChanges"

    public typealias Input = NoFields

    public typealias Output = NoFields
  }
}

extension ApplicationInterface {
  /// Starts to monitor a region, or replaces the region with the same identifier. Each time the
  /// machine enters or leaves the region, the event stream reports this in the field region. The
  /// application needs an event stream.
  ///
  /// The daemon reports a crossing when all locations within RegionDwell (20 s by default) show the
  /// new side. A location shows a side only if its distance from the boundary is at least 50 m, and
  /// at least the accuracy of the location. The event stream does not report whether the machine is
  /// inside at the time of this call, but ListMonitoredRegions does as soon as the daemon knows.
  ///
  /// The daemon resumes a suspended application for a crossing. If the application does not run but
  /// has a manifest, the daemon launches it with the launch reason location. If it has no manifest,
  /// or an operator or the user terminated it, the daemon does not launch it, and the crossings
  /// wait until the application runs.
  ///
  /// The daemon stores the region durably before it replies. The region outlasts the end of the
  /// application, the end of the daemon and a reboot. An application that the daemon has launched
  /// need not call this method again. `authorization` has the same meaning as in
  /// StartUpdatingLocation.
  ///
  /// The error QuotaExceeded names the exhausted quota: MaxRegionsPerApplication (20 by default) or
  /// MaxRegionsPerUser (1024 by default). Each method that starts a location service can also
  /// exceed MaxLocationApplicationsPerUser (256 by default).
  public enum StartMonitoringRegion: InterfaceMethod {
    public static let name = "org.taskschedd.Application.StartMonitoringRegion"

    public struct Input: WireStructure {
      public var region: Region

      public static let fieldNames = ["region"]

      public init(region: Region) {
        self.region = region
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        region = try fields.required("region")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "region", region)
      }
    }

    public struct Output: WireStructure {
      public var authorization: LocationAuthorization

      public static let fieldNames = ["authorization"]

      public init(authorization: LocationAuthorization) {
        self.authorization = authorization
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        authorization = try fields.required("authorization")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "authorization", authorization)
      }
    }
  }
}

extension ApplicationInterface {
  /// Stops monitoring a region.
  public enum StopMonitoringRegion: InterfaceMethod {
    public static let name = "org.taskschedd.Application.StopMonitoringRegion"

    public struct Input: WireStructure {
      public var identifier: String

      public static let fieldNames = ["identifier"]

      public init(identifier: String) {
        self.identifier = identifier
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        identifier = try fields.required("identifier")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "identifier", identifier)
      }
    }

    public typealias Output = NoFields
  }
}

extension ApplicationInterface {
  /// Lists the regions of the application in the order of their identifiers.
  public enum ListMonitoredRegions: InterfaceMethod {
    public static let name = "org.taskschedd.Application.ListMonitoredRegions"

    public typealias Input = NoFields

    public struct Output: WireStructure {
      public var regions: [MonitoredRegion]

      public static let fieldNames = ["regions"]

      public init(regions: [MonitoredRegion]) {
        self.regions = regions
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        regions = try fields.required("regions")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "regions", regions)
      }
    }
  }
}

extension ApplicationInterface {
  /// Returns whether the application may learn the location. If nothing is decided, the daemon asks
  /// the user, as in StartUpdatingLocation. With this call, an application chooses when the daemon
  /// asks the user. The application needs an event stream.
  public enum RequestLocationAuthorization: InterfaceMethod {
    public static let name = "org.taskschedd.Application.RequestLocationAuthorization"

    public typealias Input = NoFields

    public struct Output: WireStructure {
      public var authorization: LocationAuthorization

      public static let fieldNames = ["authorization"]

      public init(authorization: LocationAuthorization) {
        self.authorization = authorization
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        authorization = try fields.required("authorization")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "authorization", authorization)
      }
    }
  }
}

extension ApplicationInterface {
  /// Makes a connected stream socket a managed socket. While the application is suspended, the
  /// daemon monitors the socket and does not read from it. When data arrives, the daemon resumes
  /// the application and sends a socketEvent.
  ///
  /// `socket` is the cookie of the socket (SO_COOKIE). It stays the same if the application calls
  /// ManageSocket for the socket again. The application needs the background mode voip.
  public enum ManageSocket: InterfaceMethod {
    public static let name = "org.taskschedd.Application.ManageSocket"

    public struct Input: WireStructure {
      public var socketFileDescriptor: FileDescriptorIndex

      public static let fieldNames = ["socketFileDescriptor"]

      public init(socketFileDescriptor: FileDescriptorIndex) {
        self.socketFileDescriptor = socketFileDescriptor
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        socketFileDescriptor = try fields.required("socketFileDescriptor")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "socketFileDescriptor", socketFileDescriptor)
      }
    }

    public struct Output: WireStructure {
      public var socket: Int

      public static let fieldNames = ["socket"]

      public init(socket: Int) {
        self.socket = socket
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        socket = try fields.required("socket")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "socket", socket)
      }
    }
  }
}

extension ApplicationInterface {
  /// Ends the management of a socket. An application need not call this for a managed socket that
  /// it closes: the daemon does not keep the connection open.
  public enum ReleaseSocket: InterfaceMethod {
    public static let name = "org.taskschedd.Application.ReleaseSocket"

    public struct Input: WireStructure {
      public var socket: Int

      public static let fieldNames = ["socket"]

      public init(socket: Int) {
        self.socket = socket
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        socket = try fields.required("socket")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "socket", socket)
      }
    }

    public typealias Output = NoFields
  }
}

extension ApplicationInterface {
  /// Schedules a local notification, or presents it now if `schedule` is null. The daemon stores
  /// the notification durably before it replies, and keeps it at least until it has been shown or
  /// cancelled.
  ///
  /// The error QuotaExceeded names the exhausted quota. MaxNotificationsPerApplication limits the
  /// scheduled notifications of an application. MaxNotificationsPerUser limits the scheduled and
  /// fired notifications of all applications of a user.
  public enum ScheduleNotification: InterfaceMethod {
    public static let name = "org.taskschedd.Application.ScheduleNotification"

    public struct Input: WireStructure {
      public var content: NotificationContent
      public var schedule: NotificationSchedule?

      public static let fieldNames = ["content", "schedule"]

      public init(content: NotificationContent, schedule: NotificationSchedule? = nil) {
        self.content = content
        self.schedule = schedule
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        content = try fields.required("content")
        schedule = try fields.optional("schedule")
      }

      public func writeFields(to object: inout [UInt8]) {
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

extension ApplicationInterface {
  /// Lists the application's notifications in the order of their ids, in pages. A page begins after
  /// the id `after`; null selects the first page. To get the next page, pass `next` as `after`. In
  /// the last page, `next` is null. A page has at most 256 notifications and at most 256 KiB of
  /// texts. A larger notification has a page of its own.
  ///
  /// Of the notifications that were presented and do not fire again, the daemon keeps the latest
  /// 128 of each application, and the latest 1024 of each user.
  public enum ListNotifications: InterfaceMethod {
    public static let name = "org.taskschedd.Application.ListNotifications"

    public struct Input: WireStructure {
      public var after: Int?

      public static let fieldNames = ["after"]

      public init(after: Int? = nil) {
        self.after = after
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        after = try fields.optional("after")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "after", after)
      }
    }

    public struct Output: WireStructure {
      public var notifications: [Notification]
      public var next: Int?

      public static let fieldNames = ["notifications", "next"]

      public init(notifications: [Notification], next: Int? = nil) {
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

extension ApplicationInterface {
  /// Cancels a notification or, if `notification` is null, all notifications of the application. If
  /// the desktop still shows a cancelled notification, the daemon closes it. `cancelled` lists the
  /// ids of all cancelled notifications.
  public enum CancelNotifications: InterfaceMethod {
    public static let name = "org.taskschedd.Application.CancelNotifications"

    public struct Input: WireStructure {
      public var notification: Int?

      public static let fieldNames = ["notification"]

      public init(notification: Int? = nil) {
        self.notification = notification
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        notification = try fields.optional("notification")
      }

      public func writeFields(to object: inout [UInt8]) {
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

extension ApplicationInterface {
  /// Sets the application's badge, at most 999999999; 0 removes it.
  public enum SetBadge: InterfaceMethod {
    public static let name = "org.taskschedd.Application.SetBadge"

    public struct Input: WireStructure {
      public var badge: Int

      public static let fieldNames = ["badge"]

      public init(badge: Int) {
        self.badge = badge
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        badge = try fields.required("badge")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "badge", badge)
      }
    }

    public typealias Output = NoFields
  }
}

extension ApplicationInterface {
  /// Sets the snapshot of the application: the picture that the application switcher shows in place
  /// of the icon. Each call replaces the earlier snapshot. If `snapshotFileDescriptor` is null and
  /// `sensitive` is not true, the call removes the snapshot.
  ///
  /// The application may call this at any time while it runs. The usual time is before it
  /// acknowledges didEnterBackground. With `sensitive`, the switcher shows only the icon, and the
  /// daemon keeps no picture.
  ///
  /// The descriptor is a memfd or another file of tmpfs, open for reading. The daemon accepts no
  /// other file, because reading another file could block the daemon. The file contains a PNG image
  /// of at most 1 MiB, 16384 pixels in each direction, and 33554432 pixels in total. The daemon
  /// copies the whole file, from its start, before it replies. A later change of the file has no
  /// effect.
  ///
  /// The daemon keeps the picture in memory until it is replaced, until the application is removed
  /// from the switcher, or until the application has ended and no manifest says how to launch it
  /// again. A restart of the daemon does not delete the picture, but a stop of the daemon does. At
  /// most MaxSnapshotsPerUser (64 by default) applications of a user have a picture. Beyond this
  /// number, the least recently active applications lose their pictures.
  public enum SetSnapshot: InterfaceMethod {
    public static let name = "org.taskschedd.Application.SetSnapshot"

    public struct Input: WireStructure {
      public var snapshotFileDescriptor: FileDescriptorIndex?
      public var sensitive: Bool?

      public static let fieldNames = ["snapshotFileDescriptor", "sensitive"]

      public init(snapshotFileDescriptor: FileDescriptorIndex? = nil, sensitive: Bool? = nil) {
        self.snapshotFileDescriptor = snapshotFileDescriptor
        self.sensitive = sensitive
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        snapshotFileDescriptor = try fields.optional("snapshotFileDescriptor")
        sensitive = try fields.optional("sensitive")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "snapshotFileDescriptor", snapshotFileDescriptor)
        object.append(field: "sensitive", sensitive)
      }
    }

    public typealias Output = NoFields
  }
}

extension ApplicationInterface {
  /// Returns the state of the calling instance.
  public enum GetStatus: InterfaceMethod {
    public static let name = "org.taskschedd.Application.GetStatus"

    public typealias Input = NoFields

    public struct Output: WireStructure {
      public var application: String
      public var instance: Int
      public var state: State
      /// null means unlimited: in the foreground, and while a debugger traces the application.
      public var backgroundTimeRemainingUSec: Int?
      public var tasks: [BackgroundTask]

      public static let fieldNames = [
        "application", "instance", "state", "backgroundTimeRemainingUSec", "tasks",
      ]

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

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
        instance = try fields.required("instance")
        state = try fields.required("state")
        backgroundTimeRemainingUSec = try fields.optional("backgroundTimeRemainingUSec")
        tasks = try fields.required("tasks")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "instance", instance)
        object.append(field: "state", state)
        object.append(field: "backgroundTimeRemainingUSec", backgroundTimeRemainingUSec)
        object.append(field: "tasks", tasks)
      }
    }
  }
}
