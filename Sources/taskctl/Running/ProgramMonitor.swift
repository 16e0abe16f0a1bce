import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire

/// The daemon's reports about the program of `taskctl run`. They arrive as a stream: the replies to
/// a Monitor call for the application. The first stream uses the connection that registered the
/// program. taskctl does not poll.
///
/// If systemd restarts the daemon, the stream continues. If the stream was closed, `refresh` opens
/// another one. taskctl calls `refresh` after a signal such as SIGINT, and at the end of the
/// program.
struct ProgramMonitor {
  /// The time limit for an answer of the daemon. If the daemon hangs, taskctl returns the program's
  /// exit code without asking further.
  static let timeout: Duration = .seconds(2)

  let application: String
  private let instance: Int
  private let pid: Int32
  private let path: String
  private var connection: Connection?
  private var replies: Connection.Replies<ControlInterface.Monitor>?
  /// The state in the daemon's latest report.
  private(set) var state: ControlInterface.State?
  /// The cause of the transition to the background.
  private(set) var cause: String?
  /// The end, once the daemon has reported it.
  private var end: ControlInterface.End?

  init(
    of application: String, instance: Int, pid: Int32, on connection: Connection
  ) {
    self.application = application
    self.instance = instance
    self.pid = pid
    path = connection.path
    open(connection)
  }

  /// The descriptor for poll(2). Without a stream it is -1, which poll ignores.
  var descriptor: Int32 { connection?.descriptor ?? -1 }

  /// Handles the replies that have arrived, without waiting.
  mutating func takeReplies() {
    do {
      while let reply = try replies?.nextIfReady() { take(reply) }
    } catch {
      close()
    }
  }

  /// Handles the replies that have arrived. Opens another stream if the last one was closed.
  mutating func refresh() {
    takeReplies()
    guard replies == nil, let connection = try? Connection.connect(to: SocketPath(path)) else {
      return
    }
    open(connection)
  }

  /// Returns how the instance ended; nil if the daemon does not run, hangs, or has no record of the
  /// end.
  mutating func waitForEnd() -> ControlInterface.End? {
    refresh()
    if end == nil { _ = waitUntil { _ in false } }
    // The monitor's report lacks the exit code, the signal and the details, so request them.
    return end.map { lastEnd() ?? $0 }
  }

  /// Makes a call on a connection of its own, because the stream occupies the first connection.
  func call<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input
  ) throws -> Method.Output {
    try Connection.connect(to: SocketPath(path)).call(method, input, timeout: Self.timeout)
  }

  /// The owner of the application: the user of this process.
  var owner: Int { Int(Users.effectiveUID) }

  // MARK: - The stream

  /// Opens the stream, and waits until the daemon has sent the state of the application. The wait
  /// also ends if the stream fails, if the instance ends, or after `timeout`. After the state, the
  /// daemon reports each change with its cause.
  private mutating func open(_ connection: Connection) {
    self.connection = connection
    replies = try? connection.callMore(
      ControlInterface.Monitor.self, .init(application: application, owner: owner),
      timeout: Self.timeout)
    if replies == nil { return close() }
    _ = waitUntil { reply in reply.ready == true }
  }

  private mutating func close() {
    connection?.close()
    connection = nil
    replies = nil
  }

  /// Waits until a reply satisfies the condition or reports the end of the instance. Returns false
  /// if the time limit expires or the stream fails first.
  private mutating func waitUntil(
    _ isLast: (ControlInterface.Monitor.Output) -> Bool
  ) -> Bool {
    let deadline = BootClock.now() + UInt64(Self.timeout.components.seconds) * 1_000_000_000
    do {
      while end == nil {
        let now = BootClock.now()
        let left = Duration.nanoseconds(deadline > now ? Int64(deadline - now) : 0)
        guard let reply = try replies?.next(timeout: left) else { return false }
        take(reply)
        if isLast(reply) { return true }
      }
      return true
    } catch {
      close()
      return false
    }
  }

  private mutating func take(_ reply: ControlInterface.Monitor.Output) {
    if let known = reply.application, isOurs(known.application, known.owner) {
      state = known.state
      if known.instance?.id != instance { end = known.lastEnd }
    }
    guard let change = reply.change, isOurs(change.application, change.owner) else { return }
    if change.kind == .ended, change.pid == nil || change.pid == Int(pid) {
      end = change.reason.flatMap(ControlInterface.EndKind.init(rawValue:))
        .map { ControlInterface.End(reason: $0, atUSec: change.atUSec) }
    }
    guard change.kind == .transition, let state = change.to else { return }
    self.state = state
    if state == .background { cause = change.cause }
  }

  private func isOurs(_ application: String, _ owner: Int) -> Bool {
    application == self.application && owner == self.owner
  }

  private func lastEnd() -> ControlInterface.End? {
    let output = try? call(
      ControlInterface.GetApplication.self, .init(application: application, owner: owner))
    return output?.application.lastEnd
  }
}
