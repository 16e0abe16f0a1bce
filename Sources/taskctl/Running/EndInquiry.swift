import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire

/// Asks the daemon how an instance ended.
struct EndInquiry {
  let application: String
  let instance: Int
  let pid: Int32
  /// The daemon's socket.
  let path: String

  /// How long the daemon may take to see an end. It does so within milliseconds; when it hangs,
  /// the program's exit code is worth more than the reason.
  private static let timeout: Duration = .seconds(2)

  /// The end, once the daemon has seen it; nil where the daemon is gone, hangs or has forgotten.
  func end() -> ControlInterface.End? {
    guard
      let connection = try? Connection.connect(to: SocketPath(path)),
      let replies = try? connection.callMore(
        ControlInterface.Monitor.self, .init(), timeout: Self.timeout)
    else { return nil }
    let deadline = BootClock.now() + UInt64(Self.timeout.components.seconds) * 1_000_000_000
    while let reply = try? replies.next(timeout: left(until: deadline)) {
      if let known = reply.application {
        if isOurs(known.application, known.owner), known.instance?.id != instance {
          return known.lastEnd
        }
      } else if let change = reply.change {
        if isOurs(change.application, change.owner), change.kind == .ended,
          change.pid == nil || change.pid == Int(pid)
        {
          return lastEnd() ?? Self.end(change)
        }
      }
    }
    return nil
  }

  private func left(until deadline: UInt64) -> Duration {
    let now = BootClock.now()
    return .nanoseconds(deadline > now ? Int64(deadline - now) : 0)
  }

  private func isOurs(_ application: String, _ owner: Int) -> Bool {
    application == self.application && owner == Int(Users.effectiveUID)
  }

  /// With the code or the signal, which a change does not carry.
  private func lastEnd() -> ControlInterface.End? {
    let connection = try? Connection.connect(to: SocketPath(path))
    let output = try? connection?.call(
      ControlInterface.GetApplication.self,
      .init(application: application, owner: Int(Users.effectiveUID)), timeout: Self.timeout)
    return output?.application.lastEnd
  }

  private static func end(_ change: ControlInterface.Change) -> ControlInterface.End? {
    change.reason.flatMap(ControlInterface.EndKind.init(rawValue:))
      .map { ControlInterface.End(reason: $0, atUSec: change.atUSec) }
  }
}
