import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire

/// The calls that wait for the scheduler's answer.
final class Requests {
  private var connections: [RequestID: Connection] = [:]
  /// The newest call. The scheduler answers most calls at once, so they never enter `connections`.
  private var newest: (id: RequestID, connection: Connection)?
  private(set) var numberLast: UInt64
  private let eventLog: EventLog
  /// The full name of the current method.
  var method = ""

  /// - Parameter numberLast: The highest number of a request so far.
  init(eventLog: EventLog, numberLast: UInt64) {
    self.eventLog = eventLog
    self.numberLast = numberLast
  }

  /// Whether the daemon would forget a granted request in a crash, because it cannot write the
  /// event log. Reading this property makes the daemon try to write the event log again.
  var isForgetful: Bool { !eventLog.isWhole(at: .sinceBoot()) }

  /// Opens a request for the current call.
  ///
  /// - Parameter application: The application's id as the client wrote it, for error messages.
  func open(_ connection: Connection, application: String) -> RequestID {
    numberLast += 1
    let id = RequestID(numberLast)
    let waiting = DaemonState.Waiting(
      request: id, method: method, application: application,
      takesMore: connection.takesMore, isOneway: connection.isOneway)
    keepNewest()
    newest = (id, connection)
    connection.waiting = waiting
    return id
  }

  /// Returns a new request of the daemon itself. The scheduler's answer is discarded.
  func openOwn() -> RequestID {
    numberLast += 1
    return RequestID(numberLast)
  }

  /// Moves the newest call to `connections`.
  private func keepNewest() {
    guard let newest else { return }
    connections[newest.id] = newest.connection
    self.newest = nil
  }

  /// Restores a waiting call from an earlier daemon.
  func restore(_ waiting: DaemonState.Waiting, _ connection: Connection) {
    connections[waiting.request] = connection
    connection.waiting = waiting
  }

  /// Saves the connection of a call that still waits after the scheduler has handled it, so that
  /// the next daemon can answer.
  func saveIfWaiting(_ id: RequestID) { connection(of: id)?.willWait() }

  /// Removes the call of a closed connection, so that the connection's descriptor can be closed.
  func forget(_ connection: Connection) {
    if let waiting = connection.waiting { _ = remove(waiting.request) }
  }

  /// Returns the connection of a call.
  func connection(of id: RequestID) -> Connection? {
    if let newest, newest.id == id { return newest.connection }
    return connections[id]
  }

  /// Removes a call. Returns its connection; nil if the call no longer waits.
  private func remove(_ id: RequestID) -> Connection? {
    guard let newest, newest.id == id else { return connections.removeValue(forKey: id) }
    self.newest = nil
    return newest.connection
  }

  /// Sends the scheduler's answer.
  func answer(_ id: RequestID, _ reply: TaskSchedulerCore.Reply) {
    guard let connection = remove(id), let call = connection.waiting else { return }
    connection.waiting = nil
    switch reply {
    case .done:
      connection.reply(NoFields())
    case .began(let task, let remaining):
      connection.reply(
        ApplicationInterface.BeginBackgroundTask.Output(
          task: Int(clamping: task.number),
          backgroundTimeRemainingUSec: remaining?.microseconds))
    case .registered(let registration):
      connection.reply(
        ApplicationInterface.Register.Output(registered: .init(registration)), continues: true)
    case .started(let instance, let leader):
      answerStarted(call, connection, instance, leader)
    case .ended(let end):
      connection.reply(ControlInterface.Terminate.Output(end: .init(end)))
    case .managed(let socket):
      connection.reply(
        ApplicationInterface.ManageSocket.Output(socket: Int(clamping: socket.number)))
    case .scheduled(let id):
      // The answer to `PostNotification` has the same form, so this case serves both methods.
      connection.reply(
        ApplicationInterface.ScheduleNotification.Output(notification: Int(clamping: id.number)))
    case .cancelled(let ids):
      connection.reply(
        ApplicationInterface.CancelNotifications.Output(
          cancelled: ids.map { Int(clamping: $0.number) }))
    case .controlled(let key):
      connection.reply(ControlInterface.RemoteControl.Output(application: key.id.name))
    case .located(let authorization):
      // The answers to the other methods that start a location service have the same form.
      connection.reply(
        ApplicationInterface.RequestLocationAuthorization.Output(
          authorization: .init(authorization)))
    case .refused(let refusal):
      refuse(call, connection, refusal)
    }
  }

  private func answerStarted(
    _ call: DaemonState.Waiting, _ connection: Connection, _ instance: InstanceID, _ leader: Leader
  ) {
    let number = Int(clamping: instance.number)
    switch call.method {
    case ControlInterface.Launch.name:
      connection.reply(ControlInterface.Launch.Output(instance: number, pid: Int(leader.pid)))
    case ControlInterface.Adopt.name:
      connection.reply(ControlInterface.Adopt.Output(instance: number))
    case ControlInterface.Activate.name:
      connection.reply(NoFields())
    default: preconditionFailure("no answer to \(call.method) starts an instance")
    }
  }

  private func refuse(
    _ call: DaemonState.Waiting, _ connection: Connection, _ refusal: Refusal
  ) {
    if call.method.hasPrefix(ApplicationInterface.name + ".") {
      connection.fail(refusal.failure(toApplication: call.application))
    } else {
      connection.fail(refusal.failure(toOperator: call.application))
    }
  }
}
