import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerWire

// The log of the caller's own applications, for users who may not read the journal.

extension ControlService {
  /// The maximum number of records in one answer. Their size is small compared with the limit on
  /// unread bytes.
  private static let recordsAtOnceMax = 100

  func getLog(_ input: Interface.GetLog.Input, _ connection: Connection) throws {
    let owner = try logOwner(input, connection.peer)
    var application: ApplicationID?
    if let name = input.application {
      guard let id = ApplicationID(name) else {
        throw Interface.Failure.invalidApplicationID(application: name)
      }
      application = id
    }
    guard (input.lines ?? 1) >= 0 else {
      throw ParameterError(parameter: "lines", problem: "it must not be negative")
    }
    guard (input.before ?? 1) >= 0 else {
      throw ParameterError(parameter: "before", problem: "it must not be negative")
    }
    let records = log.recent.newest(
      min(input.lines ?? Self.recordsAtOnceMax, Self.recordsAtOnceMax),
      before: input.before.map { UInt64($0) }, of: owner, application)
    connection.reply(Interface.GetLog.Output(records: records.map { .init($0) }))
  }

  /// Returns the user whose records the caller requests; nil for the records of all users.
  private func logOwner(
    _ input: Interface.GetLog.Input, _ peer: Peer
  ) throws -> UserID? {
    let owner = try input.owner.map { try Self.uid($0) }
    guard isOperator(peer) else {
      guard owner == nil || owner == peer.uid else {
        throw Interface.Failure.notPermitted(application: input.application)
      }
      return UserID(peer.uid)
    }
    return owner.map { UserID($0) }
  }
}

extension ControlInterface.LogRecord {
  fileprivate init(_ entry: RecentRecords.Entry) {
    self.init(
      number: Int(clamping: entry.number), atUSec: entry.at.microseconds,
      level: entry.level.rawValue, application: entry.application.id.name,
      owner: Int(entry.application.owner.uid), pid: entry.leader.map { Int($0.pid) },
      message: entry.message)
  }
}
