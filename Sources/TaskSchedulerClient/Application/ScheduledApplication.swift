import Dispatch
import LinuxSystem
import TaskSchedulerWire

/// This process as an application that taskschedd manages.
///
///     let application = try ScheduledApplication.register(
///       "org.example.uploader", delegate: Uploader())
///
/// Registered, it is told of each change of its state, and may ask for time in the background. It
/// stays registered until the process ends or `close()` is called, whether or not this object is
/// kept. When the daemon is restarted, it connects and registers again by itself.
///
/// Every method may be called from any thread. Those that ask the daemon block for one round trip
/// (some tens of microseconds), and while the daemon is away for 2.3 s at most.
public final class ScheduledApplication: Sendable {
  /// The reverse-DNS id under which it is registered.
  public let id: String
  /// The serial queue on which the delegate and the expiration handlers are called.
  public let queue: DispatchQueue

  let background: Bool
  let sink: any CallbackSink
  let socketPath: SocketPath
  /// Nil where there is no daemon and the program goes on without.
  let line: CallLine?
  let ledger: Locked<Ledger>
  /// Readable once the application is closed.
  let closeEvent: FileDescriptor
  /// The connection of the event stream.
  let streamConnection = Locked<Connection?>(nil)
  /// Pays what is owed to the daemon.
  let debtQueue = DispatchQueue(label: "org.taskschedd.client.debts")
  let debtPauses = Locked<RetryPauses?>(nil)
  let sockets = Locked(SocketLedger())
  /// Held while the daemon is told of the keep-alive handler, so that it and the ledger agree.
  let keepAliveTurn = Locked(())

  private init(
    id: String, background: Bool, queue: DispatchQueue?, sink: any CallbackSink,
    at socketPath: SocketPath, isManaged: Bool, ledger: Ledger
  ) throws(ApplicationError) {
    self.id = id
    self.socketPath = socketPath
    self.background = background
    self.queue = queue ?? DispatchQueue(label: "org.taskschedd.client.\(id)")
    self.sink = sink
    line = isManaged ? CallLine(socketPath: socketPath) : nil
    self.ledger = Locked(ledger)
    do throws(SystemError) {
      closeEvent = try FileDescriptor.event()
    } catch {
      throw .connection(.system(error))
    }
  }

  // MARK: - Registration

  /// Registers this process, with a delegate that is called at each change of state.
  ///
  /// - Parameters:
  ///   - id: two or more labels of letters, digits, - and _, joined by dots: `org.example.mail`. In
  ///     a process that the daemon launched it must be the manifest's.
  ///   - background: whether a process that the daemon does not know yet starts in the background.
  ///   - delegate: held until the application is closed; without one all is acknowledged at once.
  ///   - queue: a serial queue to call the delegate and the expiration handlers on; else one of
  ///     the library's own.
  ///   - socketPath: where the daemon listens.
  ///   - ifAvailable: whether to go on where no daemon answers. The program then runs as if it were
  ///     in the foreground for good: it is told that it has launched and become active, tasks
  ///     are granted unlimited time, and `isManaged` is false until it is started anew.
  /// - Throws: `connection(.noDaemon)` unless `ifAvailable`, and the daemon's refusals.
  public static func register(
    _ id: String, background: Bool = false, delegate: (any ApplicationDelegate)? = nil,
    queue: DispatchQueue? = nil, at socketPath: SocketPath = .standard, ifAvailable: Bool = false
  ) throws(ApplicationError) -> ScheduledApplication {
    try register(
      id, background: background, sink: DelegateSink(delegate: delegate ?? SilentDelegate()),
      queue: queue, at: socketPath, ifAvailable: ifAvailable)
  }

  /// Registers this process, with a sequence of callbacks: each is acknowledged when the next is
  /// taken, or before by its `acknowledge()`. The parameters are those of `register`.
  ///
  ///     let (application, callbacks) = try ScheduledApplication.registerForCallbacks(
  ///       "org.example.mail")
  ///     for try await callback in callbacks { … }
  public static func registerForCallbacks(
    _ id: String, background: Bool = false, queue: DispatchQueue? = nil,
    at socketPath: SocketPath = .standard, ifAvailable: Bool = false
  ) throws(ApplicationError) -> (
    application: ScheduledApplication, callbacks: ApplicationCallbacks
  ) {
    let channel = CallbackChannel()
    let application = try register(
      id, background: background, sink: channel, queue: queue, at: socketPath,
      ifAvailable: ifAvailable)
    return (application, ApplicationCallbacks(channel))
  }

  private static func register(
    _ id: String, background: Bool, sink: any CallbackSink, queue: DispatchQueue?,
    at socketPath: SocketPath, ifAvailable: Bool
  ) throws(ApplicationError) -> ScheduledApplication {
    let opened: EventStream
    do throws(ApplicationError) {
      opened = try EventStream.open(id: id, background: background, at: socketPath)
    } catch {
      guard ifAvailable, case .connection(.noDaemon) = error else { throw error }
      let application = try ScheduledApplication(
        id: id, background: background, queue: queue, sink: sink, at: socketPath,
        isManaged: false,
        ledger: Ledger(
          state: .active, instance: 0, launchReason: LaunchReason.ofEnvironment ?? .user))
      application.deliverUnmanaged()
      return application
    }
    let application = try ScheduledApplication(
      id: id, background: background, queue: queue, sink: sink, at: socketPath, isManaged: true,
      ledger: Ledger(
        state: opened.registration.state, instance: opened.registration.instance,
        launchReason: opened.registration.launchReason))
    do throws(SystemError) {
      try application.read(opened, at: socketPath)
    } catch {
      throw .connection(.system(error))
    }
    return application
  }

  /// What a program hears that goes on without a daemon.
  private func deliverUnmanaged() {
    tell(.didFinishLaunching(launchReason))
    tell(.didBecomeActive)
  }

  /// Gives up the registration's connections: no more events come, and every request throws
  /// `closed`. The daemon goes on managing the process until it ends.
  public func close() {
    let isFirst = ledger.withLock { ledger in
      defer { ledger.end = ledger.end ?? .closed }
      return ledger.end == nil
    }
    guard isFirst else { return }
    shutDown()
    sink.finish(nil, of: self)
  }

  /// Wakes and ends whoever waits.
  func shutDown() {
    withUnsafeBytes(of: UInt64(1)) { one in
      // An eventfd takes its first 1 always.
      _ = try? closeEvent.write(one)
    }
    line?.close()
    streamConnection.withLock { $0 }?.close()
    forgetSockets()
  }

  // MARK: - What it may know about itself

  /// False where no daemon answered and `ifAvailable` let the program go on without.
  public var isManaged: Bool { line != nil }

  /// Why this process was started, as the daemon said when it registered first.
  public var launchReason: LaunchReason { ledger.withLock { $0.launchReason } }

  /// The state that the daemon told of last.
  public var state: ApplicationState { ledger.withLock { $0.state } }

  /// How long the application may still run in the background, by its tasks: nil means unlimited,
  /// in the foreground. Asks the daemon.
  public var backgroundTimeRemaining: Duration? {
    get throws(ApplicationError) {
      if line == nil { return nil }
      let status = try ask(ApplicationInterface.GetStatus.self, .init())
      return status.backgroundTimeRemainingUSec.map { .microseconds($0) }
    }
  }

  // MARK: - Requests

  /// Asks the daemon, and again while it is away: for what may be asked twice.
  func ask<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input, fileDescriptors: [Int32] = []
  ) throws(ApplicationError) -> Method.Output {
    try retrying { () throws(ApplicationError) in
      guard let line = self.line else { preconditionFailure("nobody is there to be asked") }
      return try line.call(method, input, fileDescriptors: fileDescriptors)
    }
  }

  /// Tries until it is done or refused, or the daemon is away for too long.
  func retrying<Value>(
    _ attempt: () throws(ApplicationError) -> Value
  ) throws(ApplicationError) -> Value {
    var pauses = RetryPauses()
    while true {
      do throws(ApplicationError) {
        try throwIfEnded()
        return try attempt()
      } catch {
        guard mayTryAgain(after: error), pause(&pauses) else { throw error }
      }
    }
  }

  func mayTryAgain(after error: ApplicationError) -> Bool {
    // The call was on its way when the process was suspended; it has been resumed since.
    if case .refused(.invalidState(_, .suspended)) = error { return true }
    return error.isTransient
  }

  func throwIfEnded() throws(ApplicationError) {
    if let end = ledger.withLock({ $0.end }) { throw end }
  }

  /// Waits before the next attempt of a request; false when there is to be none.
  func pause(_ pauses: inout RetryPauses) -> Bool {
    pauses.count < RetryPauses.requestMax && !isClosed(within: pauses.take())
  }

  /// Waits until the application is closed, at most that long.
  func isClosed(within timeout: Duration) -> Bool {
    do throws(SystemError) {
      return try Readiness.wait(for: 1, on: closeEvent.rawValue, timeout: timeout) != 0
    } catch {
      preconditionFailure("poll(2) on an eventfd failed: \(error)")
    }
  }
}
