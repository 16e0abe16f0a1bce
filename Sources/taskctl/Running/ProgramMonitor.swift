import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire

/// What the daemon says of the program that `run` waits for: a Monitor call that is limited to its
/// application, over the connection that handed the program over. Nothing is polled.
///
/// A daemon that systemd restarts continues the stream. Where the stream was closed, `refresh`
/// opens another: when a key is typed, and for the end.
struct ProgramMonitor {
  /// How long the daemon may take to answer. It does so within milliseconds; where it hangs, the
  /// program's exit code is worth more than what the daemon knows.
  static let timeout: Duration = .seconds(2)

  let application: String
  private let instance: Int
  private let pid: Int32
  private let path: String
  private var connection: Connection?
  private var replies: Connection.Replies<ControlInterface.Monitor>?
  /// The state that the daemon told last.
  private(set) var state: ControlInterface.State?
  /// What brought the application to the background.
  private(set) var cause: String?
  /// The end, once the daemon has told it.
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

  /// For poll(2); -1, which that skips, where there is no stream.
  var descriptor: Int32 { connection?.descriptor ?? -1 }

  /// Takes what has come, without waiting.
  mutating func takeReplies() {
    do {
      while let reply = try replies?.nextIfReady() { take(reply) }
    } catch {
      close()
    }
  }

  /// Takes what has come; where the stream was closed, opens another and takes its snapshot.
  mutating func refresh() {
    takeReplies()
    guard replies == nil, let connection = try? Connection.connect(to: SocketPath(path)) else {
      return
    }
    open(connection)
    _ = waitUntil { reply in reply.ready == true }
  }

  /// How the instance ended; nil where the daemon is gone, hangs or has forgotten it.
  mutating func waitForEnd() -> ControlInterface.End? {
    refresh()
    if end == nil { _ = waitUntil { _ in false } }
    // A change does not carry the code, the signal and the details.
    return end.map { lastEnd() ?? $0 }
  }

  /// One call on a connection of its own, for the stream occupies this one.
  func call<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input
  ) throws -> Method.Output {
    try Connection.connect(to: SocketPath(path)).call(method, input, timeout: Self.timeout)
  }

  /// The owner of the application: the user who runs us, for its process is our child.
  var owner: Int { Int(Users.effectiveUID) }

  // MARK: - The stream

  private mutating func open(_ connection: Connection) {
    self.connection = connection
    replies = try? connection.callMore(
      ControlInterface.Monitor.self, .init(application: application, owner: owner),
      timeout: Self.timeout)
    if replies == nil { close() }
  }

  private mutating func close() {
    connection?.close()
    connection = nil
    replies = nil
  }

  /// Waits for replies until one satisfies the condition or tells the end, or the time is up.
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
