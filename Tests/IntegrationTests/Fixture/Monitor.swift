import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire
import TestSupport

/// A `Control.Monitor` stream, with which tests wait for changes.
final class Monitor {
  typealias Change = ControlInterface.Change

  /// The applications that existed when the stream was opened.
  private(set) var snapshot: [ControlInterface.Application] = []
  /// All changes received so far.
  private(set) var seen: [Change] = []
  private let connection: Connection
  private let replies: Connection.Replies<ControlInterface.Monitor>

  init(_ daemon: DaemonFixture) throws {
    connection = try daemon.connect()
    replies = try connection.callMore(ControlInterface.Monitor.self, .init())
    while let reply = try replies.next(timeout: deadline), reply.ready != true {
      if let application = reply.application { snapshot.append(application) }
    }
  }

  deinit { connection.close() }

  /// Waits for the next matching change, and skips those before it.
  @discardableResult
  func next(_ what: String, _ isWanted: (Change) -> Bool) throws -> Change {
    do {
      while let reply = try replies.next(timeout: deadline) {
        guard let change = reply.change else { continue }
        seen.append(change)
        if isWanted(change) { return change }
      }
    } catch {
      let messages = seen.map(\.message).joined(separator: "; ")
      throw WaitFailure(what: what, reason: "\(error)", seen: messages)
    }
    throw WaitFailure(what: what, reason: "the monitor ended", seen: "")
  }

  /// Waits until the application has entered the given state.
  @discardableResult
  func transition(_ application: String, to state: ControlInterface.State) throws -> Change {
    try next("\(application) to \(state.rawValue)") {
      $0.kind == .transition && $0.application == application && $0.to == state
    }
  }

  /// Waits until the instance has ended, and returns the reason.
  @discardableResult
  func end(_ application: String) throws -> String? {
    try next("the end of \(application)") {
      $0.kind == .ended && $0.application == application
    }.reason
  }

  struct WaitFailure: Error, CustomStringConvertible {
    let what: String
    let reason: String
    let seen: String
    var description: String { "waited for \(what): \(reason); seen: \(seen)" }
  }
}
