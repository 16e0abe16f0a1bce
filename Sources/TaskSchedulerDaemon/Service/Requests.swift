import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire

/// The calls that wait for the scheduler's answer.
final class Requests {
  /// The methods whose answers differ.
  enum Method: String {
    case register, acknowledge, beginBackgroundTask, endBackgroundTask
    case setKeepAlive, manageSocket, releaseSocket
    case scheduleNotification, cancelNotifications, setBadge
    case launch, adopt, activate, deactivate, sendToBackground, terminate
    case postNotification, cancelApplicationsNotifications, postSystemChange, warnMemory

    /// Whether an application calls for itself, rather than an operator.
    var isApplications: Bool {
      switch self {
      case .register, .acknowledge, .beginBackgroundTask, .endBackgroundTask, .setKeepAlive,
        .manageSocket, .releaseSocket, .scheduleNotification, .cancelNotifications, .setBadge:
        true
      case .launch, .adopt, .activate, .deactivate, .sendToBackground, .terminate,
        .postNotification, .cancelApplicationsNotifications, .postSystemChange, .warnMemory:
        false
      }
    }
  }

  private struct Waiting {
    let connection: Connection
    let method: Method
    let application: String
  }

  private var waiting: [RequestID: Waiting] = [:]
  private(set) var numberLast: UInt64
  private let eventLog: EventLog

  /// - Parameter numberLast: The highest number of a request so far.
  init(eventLog: EventLog, numberLast: UInt64) {
    self.eventLog = eventLog
    self.numberLast = numberLast
  }

  /// Whether a crash would make the daemon forget what it promises now. Asking is another attempt
  /// to write the event log.
  var isForgetful: Bool { !eventLog.isWhole(at: .sinceBoot()) }

  /// - Parameter application: The application's id as in the call, for errors.
  func open(_ connection: Connection, _ method: Method, application: String) -> RequestID {
    numberLast += 1
    let id = RequestID(numberLast)
    restore(id, connection, method, application: application)
    return id
  }

  /// Restores a waiting call from an earlier daemon.
  func restore(
    _ id: RequestID, _ connection: Connection, _ method: Method, application: String
  ) {
    waiting[id] = Waiting(connection: connection, method: method, application: application)
    connection.request = id
  }

  /// Notes a call that waits after the scheduler has handled it, so that the next daemon knows it.
  func noteIfWaiting(_ id: RequestID) {
    guard let connection = waiting[id]?.connection, let held = held(connection) else { return }
    connection.willWait()
    eventLog.note(.waiting(held, connection: connection.cookie))
  }

  /// Returns the call that a connection waits for; nil if there is none.
  func held(_ connection: Connection) -> Holdings.Waiting? {
    guard let id = connection.request, let request = waiting[id] else { return nil }
    return Holdings.Waiting(
      request: id, method: request.method.rawValue, application: request.application,
      isOneway: connection.isOneway)
  }

  /// Forgets the call of a closed connection, so that the connection's descriptor is not kept for
  /// it.
  func forget(_ connection: Connection) {
    if let id = connection.request { waiting[id] = nil }
  }

  /// Returns the connection of a call.
  func connection(of id: RequestID) -> Connection? { waiting[id]?.connection }

  /// Sends the scheduler's answer.
  func answer(_ id: RequestID, _ reply: TaskSchedulerCore.Reply) {
    guard let request = waiting.removeValue(forKey: id) else { return }
    let connection = request.connection
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
      answerStarted(request, instance, leader)
    case .ended(let end):
      connection.reply(ControlInterface.Terminate.Output(end: .init(end)))
    case .managed(let socket):
      connection.reply(
        ApplicationInterface.ManageSocket.Output(socket: Int(clamping: socket.number)))
    case .scheduled(let id):
      // The answer has the same form as that of `PostNotification`.
      connection.reply(
        ApplicationInterface.ScheduleNotification.Output(notification: Int(clamping: id.number)))
    case .cancelled(let ids):
      connection.reply(
        ApplicationInterface.CancelNotifications.Output(
          cancelled: ids.map { Int(clamping: $0.number) }))
    case .refused(let refusal):
      refuse(request, refusal)
    }
  }

  private func answerStarted(_ request: Waiting, _ instance: InstanceID, _ leader: Leader) {
    let number = Int(clamping: instance.number)
    switch request.method {
    case .launch:
      request.connection.reply(
        ControlInterface.Launch.Output(instance: number, pid: Int(leader.pid)))
    case .adopt:
      request.connection.reply(ControlInterface.Adopt.Output(instance: number))
    case .activate:
      request.connection.reply(NoFields())
    case .register, .acknowledge, .beginBackgroundTask, .endBackgroundTask, .setKeepAlive,
      .manageSocket, .releaseSocket, .scheduleNotification, .cancelNotifications, .setBadge,
      .deactivate, .sendToBackground, .terminate, .postNotification,
      .cancelApplicationsNotifications, .postSystemChange, .warnMemory:
      preconditionFailure("no answer to \(request.method) starts an instance")
    }
  }

  private func refuse(_ request: Waiting, _ refusal: Refusal) {
    if request.method.isApplications {
      request.connection.fail(refusal.failure(toApplication: request.application))
    } else {
      request.connection.fail(refusal.failure(toOperator: request.application))
    }
  }
}
