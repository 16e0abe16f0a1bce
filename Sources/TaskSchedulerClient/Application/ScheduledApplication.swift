import Dispatch
import LinuxSystem
import TaskSchedulerWire

/// This process, as an application that taskschedd manages.
///
///     let application = try await ScheduledApplication.register(
///       "org.example.uploader", delegate: Uploader())
///
/// A registered application receives an event at each change of its state, and can ask for time in
/// the background. It stays registered until the process ends or calls ``close()``, whether or not
/// the program keeps this object. After a restart of the daemon, the library connects and registers
/// again.
///
/// Each request has two forms. The first one is asynchronous. The second one, with the suffix
/// `AndWait`, blocks the calling thread; it is for delegates and expiration handlers. A request
/// takes about 50 µs. While the daemon is away, a request waits for at most 2.3 s. A daemon that
/// does not answer within 25 s counts as away. All methods are safe to call from any thread.
public final class ScheduledApplication: Sendable {
  /// The id under which the application is registered.
  public let id: String
  /// The serial queue on which the library calls the delegate and the expiration handlers.
  public let queue: DispatchQueue

  let background: Bool
  let sink: any EventSink
  let socketPath: SocketPath
  /// The connection for requests; nil if the program runs without a daemon.
  let calls: CallConnection?
  let state: Locked<ClientState>
  let sockets = Locked(ManagedSocketTable())
  /// An eventfd, which is readable after the application is closed.
  let closeEvent: FileDescriptor
  /// The connection of the event stream.
  let streamConnection = Locked<Connection?>(nil)
  /// The queue on which the library sends again what the daemon did not receive or no longer knows:
  /// ends of tasks, acknowledgements, the keep-alive handler, the audio session, the phone call,
  /// location updates and managed sockets.
  let reportQueue = DispatchQueue(label: "org.taskschedd.client.reports")
  /// The pauses between attempts to report; nil if the daemon has received all reports.
  let reportDelays = Locked<RetryDelays?>(nil)
  /// Serializes requests about the keep-alive handler, so that the daemon and `state` agree.
  let keepAliveTurn = Locked(())
  /// Serializes requests about the audio session, so that the daemon and `state` agree.
  let audioSessionTurn = Locked(())
  /// Serializes requests about the phone call, so that the daemon and `state` agree.
  let callTurn = Locked(())
  /// Serializes requests about location updates, so that the daemon and `state` agree.
  let locationTurn = Locked(())
  private let channel: EventChannel?

  private init(
    id: String, background: Bool, delegate: (any ApplicationDelegate)?, queue: DispatchQueue?,
    at socketPath: SocketPath, isManaged: Bool, state: ClientState
  ) throws(ApplicationError) {
    self.id = id
    self.socketPath = socketPath
    self.background = background
    self.queue = queue ?? DispatchQueue(label: "org.taskschedd.client.\(id)")
    if let delegate {
      channel = nil
      sink = DelegateSink(delegate: delegate)
    } else {
      let channel = EventChannel()
      self.channel = channel
      sink = channel
    }
    calls = isManaged ? CallConnection(socketPath: socketPath) : nil
    self.state = Locked(state)
    do throws(SystemError) {
      closeEvent = try FileDescriptor.event()
    } catch {
      throw ApplicationError(connection: .system(error))
    }
  }

  // MARK: - Registration

  /// Registers this process as an application.
  ///
  /// If there is a delegate, the library calls its methods. Otherwise, take the events from
  /// ``events``, because the daemon kills an application that does not acknowledge lifecycle
  /// events.
  ///
  /// - Parameters:
  ///   - id: Two or more labels of letters, digits, `-` and `_`, joined by dots, 250 bytes at most:
  ///     `org.example.mail`. A process that the daemon launched must use the id of its manifest.
  ///   - background: Whether the application starts in the background, if the daemon did not launch
  ///     this process.
  ///   - delegate: The object that handles the events. The library keeps it until the application
  ///     is closed.
  ///   - queue: A serial queue for the delegate and the expiration handlers. If it is nil, the
  ///     library creates a queue.
  ///   - socketPath: The socket of the daemon.
  ///   - ifAvailable: Whether the program continues if no daemon listens. The program then stays in
  ///     the foreground: it receives `didFinishLaunching` and `didBecomeActive`, its background
  ///     time is unlimited, and ``isManaged`` is false.
  /// - Throws: ``ApplicationError/noDaemon(path:)`` if `ifAvailable` is false, other errors of the
  ///   connection, and ``ApplicationError/refused(_:)``.
  public static func register(
    _ id: String, background: Bool = false, delegate: (any ApplicationDelegate)? = nil,
    queue: DispatchQueue? = nil, at socketPath: SocketPath = .standard, ifAvailable: Bool = false
  ) async throws(ApplicationError) -> ScheduledApplication {
    try await blocking { () throws(ApplicationError) in
      try registerAndWait(
        id, background: background, delegate: delegate, queue: queue, at: socketPath,
        ifAvailable: ifAvailable)
    }
  }

  /// Registers this process as an application. Blocks. Otherwise like
  /// ``register(_:background:delegate:queue:at:ifAvailable:)``.
  public static func registerAndWait(
    _ id: String, background: Bool = false, delegate: (any ApplicationDelegate)? = nil,
    queue: DispatchQueue? = nil, at socketPath: SocketPath = .standard, ifAvailable: Bool = false
  ) throws(ApplicationError) -> ScheduledApplication {
    let opened: EventStream
    do throws(ApplicationError) {
      opened = try EventStream.open(id: id, background: background, at: socketPath)
    } catch {
      guard ifAvailable, case .noDaemon = error else { throw error }
      let application = try ScheduledApplication(
        id: id, background: background, delegate: delegate, queue: queue, at: socketPath,
        isManaged: false,
        state: ClientState(
          state: .active, instance: 0, launchReason: LaunchReason.ofEnvironment ?? .user,
          launchRegion: LaunchReason.regionOfEnvironment))
      application.deliver(.didFinishLaunching(application.launchReason))
      application.deliver(.didBecomeActive)
      return application
    }
    let application = try ScheduledApplication(
      id: id, background: background, delegate: delegate, queue: queue, at: socketPath,
      isManaged: true,
      state: ClientState(
        state: ApplicationState(opened.registration.state),
        instance: opened.registration.instance,
        launchReason: LaunchReason(opened.registration.launchReason),
        launchRegion: opened.registration.launchRegion))
    do throws(SystemError) {
      try application.read(opened, at: socketPath)
    } catch {
      throw ApplicationError(connection: .system(error))
    }
    return application
  }

  /// The events of an application that has no delegate.
  ///
  /// - Precondition: The application was registered without a delegate.
  public var events: ApplicationEvents {
    guard let channel else {
      preconditionFailure("\(id) has a delegate, which receives the events; use no delegate")
    }
    return ApplicationEvents(channel)
  }

  /// Closes the connections to the daemon.
  ///
  /// The application receives no more events, and each request throws ``ApplicationError/closed``.
  /// The daemon continues to manage the process until the process ends. A second call does nothing.
  public func close() {
    let isFirst = state.withLock { state in
      defer { state.end = state.end ?? .closed }
      return state.end == nil
    }
    guard isFirst else { return }
    shutDown()
    sink.finish(nil, of: self)
  }

  /// Closes the connections, and wakes the waiting threads. These threads then end.
  func shutDown() {
    withUnsafeBytes(of: UInt64(1)) { one in
      // The write cannot fail, because an eventfd blocks only near the maximum of its counter.
      _ = try? closeEvent.write(one)
    }
    calls?.close()
    streamConnection.withLock { $0 }?.close()
    forgetSockets()
  }

  // MARK: - Status

  /// Whether a daemon manages the process. False if no daemon listened when the application was
  /// registered with `ifAvailable`.
  public var isManaged: Bool { calls != nil }

  /// The reason why this process was started, from the registration.
  public var launchReason: LaunchReason { state.withLock { $0.launchReason } }

  /// The identifier of the region that the machine has entered or left, if the daemon launched this
  /// process for that crossing; otherwise nil. ``ApplicationEvent/didEnterRegion(_:)`` or
  /// ``ApplicationEvent/didExitRegion(_:)`` follows.
  public var launchRegion: String? { state.withLock { $0.launchRegion } }

  /// The state that the last event announced. The library does not ask the daemon.
  public var applicationState: ApplicationState { state.withLock { $0.state } }

  /// Returns how long the application may still run background tasks; nil in the foreground, where
  /// the time is unlimited.
  ///
  /// - Throws: An error of the connection if the daemon is away for more than 2.3 s.
  public func backgroundTimeRemaining() async throws(ApplicationError) -> Duration? {
    try await blocking { () throws(ApplicationError) in try self.backgroundTimeRemainingAndWait() }
  }

  /// Returns the remaining background time. Blocks. Otherwise like ``backgroundTimeRemaining()``.
  public func backgroundTimeRemainingAndWait() throws(ApplicationError) -> Duration? {
    if calls == nil {
      try throwIfEnded()
      return nil
    }
    let status = try ask(ApplicationInterface.GetStatus.self, .init())
    return status.backgroundTimeRemainingUSec.map { .microseconds($0) }
  }
}
