import Glibc
import LinuxSystem
import TaskSchedulerWire

/// An event stream that has been opened.
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
      guard let registration = try replies.next(timeout: CallLine.answerTimeout)?.registered else {
        throw ConnectionError.unreadableAnswer(
          method: Register.name,
          ParameterError(parameter: "registered", problem: "the first reply must hold it"))
      }
      return EventStream(connection: connection, replies: replies, registration: registration)
    } catch {
      throw ApplicationError(error)
    }
  }
}

extension ScheduledApplication {
  /// Starts the thread that reads the stream, and those that follow it.
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

  /// Reads until the stream breaks, and returns why it did.
  private func readEvents(of stream: EventStream) -> ApplicationError {
    do {
      while let reply = try stream.replies.next() {
        if let callback = reply.callback { received(callback) }
        if let expiration = reply.expiration {
          call(ledger.withLock { $0.expired(expiration.task) })
        }
        if let event = reply.socketEvent { received(event) }
        if let changes = reply.systemChanges {
          tell(.systemDidChange(changes.map { SystemChange($0) }))
        }
        if let event = reply.notification { received(event) }
        if reply.memoryWarning == true { tell(.didReceiveMemoryWarning) }
      }
      return .connection(.closedByDaemon)
    } catch {
      return ApplicationError(error)
    }
  }

  /// Whether there is no sense in connecting again.
  private func isFinal(_ error: ApplicationError) -> Bool {
    switch error {
    case .connection: ledger.withLock { $0.end != nil }
    case .refused(.notRegistered), .refused(.quotaExceeded), .refused(.stateNotSaved): false
    case .refused, .invalid, .unknown, .closed: true
    }
  }

  /// Connects again when the daemon is back: an attempt at once, then with growing pauses.
  private func reconnect(at socketPath: SocketPath) -> Result<EventStream, ApplicationError> {
    var pauses = RetryPauses()
    while true {
      if isClosed(within: pauses.take()) { return .failure(.closed) }
      do throws(ApplicationError) {
        let background = ledger.withLock { ledger in
          ledger.willRegister()
          return ledger.isInBackground
        }
        return .success(
          try EventStream.open(id: id, background: background, at: socketPath) { connection in
            streamConnection.withLock { $0 = connection }
            // Closed before it was there to be closed.
            if isClosed(within: .zero) { connection.close() }
          })
      } catch {
        if isFinal(error) { return .failure(error) }
      }
    }
  }

  /// The last word of the reading thread.
  private func end(_ error: ApplicationError) {
    let isNews = ledger.withLock { ledger in
      defer { ledger.end = ledger.end ?? error }
      return ledger.end == nil
    }
    guard isNews else { return }
    shutDown()
    sink.finish(error, of: self)
  }

  // MARK: - What it hears

  private func resynchronise(_ registration: ApplicationInterface.Registration) {
    let (result, owesAnything) = ledger.withLock { ledger in
      (ledger.registered(registration), ledger.owesAnything)
    }
    if !result.lost.isEmpty {
      tell(.didLoseBackgroundTasks(result.lost))
    }
    for handler in result.handlers { call(handler) }
    if owesAnything { payDebtsLater() }
    restoreWakeUps()
  }

  private func received(_ callback: ApplicationInterface.Callback) {
    let action = ledger.withLock { $0.received(callback) }
    if callback.kind == .didFinishLaunching, ledger.withLock({ $0.restoration }) != nil {
      sockets.withLock { $0.forgetNumbers() }
      restoreWakeUps()
    }
    switch action {
    case .deliver(let event):
      let callback = ApplicationCallback(event) { self.acknowledge(callback.id) }
      sink.deliver(callback, to: self)
    case .callKeepAlive: callKeepAlive(callback.id)
    case .acknowledge: queue.async { self.acknowledge(callback.id) }
    case .none: break
    }
  }

  private func received(_ event: ApplicationInterface.NotificationEvent) {
    let notification = LocalNotification(event.notification)
    tell(event.chosen ? .didChoose(notification) : .didReceive(notification))
  }

  /// Tells the author what needs no acknowledgement.
  func tell(_ event: ApplicationEvent) {
    sink.deliver(ApplicationCallback(event) {}, to: self)
  }

  /// Calls an expiration handler on the queue.
  func call(_ handler: Ledger.Handler?) {
    if let handler { queue.async(execute: handler) }
  }
}
