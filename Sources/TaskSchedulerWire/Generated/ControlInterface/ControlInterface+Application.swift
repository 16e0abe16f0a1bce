// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// An application, whether or not it runs.
  public struct Application: WireStructure {
    public var application: String
    /// The uid that it runs as.
    public var owner: Int
    /// The name that users see, from the manifest.
    public var displayName: String?
    public var state: State
    public var stateSinceUSec: Int
    /// Its seat: a graphical session or a terminal. At most one application is active at each seat.
    /// When another application is activated at the same seat, this one goes to the background, or
    /// becomes inactive if the daemon knows its windows. The seat is the first of these that
    /// applies:
    /// - `seat0`, ...: the seat that the manifest names, which several users may share
    /// - `SESSION/pts/N:SID`: the controlling terminal of the leader, in session SID, if the
    ///   program registered itself or was adopted
    /// - `SESSION/APPLICATION`: a seat of its own, if the program has no terminal and was adopted;
    ///   it displaces no other application
    /// - `session-ID`: a login session other than the user's graphical session, such as an ssh
    ///   session, if the program registered itself there and has no terminal
    /// - `user-UID`: the graphical session of the user, which is the default
    ///
    /// SESSION is session-ID for programs in a login session other than the user's graphical
    /// session, and user-UID for all others. ListSessions returns the sessions of logind that can
    /// show applications.
    public var seat: String
    public var backgroundModes: [String]
    /// False if the manifest opts out of multitasking.
    public var multitasking: Bool
    /// True if a manifest says how to launch it.
    public var launchable: Bool
    /// The location services that it uses. An application can use significantChanges and regions
    /// even while it does not run.
    public var location: [LocationService]
    /// Whether it may learn the location, and why the location is denied; null if it uses no
    /// service.
    public var locationAuthorization: LocationAuthorization?
    public var locationDenial: LocationDenial?
    /// The position in the application switcher: 1 for the most recently active application, and
    /// null if the application is not in the switcher. See ListSwitcher.
    public var switcherPosition: Int?
    public var snapshot: SnapshotKind
    public var instance: Instance?
    public var lastEnd: End?
    /// Its last launch, if the launch failed and the application has not run since.
    public var launchFailure: LaunchFailure?
    public var nextLaunch: NextLaunch?
    /// The process that an earlier daemon released when that daemon stopped, if the process still
    /// runs. No daemon manages it.
    public var unmanagedPID: Int?
    /// The number of its scheduled notifications.
    public var scheduledNotifications: Int
    public var badge: Int?
    /// The last operation on its processes that failed, as a sentence. The daemon tries the
    /// operation again.
    public var problem: String?

    public static let fieldNames = [
      "application", "owner", "displayName", "state", "stateSinceUSec", "seat", "backgroundModes",
      "multitasking", "launchable", "location", "locationAuthorization", "locationDenial",
      "switcherPosition", "snapshot", "instance", "lastEnd", "launchFailure", "nextLaunch",
      "unmanagedPID", "scheduledNotifications", "badge", "problem",
    ]

    public init(
      application: String, owner: Int, displayName: String? = nil, state: State,
      stateSinceUSec: Int, seat: String, backgroundModes: [String], multitasking: Bool,
      launchable: Bool, location: [LocationService],
      locationAuthorization: LocationAuthorization? = nil, locationDenial: LocationDenial? = nil,
      switcherPosition: Int? = nil, snapshot: SnapshotKind, instance: Instance? = nil,
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
      self.location = location
      self.locationAuthorization = locationAuthorization
      self.locationDenial = locationDenial
      self.switcherPosition = switcherPosition
      self.snapshot = snapshot
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
      location = try fields.required("location")
      locationAuthorization = try fields.optional("locationAuthorization")
      locationDenial = try fields.optional("locationDenial")
      switcherPosition = try fields.optional("switcherPosition")
      snapshot = try fields.required("snapshot")
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
      object.append(field: "location", location)
      object.append(field: "locationAuthorization", locationAuthorization)
      object.append(field: "locationDenial", locationDenial)
      object.append(field: "switcherPosition", switcherPosition)
      object.append(field: "snapshot", snapshot)
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
