// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// The running instance of an application. org.taskschedd.Application defines the term.
  public struct Instance: WireStructure {
    public var id: Int
    /// The leader's pid. The kernel may reuse a pid; compare `startTime` too, which is field 22 of
    /// /proc/PID/stat.
    public var pid: Int
    public var startTime: Int
    /// True when the instance has opened its event stream.
    public var aware: Bool
    public var launchReason: LaunchReason
    public var startedAtUSec: Int
    /// The reason why the daemon is terminating it; null if the daemon is not terminating it.
    public var ending: EndKind?
    /// True while the daemon is stopping the processes of the instance and not all of them have
    /// stopped yet.
    public var suspending: Bool
    /// The application whose activation at the same seat made this one inactive or sent it to the
    /// background. null if there was another cause, or if the caller may not see that application.
    public var displacedBy: String?
    public var entitlements: [Entitlement]
    /// The number of unacknowledged callbacks, including those that wait to be sent.
    public var callbacksPending: Int
    public var backgroundTimeRemainingUSec: Int?
    public var tasks: [BackgroundTask]
    public var keepAlive: KeepAlive?
    /// The number of managed sockets.
    public var managedSockets: Int
    /// The number of system changes that it gets when it is resumed.
    public var heldChanges: Int
    /// Without the reports of a session agent, only calling and onHold are possible.
    public var audio: [AudioUse]
    /// The application that interrupts the audio of this instance. null if no application
    /// interrupts the audio, for example because a phone call does.
    public var interruptedBy: String?
    /// The application because of which the daemon has lowered the volume of this instance. null if
    /// the volume is not lowered, and while the daemon restores the volume.
    public var duckedBy: String?
    /// The effect of the background rules. null while the rules do not apply: in the foreground,
    /// and while audio or location updates entitle the instance to run. Even then, the field is set
    /// while the instance is throttled, or if the daemon could not restore one of its priorities.
    public var resources: Resources?
    /// The systemd unit of its leader; null if it has none. Only GetApplication and Explain return
    /// it.
    public var unit: String?

    public static let fieldNames = [
      "id", "pid", "startTime", "aware", "launchReason", "startedAtUSec", "ending", "suspending",
      "displacedBy", "entitlements", "callbacksPending", "backgroundTimeRemainingUSec", "tasks",
      "keepAlive", "managedSockets", "heldChanges", "audio", "interruptedBy", "duckedBy",
      "resources", "unit",
    ]

    public init(
      id: Int, pid: Int, startTime: Int, aware: Bool, launchReason: LaunchReason,
      startedAtUSec: Int, ending: EndKind? = nil, suspending: Bool, displacedBy: String? = nil,
      entitlements: [Entitlement], callbacksPending: Int, backgroundTimeRemainingUSec: Int? = nil,
      tasks: [BackgroundTask], keepAlive: KeepAlive? = nil, managedSockets: Int, heldChanges: Int,
      audio: [AudioUse], interruptedBy: String? = nil, duckedBy: String? = nil,
      resources: Resources? = nil, unit: String? = nil
    ) {
      self.id = id
      self.pid = pid
      self.startTime = startTime
      self.aware = aware
      self.launchReason = launchReason
      self.startedAtUSec = startedAtUSec
      self.ending = ending
      self.suspending = suspending
      self.displacedBy = displacedBy
      self.entitlements = entitlements
      self.callbacksPending = callbacksPending
      self.backgroundTimeRemainingUSec = backgroundTimeRemainingUSec
      self.tasks = tasks
      self.keepAlive = keepAlive
      self.managedSockets = managedSockets
      self.heldChanges = heldChanges
      self.audio = audio
      self.interruptedBy = interruptedBy
      self.duckedBy = duckedBy
      self.resources = resources
      self.unit = unit
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      id = try fields.required("id")
      pid = try fields.required("pid")
      startTime = try fields.required("startTime")
      aware = try fields.required("aware")
      launchReason = try fields.required("launchReason")
      startedAtUSec = try fields.required("startedAtUSec")
      ending = try fields.optional("ending")
      suspending = try fields.required("suspending")
      displacedBy = try fields.optional("displacedBy")
      entitlements = try fields.required("entitlements")
      callbacksPending = try fields.required("callbacksPending")
      backgroundTimeRemainingUSec = try fields.optional("backgroundTimeRemainingUSec")
      tasks = try fields.required("tasks")
      keepAlive = try fields.optional("keepAlive")
      managedSockets = try fields.required("managedSockets")
      heldChanges = try fields.required("heldChanges")
      audio = try fields.required("audio")
      interruptedBy = try fields.optional("interruptedBy")
      duckedBy = try fields.optional("duckedBy")
      resources = try fields.optional("resources")
      unit = try fields.optional("unit")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "id", id)
      object.append(field: "pid", pid)
      object.append(field: "startTime", startTime)
      object.append(field: "aware", aware)
      object.append(field: "launchReason", launchReason)
      object.append(field: "startedAtUSec", startedAtUSec)
      object.append(field: "ending", ending)
      object.append(field: "suspending", suspending)
      object.append(field: "displacedBy", displacedBy)
      object.append(field: "entitlements", entitlements)
      object.append(field: "callbacksPending", callbacksPending)
      object.append(field: "backgroundTimeRemainingUSec", backgroundTimeRemainingUSec)
      object.append(field: "tasks", tasks)
      object.append(field: "keepAlive", keepAlive)
      object.append(field: "managedSockets", managedSockets)
      object.append(field: "heldChanges", heldChanges)
      object.append(field: "audio", audio)
      object.append(field: "interruptedBy", interruptedBy)
      object.append(field: "duckedBy", duckedBy)
      object.append(field: "resources", resources)
      object.append(field: "unit", unit)
    }
  }
}
