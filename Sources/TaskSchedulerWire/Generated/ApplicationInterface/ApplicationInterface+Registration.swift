// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// What the daemon knows about an instance when its event stream opens. After a reconnection, the
  /// application corrects its own records: a task that is not listed has ended, and the application
  /// must end a task that is marked as expired.
  public struct Registration: WireStructure {
    public var application: String
    public var instance: Int
    public var state: State
    public var launchReason: LaunchReason
    /// The identifier of the region that was entered or left, if the crossing was the reason for
    /// the launch. The event stream also reports the crossing, in the field region.
    public var launchRegion: String?
    /// The background modes of the instance: audio, location, voip. The manifest declares them,
    /// unless org.taskschedd.Control.Adopt named others.
    public var backgroundModes: [String]
    /// The part of BackgroundTime that is left. null means unlimited: in the foreground, and while
    /// a debugger traces the application.
    public var backgroundTimeRemainingUSec: Int?
    public var tasks: [BackgroundTask]

    public static let fieldNames = [
      "application", "instance", "state", "launchReason", "launchRegion", "backgroundModes",
      "backgroundTimeRemainingUSec", "tasks",
    ]

    public init(
      application: String, instance: Int, state: State, launchReason: LaunchReason,
      launchRegion: String? = nil, backgroundModes: [String],
      backgroundTimeRemainingUSec: Int? = nil, tasks: [BackgroundTask]
    ) {
      self.application = application
      self.instance = instance
      self.state = state
      self.launchReason = launchReason
      self.launchRegion = launchRegion
      self.backgroundModes = backgroundModes
      self.backgroundTimeRemainingUSec = backgroundTimeRemainingUSec
      self.tasks = tasks
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      application = try fields.required("application")
      instance = try fields.required("instance")
      state = try fields.required("state")
      launchReason = try fields.required("launchReason")
      launchRegion = try fields.optional("launchRegion")
      backgroundModes = try fields.required("backgroundModes")
      backgroundTimeRemainingUSec = try fields.optional("backgroundTimeRemainingUSec")
      tasks = try fields.required("tasks")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "application", application)
      object.append(field: "instance", instance)
      object.append(field: "state", state)
      object.append(field: "launchReason", launchReason)
      object.append(field: "launchRegion", launchRegion)
      object.append(field: "backgroundModes", backgroundModes)
      object.append(field: "backgroundTimeRemainingUSec", backgroundTimeRemainingUSec)
      object.append(field: "tasks", tasks)
    }
  }
}
