import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// A source of locations, which reads them from gpsd.
///
/// systemd listens at the socket, and starts a proxy to gpsd when the daemon connects. gpsd keeps
/// the receiver on while a client asks for positions. The daemon is therefore connected only while
/// it needs locations. While the daemon needs no locations, gpsd counts as available if the socket
/// exists. inotify reports when the socket appears.
///
/// If gpsd does not answer, it counts as not available. While locations are needed, the daemon
/// connects again, after delays that double, until gpsd answers. While no locations are needed, the
/// daemon does not connect. gpsd then counts as available again after a time that doubles with each
/// failure. If gpsd stayed unavailable, no application could request locations, and the daemon
/// would never connect again. Either wait ends early when the socket is replaced or the settings
/// are read again, because an operator may have repaired gpsd.
final class GPSDSource {
  /// An event of the source.
  enum Occurrence: Equatable {
    case availabilityChanged(Bool)
    case located(Location)
  }

  /// Delays and time limits for connections to gpsd. Source: this project.
  struct Timing {
    /// The time within which gpsd must answer after a connection.
    var answerMax: Duration = .seconds(10)
    /// The first delay between the end of a connection and the next attempt to connect. Each
    /// further delay is twice as long, up to ``delayMax``.
    var delayMin: Duration = .seconds(1)
    var delayMax: Duration = .seconds(300)
    /// After a connection that has lasted this long, the next delay is ``delayMin`` again.
    var lastingTime: Duration = .seconds(300)
    /// While no locations are needed, a gpsd that has failed counts as available again after this
    /// time, although it has not answered. The time begins when locations are no longer needed.
    /// Each further failure doubles the time, up to ``failureTimeMax``.
    var failureTimeMin: Duration = .seconds(30)
    var failureTimeMax: Duration = .seconds(300)
    /// The minimum time between two log messages about invalid input.
    var logInterval: Duration = .seconds(300)
  }

  private enum Link {
    case none
    /// gpsd has not answered yet.
    case connecting(GPSDConnection)
    case open(GPSDConnection)
  }

  /// The absolute path of gpsd's socket; empty for none. Each reload of the settings sets the path,
  /// even to the same value. The source then forgets an earlier failure.
  var path: String {
    didSet {
      if timer == nil { return }
      if path != oldValue { pathChanged() } else if case .none = link { socketChanged() }
    }
  }

  private let loop: EventLoop
  private let log: Log
  private let timing: Timing
  private let report: (Occurrence) -> Void
  private var appearance: SocketAppearance?
  private var timer: TimerSource?
  private var link = Link.none
  private var isNeeded = false
  /// The reason why the daemon cannot connect to the socket; nil if the socket exists.
  private var absence: String?
  /// The reason why the last connection failed; nil if it did not fail.
  private var failure: String?
  /// The receivers of gpsd; nil while they are unknown.
  private var receivers: Set<String>?
  private var positions = GPSDPositions()
  private var delay: Duration
  private var failureTime: Duration
  /// The instant at which the daemon last connected, in nanoseconds since boot.
  private var connectedAt: UInt64?
  /// The instant at which gpsd first answered on the open connection, in nanoseconds since boot.
  private var openedAt: UInt64 = 0
  private var loggedAt: UInt64?
  /// The availability that was reported last; nil before the first report.
  private var reported: Bool?

  /// The maximum number of receivers to remember.
  private static let receiversMax = 64

  /// - Parameters:
  ///   - path: The absolute path of gpsd's socket, which need not exist yet; empty for none.
  ///   - report: Called from the loop, and from within ``start()``, ``need(_:)`` and assignments to
  ///     ``path``.
  init(
    path: String, loop: EventLoop, log: Log, timing: Timing = Timing(),
    report: @escaping (Occurrence) -> Void
  ) {
    self.path = path
    self.loop = loop
    self.log = log
    self.timing = timing
    self.report = report
    delay = timing.delayMin
    failureTime = timing.failureTimeMin
  }

  /// Reports whether gpsd is available, and begins to watch the socket.
  ///
  /// - Throws: The reason why the daemon cannot use gpsd.
  func start() throws(SystemError) {
    timer = try loop.timer { [weak self] in self?.timeIsUp() }
    watchSocket()
    connectIfNeeded()
    reconsider()
  }

  /// Begins to report locations, or stops reporting them.
  func need(_ isNeeded: Bool) {
    guard isNeeded != self.isNeeded else { return }
    self.isNeeded = isNeeded
    if isNeeded { connectIfNeeded() } else { disconnect() }
    reconsider()
  }

  var state: LocationSourceState {
    LocationSourceState(name: "gpsd", isAvailable: isAvailable, problem: problem)
  }

  private var isAvailable: Bool {
    switch link {
    case .open: receivers?.isEmpty != true
    case .none, .connecting: absence == nil && failure == nil
    }
  }

  private var problem: String? {
    switch link {
    case .open: receivers?.isEmpty == true ? Self.noReceiver : nil
    case .none, .connecting: absence ?? failure
    }
  }

  private static let noReceiver = "gpsd has no receiver"

  private func reconsider() {
    guard timer != nil, reported != isAvailable else { return }
    reported = isAvailable
    report(.availabilityChanged(isAvailable))
  }

  // MARK: The socket

  private func pathChanged() {
    if case .open(let connection) = link { connection.stop() }
    link = .none
    appearance = nil
    socketChanged()
  }

  /// Forgets the last failure, because another gpsd may be behind the socket now.
  private func socketChanged() {
    (failure, delay, failureTime) = (nil, timing.delayMin, timing.failureTimeMin)
    if !isNeeded { timer?.clear() }
    watchSocket()
    connectIfNeeded()
    reconsider()
  }

  /// Determines whether the socket exists. Begins to watch the socket first, so that the daemon
  /// misses no change.
  private func watchSocket() {
    if path.isEmpty {
      absence = "the setting gpsd is empty"
      return
    }
    if appearance == nil {
      appearance = SocketAppearance(path: path, loop: loop) { [weak self] in
        self?.socketChanged()
      }
    }
    do throws(SystemError) {
      try appearance?.start()
    } catch {
      log.write(.notice, "the daemon does not notice when gpsd's socket appears: \(error)")
    }
    absence = Self.absence(at: path)
  }

  private static func absence(at path: String) -> String? {
    do throws(SystemError) {
      try UnixSocket.checkFile(path: path)
      return nil
    } catch {
      return switch error.errno {
      case ENOENT, ENOTDIR: "no socket at \(path)"
      case ENOTSOCK: "\(path) is not a socket"
      case _: "\(error)"
      }
    }
  }

  // MARK: The connection

  /// Connects if locations are needed and a socket exists, at most once in ``Timing/delayMin``.
  private func connectIfNeeded() {
    guard isNeeded, timer != nil, case .none = link else { return }
    if let earliest = connectedAt.map({ $0 + nanoseconds(timing.delayMin) }),
      earliest > BootClock.now()
    {
      timer?.set(earliest)
    } else {
      connect()
    }
  }

  private func connect() {
    timer?.clear()
    if !path.isEmpty { absence = Self.absence(at: path) }
    // The daemon connects when inotify reports that the socket has appeared.
    if absence != nil { return }
    connectedAt = BootClock.now()
    (receivers, positions) = (nil, GPSDPositions())
    do throws(SystemError) {
      link = .connecting(
        try GPSDConnection(path: path, loop: loop) { [weak self] in self?.heard($0) })
      timer?.set(BootClock.after(timing.answerMax))
    } catch {
      failed("\(error)")
    }
  }

  private func disconnect() {
    switch link {
    case .none: break
    case .connecting(let connection): connection.stop()
    case .open(let connection):
      connection.stop()
      delay = timing.delayMin
    }
    // The daemon forgets the receivers when it disconnects. It therefore records as a failure that
    // gpsd has no receiver.
    if failure == nil, receivers?.isEmpty == true { failure = Self.noReceiver }
    link = .none
    receivers = nil
    if failure == nil {
      timer?.clear()
    } else {
      timer?.set(BootClock.after(failureTime))
      failureTime = min(failureTime * 2, timing.failureTimeMax)
    }
  }

  private func heard(_ occurrence: GPSDConnection.Occurrence) {
    switch occurrence {
    case .report(let next): heard(next)
    case .ended(let reason): ended(reason)
    }
    reconsider()
  }

  private func heard(_ next: GPSDReport) {
    switch next {
    // The greeting is not an answer. gpsd answers the daemon's request after the greeting.
    case .version, .other: break
    case .devices(let paths): opened(with: Set(paths.prefix(Self.receiversMax)))
    case .device(let path, let isOpen):
      opened(with: receivers)
      if !isOpen {
        receivers?.remove(path)
      } else if receivers?.count ?? 0 < Self.receiversMax {
        receivers?.insert(path)
      }
    case .watch, .noPosition: opened(with: receivers)
    case .position(let location):
      opened(with: receivers)
      if positions.takes(location.time, at: BootClock.now()) { report(.located(location)) }
    }
  }

  /// Records that gpsd has answered.
  private func opened(with receivers: Set<String>?) {
    self.receivers = receivers
    guard case .connecting(let connection) = link else { return }
    link = .open(connection)
    openedAt = BootClock.now()
    (failure, failureTime) = (nil, timing.failureTimeMin)
    timer?.clear()
    reconsider()
  }

  private func ended(_ reason: GPSDEnd) {
    let isOpen =
      switch link {
      case .open: true
      case .none, .connecting: false
      }
    if isOpen, BootClock.now() >= openedAt + nanoseconds(timing.lastingTime) {
      delay = timing.delayMin
    }
    switch reason {
    case .violation(let violation):
      logOnce("the daemon has disconnected from gpsd at \(path), because \(violation)")
      failed("gpsd sent invalid input: \(violation)")
    case .closed where isOpen:
      // gpsd is probably restarting. If not, the next attempt to connect fails.
      retry()
    case .closed:
      failed("gpsd is not running: the connection was closed at once")
    case .failed(let error):
      failed("\(error)")
    }
  }

  private func logOnce(_ text: String) {
    let now = BootClock.now()
    if let loggedAt, now < loggedAt + nanoseconds(timing.logInterval) { return }
    loggedAt = now
    log.write(.warning, text)
  }

  private func failed(_ reason: String) {
    failure = reason
    retry()
  }

  /// Schedules the next attempt to connect.
  private func retry() {
    link = .none
    receivers = nil
    timer?.set(BootClock.after(delay))
    delay = min(delay * 2, timing.delayMax)
  }

  private func timeIsUp() {
    switch link {
    case .connecting:
      failed("gpsd does not answer")
    case .open:
      break
    case .none where isNeeded:
      connect()
    case .none:
      (failure, delay) = (nil, timing.delayMin)
    }
    reconsider()
  }

  private func nanoseconds(_ duration: Duration) -> UInt64 { UInt64(duration / .nanoseconds(1)) }
}
