import TaskSchedulerClient
import TaskSchedulerWire

/// The list that the command shows, and the daemon that has it.
struct SwitcherQuery {
  let path: SocketPath
  let input: ControlInterface.ListSwitcher.Input

  func list(on connection: Connection) throws -> ControlInterface.ListSwitcher.Output {
    try connection.call(ControlInterface.ListSwitcher.self, input, timeout: answerTimeout)
  }
}
