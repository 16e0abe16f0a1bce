import Glibc
import LinuxSystem
import TaskSchedulerWire

/// An open event stream.
struct EventStream: Sendable {
  typealias Register = ApplicationInterface.Register

  let connection: Connection
  let replies: Connection.Replies<Register>
  let registration: ApplicationInterface.Registration

  static func open(
    id: String, background: Bool, at socketPath: SocketPath,
    connected: (Connection) -> Void = { _ in }
  ) throws(ApplicationError) -> EventStream {
    do {
      let connection = try Connection.connect(to: socketPath)
      connected(connection)
      let replies = try connection.callMore(
        Register.self, .init(application: id, background: background ? true : nil))
      let first = try replies.next(timeout: CallConnection.answerTimeout)
      guard let registration = first?.registered else {
        throw ConnectionError.unreadableAnswer(
          method: Register.name,
          ParameterError(parameter: "registered", problem: "the first reply must contain it"))
      }
      return EventStream(connection: connection, replies: replies, registration: registration)
    } catch {
      throw ApplicationError(error)
    }
  }
}

extension ScheduledApplication {
  /// Starts the thread that reads this stream and the streams that later replace it.
  func read(_ stream: EventStream, at socketPath: SocketPath) throws(SystemError) {
    streamConnection.withLock { $0 = stream.connection }
    try DetachedThread.start { self.run(stream, at: socketPath) }
  }

  private func run(_ first: EventStream, at socketPath: SocketPath) {
    var stream = first
    while true {
      resynchronise(stream.registration)
      let error = readEvents(of: stream)
      stream.connection.close()
      if isFinal(error) { return end(error) }
      switch reconnect(at: socketPath) {
      case .success(let next): stream = next
      case .failure(let error): return end(error)
      }
    }
  }

  /// Reads until the stream breaks, and returns the reason.
  private func readEvents(of stream: EventStream) -> ApplicationError {
    do {
      while let reply = try stream.replies.next() {
        if let callback = reply.callback { received(callback) }
        if let expiration = reply.expiration {
          call(state.withLock { $0.expired(expiration.task) })
        }
        if let event = reply.socketEvent { received(event) }
        if let changes = reply.systemChanges {
          deliver(.systemDidChange(changes.map { SystemChange($0) }))
        }
        if let event = reply.notification { received(event) }
        if reply.memoryWarning == true { deliver(.didReceiveMemoryWarning) }
        if let command = reply.remoteCommand {
          deliver(.didReceiveRemoteCommand(RemoteCommand(command)), id: command.id)
        }
        if let interruption = reply.audioInterruption {
          deliver(
            .didReceiveAudioInterruption(AudioInterruption(interruption)), id: interruption.id)
        }
        if let call = reply.call { deliver(.didSetCallOnHold(call.onHold), id: call.id) }
        receivedLocation(reply)
      }
      return .disconnected
    } catch {
      return ApplicationError(error)
    }
  }

  /// Returns whether another connection would fail for the same reason.
  private func isFinal(_ error: ApplicationError) -> Bool {
    switch error {
    case .noDaemon, .notPermitted, .disconnected, .connectionFailed:
      state.withLock { $0.end != nil }
    case .refused(.notRegistered), .refused(.quotaExceeded), .refused(.stateNotSaved): false
    case .refused, .closed: true
    }
  }

  /// Connects again. Tries at once, then with growing pauses.
  private func reconnect(at socketPath: SocketPath) -> Result<EventStream, ApplicationError> {
    var delays = RetryDelays()
    while true {
      if isClosed(within: delays.take()) { return .failure(.closed) }
      do throws(ApplicationError) {
        let background = state.withLock { state in
          state.willRegister()
          return state.isInBackground
        }
        return .success(
          try EventStream.open(id: id, background: background, at: socketPath) { connection in
            streamConnection.withLock { $0 = connection }
            // The application may have called `close()` before this connection existed.
            if isClosed(within: .zero) { connection.close() }
          })
      } catch {
        if isFinal(error) { return .failure(error) }
      }
    }
  }

  /// Ends the registration permanently.
  private func end(_ error: ApplicationError) {
    let isFirst = state.withLock { state in
      defer { state.end = state.end ?? error }
      return state.end == nil
    }
    guard isFirst else { return }
    shutDown()
    sink.finish(error, of: self)
  }

  // MARK: - Events

  private func resynchronise(_ registration: ApplicationInterface.Registration) {
    let (result, mustReport) = state.withLock { state in
      (state.registered(registration), state.mustReport)
    }
    if !result.lost.isEmpty {
      deliver(.didLoseBackgroundTasks(result.lost))
    }
    for handler in result.handlers { call(handler) }
    if mustReport { reportLater() }
    restore()
  }

  private func received(_ callback: ApplicationInterface.Callback) {
    let action = state.withLock { $0.received(callback) }
    if callback.kind == .didFinishLaunching, state.withLock({ $0.restoration }) != nil {
      sockets.withLock { $0.forgetNumbers() }
      restore()
    }
    switch action {
    case .deliver(let event):
      sink.deliver(Delivery(event) { self.acknowledge(callback.id) }, to: self)
    case .callKeepAlive: callKeepAlive(callback.id)
    case .acknowledge: queue.async { self.acknowledge(callback.id) }
    case .none: break
    }
  }

  /// Delivers the event of a location service, if the message has one.
  private func receivedLocation(_ message: EventStream.Register.Output) {
    if let location = message.location { deliver(.didUpdateLocation(Location(location))) }
    if let change = message.significantLocationChange {
      deliver(.didChangeLocationSignificantly(Location(change.location)), id: change.id)
    }
    if let event = message.region {
      let crossing = RegionCrossing(event)
      deliver(event.inside ? .didEnterRegion(crossing) : .didExitRegion(crossing), id: event.id)
    }
    if let authorization = message.locationAuthorization {
      deliver(.didChangeLocationAuthorization(LocationAuthorization(authorization)))
    }
  }

  private func received(_ event: ApplicationInterface.NotificationEvent) {
    let notification = LocalNotification(event.notification)
    deliver(event.chosen ? .didSelect(notification) : .didReceive(notification))
  }

  /// Delivers an event with an id, by which the application acknowledges the event. Does not
  /// deliver an event twice.
  private func deliver(_ event: ApplicationEvent, id: Int) {
    switch state.withLock({ $0.received(event: id) }) {
    case .deliver: sink.deliver(Delivery(event) { self.acknowledge(id) }, to: self)
    case .acknowledge: queue.async { self.acknowledge(id) }
    case .none: break
    }
  }

  /// Delivers an event for which the daemon awaits no acknowledgement.
  func deliver(_ event: ApplicationEvent) {
    sink.deliver(Delivery(event), to: self)
  }

  /// Calls an expiration handler on the queue.
  func call(_ handler: ClientState.Handler?) {
    if let handler { queue.async(execute: handler) }
  }
}
