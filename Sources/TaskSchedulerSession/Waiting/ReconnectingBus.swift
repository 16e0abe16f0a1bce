import EventLoop
import Glibc
import LinuxSystem

/// A connection to a message bus. When the connection ends, this class connects again. If no bus
/// listens, it waits until inotify reports the socket of a bus.
final class ReconnectingBus {
  /// An event of the connection.
  enum Occurrence {
    case connected
    /// There is no connection. After a delay, the class connects again as soon as a bus listens.
    case disconnected
    case message(MessageReader)
  }

  /// The shortest and the longest delay before the next attempt, after a connection has ended or an
  /// attempt has failed. The delay doubles each time. After a connection that lasted for
  /// `lastingTime` (in nanoseconds), the delay is `delayMin` again.
  private static let delayMin: Duration = .seconds(1)
  private static let delayMax: Duration = .seconds(64)
  private static let lastingTime: UInt64 = 64_000_000_000

  let bus: MessageBus
  private let report: (Occurrence) -> Void
  private var timer: TimerSource?
  private var delay = ReconnectingBus.delayMin
  private var connectedAt: UInt64?

  /// - Parameters:
  ///   - isMonitor: whether the connection is for `MessageBus.becomeMonitor`.
  ///   - report: called from the loop, and from within ``start()``.
  init(
    address: BusAddress, isMonitor: Bool = false, loop: EventLoop,
    report: @escaping (Occurrence) -> Void
  ) throws(SystemError) {
    bus = MessageBus(loop: loop, address: address, isMonitor: isMonitor)
    self.report = report
    timer = try loop.timer { [weak self] in self?.connect() }
    bus.listen { [weak self] in self?.heard($0) }
  }

  /// Connects as soon as a bus listens.
  func start() { connect() }

  private func connect() {
    do throws(SystemError) {
      do throws(SystemError) {
        try bus.connect(waiting: false)
      } catch where [ENOENT, ECONNREFUSED].contains(error.errno) {
        report(.disconnected)
        try bus.connect(waiting: true)
      }
    } catch {
      disconnected()
    }
  }

  private func heard(_ occurrence: MessageBus.Occurrence) {
    switch occurrence {
    case .message(let message): report(.message(MessageReader(message)))
    case .changed:
      switch bus.state {
      case .connected:
        connectedAt = BootClock.now()
        report(.connected)
      case .lost: disconnected()
      case .closed, .connecting: break
      }
    }
  }

  private func disconnected() {
    let now = BootClock.now()
    if let connectedAt, now >= connectedAt + Self.lastingTime { delay = Self.delayMin }
    connectedAt = nil
    timer?.set(now + UInt64(delay / .nanoseconds(1)))
    delay = min(delay * 2, Self.delayMax)
    report(.disconnected)
  }
}
