import TaskSchedulerClient
import TaskSchedulerWire

/// The request for the list that the command shows, and the socket of the daemon that answers it.
struct SwitcherQuery {
  let path: SocketPath
  let input: ControlInterface.ListSwitcher.Input

  func list(on connection: Connection) throws -> ControlInterface.ListSwitcher.Output {
    try connection.call(ControlInterface.ListSwitcher.self, input, timeout: answerTimeout)
  }
}
