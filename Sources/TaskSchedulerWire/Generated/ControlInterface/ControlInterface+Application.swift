// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// An application, running or not.
  public struct Application: WireStructure {
    public var application: String
    /// The uid that it runs as.
    public var owner: Int
    /// A name for people, from the manifest.
    public var displayName: String?
    public var state: State
    public var stateSinceUSec: Int
    /// Its seat: a graphical session or a terminal. One application is in front of each seat,
    /// active or inactive; activating another one there sends it to the background. The seat is the
    /// first of these that applies:
    /// - `seat0`, ...: the `seat` of its manifest, which several users may share
    /// - `user-UID/pts/N:SID`: the controlling terminal of its leader, in session SID, where a
    ///   program registered by itself or was adopted
    /// - `user-UID/APPLICATION`: a seat of its own, where a program without a terminal was adopted;
    ///   it displaces no other application
    /// - `user-UID`: the default: the seat of its user
    ///
    /// A user's own daemon leaves out "user-UID/", and its default is seat0.
    public var seat: String
    public var backgroundModes: [String]
    /// False where the manifest opts out of multitasking.
    public var multitasking: Bool
    /// True where a manifest says how to launch it.
    public var launchable: Bool
    /// Place in the application switcher: 1 is the one most recently active; null if never active.
    public var switcherPosition: Int?
    public var instance: Instance?
    public var lastEnd: End?
    /// How its last launch failed; null where it has run since.
    public var launchFailure: LaunchFailure?
    public var nextLaunch: NextLaunch?
    /// The process that an earlier daemon let go when it stopped, where it runs on: no daemon
    /// manages it.
    public var unmanagedPID: Int?
    /// How many notifications wait for their time.
    public var scheduledNotifications: Int
    public var badge: Int?
    /// What the daemon could not do to its processes, and tries again.
    public var problem: String?

    public static let fieldNames = [
      "application", "owner", "displayName", "state", "stateSinceUSec", "seat", "backgroundModes",
      "multitasking", "launchable", "switcherPosition", "instance", "lastEnd", "launchFailure",
      "nextLaunch", "unmanagedPID", "scheduledNotifications", "badge", "problem",
    ]

    public init(
      application: String, owner: Int, displayName: String? = nil, state: State,
      stateSinceUSec: Int, seat: String, backgroundModes: [String], multitasking: Bool,
      launchable: Bool, switcherPosition: Int? = nil, instance: Instance? = nil,
      lastEnd: End? = nil, launchFailure: LaunchFailure? = nil, nextLaunch: NextLaunch? = nil,
      unmanagedPID: Int? = nil, scheduledNotifications: Int, badge: Int? = nil,
      problem: String? = nil
    ) {
      self.application = application
      self.owner = owner
      self.displayName = displayName
      self.state = state
      self.stateSinceUSec = stateSinceUSec
      self.seat = seat
      self.backgroundModes = backgroundModes
      self.multitasking = multitasking
      self.launchable = launchable
      self.switcherPosition = switcherPosition
      self.instance = instance
      self.lastEnd = lastEnd
      self.launchFailure = launchFailure
      self.nextLaunch = nextLaunch
      self.unmanagedPID = unmanagedPID
      self.scheduledNotifications = scheduledNotifications
      self.badge = badge
      self.problem = problem
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      application = try fields.required("application")
      owner = try fields.required("owner")
      displayName = try fields.optional("displayName")
      state = try fields.required("state")
      stateSinceUSec = try fields.required("stateSinceUSec")
      seat = try fields.required("seat")
      backgroundModes = try fields.required("backgroundModes")
      multitasking = try fields.required("multitasking")
      launchable = try fields.required("launchable")
      switcherPosition = try fields.optional("switcherPosition")
      instance = try fields.optional("instance")
      lastEnd = try fields.optional("lastEnd")
      launchFailure = try fields.optional("launchFailure")
      nextLaunch = try fields.optional("nextLaunch")
      unmanagedPID = try fields.optional("unmanagedPID")
      scheduledNotifications = try fields.required("scheduledNotifications")
      badge = try fields.optional("badge")
      problem = try fields.optional("problem")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "application", application)
      object.append(field: "owner", owner)
      object.append(field: "displayName", displayName)
      object.append(field: "state", state)
      object.append(field: "stateSinceUSec", stateSinceUSec)
      object.append(field: "seat", seat)
      object.append(field: "backgroundModes", backgroundModes)
      object.append(field: "multitasking", multitasking)
      object.append(field: "launchable", launchable)
      object.append(field: "switcherPosition", switcherPosition)
      object.append(field: "instance", instance)
      object.append(field: "lastEnd", lastEnd)
      object.append(field: "launchFailure", launchFailure)
      object.append(field: "nextLaunch", nextLaunch)
      object.append(field: "unmanagedPID", unmanagedPID)
      object.append(field: "scheduledNotifications", scheduledNotifications)
      object.append(field: "badge", badge)
      object.append(field: "problem", problem)
    }
  }
}
