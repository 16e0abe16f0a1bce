/// A request of an application. The daemon has determined the instance of the caller.
public enum ApplicationEvent: Equatable, Sendable {
  /// A process that belongs to no instance opened an event stream. The scheduler makes the process
  /// the leader of a new instance.
  case register(RequestID, ApplicationKey, Leader, target: LaunchTarget, seat: SeatID)
  /// A process of the instance opened an event stream and named an application.
  case openStream(RequestID, InstanceID, named: ApplicationID)
  /// The event stream was closed.
  case streamClosed(InstanceID)
  case acknowledge(RequestID, InstanceID, CallbackID)
  case beginBackgroundTask(RequestID, InstanceID, name: String?)
  case endBackgroundTask(RequestID, InstanceID, TaskID)
  /// The application set the interval of its keep-alive handler; nil removes the handler.
  case setKeepAlive(RequestID, InstanceID, interval: Duration?)
  /// The application has begun a phone call.
  case beginCall(RequestID, InstanceID)
  case endCall(RequestID, InstanceID)
  /// The application set its audio session.
  case setAudioSession(RequestID, InstanceID, AudioSession)

  var request: RequestID? {
    switch self {
    case .register(let request, _, _, _, _), .openStream(let request, _, _),
      .acknowledge(let request, _, _), .beginBackgroundTask(let request, _, _),
      .endBackgroundTask(let request, _, _), .setKeepAlive(let request, _, _),
      .beginCall(let request, _), .endCall(let request, _),
      .setAudioSession(let request, _, _):
      request
    case .streamClosed: nil
    }
  }
}

extension Scheduler {
  mutating func handle(_ event: ApplicationEvent, in turn: inout Turn) {
    switch event {
    case .register(let request, let key, let leader, let target, let seat):
      register(request, key, leader, target: target, seat: seat, in: &turn)
    case .openStream(let request, let id, let name):
      openStream(request, id, named: name, in: &turn)
    case .streamClosed(let id):
      updateInstance(id, in: &turn) { instance, _ in instance.closeStream() }
    case .acknowledge(let request, let id, let callback):
      updateInstance(id, orRefuse: request, in: &turn) {
        $0.acknowledge(callback, request: request, in: &$1)
      }
      // Reports about the location wait while the application has too many unacknowledged events.
      // This acknowledgement may make room for them.
      if let key = instances.boxes[id]?.value.application { tellWaiting(of: key, in: &turn) }
    case .beginBackgroundTask(let request, let id, let name):
      // Reads the owner from the box, because an access to the instance would copy the instance.
      let owner = instances.boxes[id]?.value.application.owner
      let count = owner.map { applications.taskCount(of: $0) } ?? 0
      updateInstance(id, orRefuse: request, in: &turn) {
        $0.beginTask(name: name, userCount: count, request: request, in: &$1)
      }
    case .endBackgroundTask(let request, let id, let task):
      updateInstance(id, orRefuse: request, in: &turn) {
        $0.endTask(task, request: request, in: &$1)
      }
    case .setKeepAlive(let request, let id, let interval):
      setKeepAlive(request, id, interval: interval, in: &turn)
    case .beginCall(let request, let id): beginCall(request, id, in: &turn)
    case .endCall(let request, let id): endCall(request, id, in: &turn)
    case .setAudioSession(let request, let id, let session):
      setAudioSession(request, id, session, in: &turn)
    }
  }
}
