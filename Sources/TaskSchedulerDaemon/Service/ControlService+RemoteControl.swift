import TaskSchedulerCore
import TaskSchedulerWire

// Remote control (contract §13).

extension ControlService {
  /// The maximum of `seconds`, about 31 years. Source: this project; the event log stores
  /// nanoseconds in 64 bits, which suffice for 292 years.
  private static let secondsMax = 1e9

  func remoteControl(_ input: Interface.RemoteControl.Input, _ connection: Connection) throws {
    let command = try Self.command(input.command, seconds: input.seconds)
    let owner = try input.owner.map { try Self.uid($0) } ?? connection.peer.uid
    guard owner == connection.peer.uid || isOperator(connection.peer) else {
      throw Interface.Failure.notPermitted(application: nil)
    }
    let request = requests.open(connection, application: "")
    post(.operation(.remoteControl(request, UserID(owner), command)))
  }

  private static func command(
    _ command: Interface.RemoteCommand, seconds: Double?
  ) throws(ParameterError) -> RemoteCommand {
    // NaN and infinity are outside the range too.
    if let seconds, !(-secondsMax...secondsMax).contains(seconds) {
      throw ParameterError(
        parameter: "seconds", problem: "it must be from -1000000000 to 1000000000")
    }
    return try RemoteCommand(
      command, offset: seconds.map { .seconds($0) }, parameter: "seconds")
  }
}
