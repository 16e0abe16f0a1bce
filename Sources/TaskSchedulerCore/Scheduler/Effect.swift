/// An action of the daemon. The daemon carries out the effects of an event in their order.
public enum Effect: Equatable, Sendable {
  /// Answers a request.
  case reply(RequestID, Reply)
  /// Sends a callback on the event stream. The launch reason is nil except for didFinishLaunching.
  case deliver(InstanceID, Callback, LaunchReason?)
  /// Tells the application to call the expiration handler of a task.
  case expire(InstanceID, TaskID, remaining: Duration?)
  /// Sends the application a message that is not a callback.
  case notify(InstanceID, Notice)
  case socket(SocketEffect)
  case notification(NotificationEffect)
  /// Starts the program that the manifest names. The daemon answers with the event `spawned` or
  /// `spawnFailed`.
  case spawn(InstanceID, ApplicationKey, reason: LaunchReason)
  /// Makes a process the leader of an instance.
  case manage(InstanceID, Leader, ApplicationKey)
  /// Stops every process. The daemon answers with the event `suspensionCompleted` or
  /// `suspensionFailed`.
  case suspend(InstanceID)
  /// Resumes every process, and stops a suspension in progress.
  case resume(InstanceID)
  /// Sends the leader the stop signal: SIGTERM, or the signal that the application's manifest
  /// names.
  case terminate(InstanceID, Signal)
  /// Sends SIGKILL to every process.
  case kill(InstanceID)
  /// Releases an ended instance: resumes its remaining processes or, with `killing`, kills them.
  /// The daemon also kills them if it launched the instance and the leader has exited.
  case release(InstanceID, killing: Bool)
  /// Checks whether a debugger outside the instance traces one of its processes. The daemon first
  /// handles every request that the application has already sent, and then answers with the event
  /// `tracerChecked`.
  case checkTracer(InstanceID)
  /// Writes a record to the log and to the monitors.
  case record(Record)
  case memory(MemoryEffect)
  case resources(ResourceEffect)
  case audio(AudioEffect)
  case remote(RemoteEffect)
  case location(LocationEffect)
  /// Deletes a picture of the application switcher.
  case dropPicture(SnapshotID)
}

/// The answer to a request.
public enum Reply: Equatable, Sendable {
  case done
  case registered(Registration)
  case began(TaskID, remaining: Duration?)
  case started(InstanceID, Leader)
  case ended(End)
  case managed(SocketID)
  case scheduled(NotificationID)
  case cancelled([NotificationID])
  /// The application that received a command.
  case controlled(ApplicationKey)
  /// The location authorization: the reply when an application starts a location service or
  /// requests authorization. Unless the application is authorized, it receives no locations yet.
  case located(LocationAuthorization)
  case refused(Refusal)
}

/// The state of an instance when it opens its event stream.
public struct Registration: Equatable, Sendable {
  public var application: ApplicationID
  public var instance: InstanceID
  public var state: ApplicationState
  public var launchReason: LaunchReason
  public var backgroundModes: [BackgroundMode]
  /// The remaining background time; nil if it is unlimited.
  public var remaining: Duration?
  public var tasks: [BackgroundTask]
  /// The region whose crossing is the reason for the launch; nil for other launches.
  public var launchRegion: RegionID?
}
