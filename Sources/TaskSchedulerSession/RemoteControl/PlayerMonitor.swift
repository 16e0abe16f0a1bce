import EventLoop
import LinuxSystem
import TaskSchedulerWire

/// A monitor that sees the calls of all programs on the session bus to media players.
///
/// The bus copies each call to its monitors. If the player is suspended, the call itself waits in
/// the player's socket, and the player answers the call when the daemon resumes the player.
final class PlayerMonitor {
  /// An event of the monitor.
  enum Occurrence {
    /// A program has called a media player. `destination` is a unique or well-known name of the
    /// player.
    case called(destination: String, sender: String, SessionInterface.PlayerCall)
    /// The bus does not permit monitors. The event occurs once for several refusals in a row.
    case refused(String)
  }

  private static let rule = "type='method_call',path='\(MediaPlayer.path)'"

  private let report: (Occurrence) -> Void
  private var connection: ReconnectingBus?
  private var isRefused = false

  /// - Parameter report: called from the loop, and from within ``start()``.
  init(
    address: BusAddress, loop: EventLoop, report: @escaping (Occurrence) -> Void
  ) throws(SystemError) {
    self.report = report
    connection = try ReconnectingBus(address: address, isMonitor: true, loop: loop) {
      [weak self] in self?.heard($0)
    }
  }

  /// Connects as soon as a bus listens.
  func start() { connection?.start() }

  private func heard(_ occurrence: ReconnectingBus.Occurrence) {
    switch occurrence {
    case .connected: becomeMonitor()
    case .disconnected: break
    case .message(let message):
      guard message.isCall, message.path == MediaPlayer.path, let member = message.member,
        let destination = message.destination, let sender = message.sender
      else { return }
      let kind = MediaPlayerCall.kind(interface: message.interface, member: member)
      report(.called(destination: destination, sender: sender, kind))
    }
  }

  /// Asks the bus to make this connection a monitor. If the bus refuses, the connection stays open
  /// until the bus ends, and the agent asks the next bus.
  private func becomeMonitor() {
    do throws(SystemError) {
      try connection?.bus.becomeMonitor([Self.rule], timeout: nil) { [weak self] answer in
        switch answer {
        case .reply: self?.isRefused = false
        case .error(let error): self?.refused("\(error)")
        case .dropped: break
        }
      }
    } catch {
      connection?.bus.lose("\(error)")
    }
  }

  private func refused(_ reason: String) {
    if isRefused { return }
    isRefused = true
    report(.refused(reason))
  }
}
