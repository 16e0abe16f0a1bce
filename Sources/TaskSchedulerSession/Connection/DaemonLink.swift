import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerWire

/// The attachment of the session agent to one daemon.
///
/// The link has two connections: the daemon sends its orders on the first one, and the agent
/// reports on the second one. The agent sends a report only after the daemon has replied to the
/// previous report. Meanwhile, newer windows replace the windows that wait to be sent, so a daemon
/// that was slow to reply receives only the newest windows.
///
/// A restarted daemon usually keeps the connections. If they are closed, the link attaches again.
final class DaemonLink {
  /// An event of the link.
  enum Occurrence {
    /// The daemon has accepted the agent.
    case attached
    case order(Order)
    /// The attachment has ended or failed, for this reason. The link does not report the same
    /// reason twice in a row.
    case unreachable(ConnectionEnd)
    /// The daemon refused a report with this error. The link continues with the next report.
    case refused(error: String)
    /// Another agent of the user has attached to the daemon. The link has ended.
    case replaced
  }

  /// An order of the daemon.
  enum Order {
    case show(SessionInterface.Notification)
    case close(SessionInterface.WithdrawnNotification)
    case badge(SessionInterface.Badge)
    /// The daemon has sent all notifications and badges that it wants shown.
    case synchronized
    /// Mute streams, or end their mutes.
    case mute(SessionInterface.AudioMute)
    /// Lower or raise the volumes of streams.
    case volume(SessionInterface.AudioVolume)
    /// Begin or end the measurement of streams.
    case measure(SessionInterface.AudioMeasurement)
    /// Request the streams again, and report them.
    case confirm
    /// Send a media player a command.
    case command(SessionInterface.PlayerCommand)
    /// Show the media player `taskschedd`, or remove it.
    case player(SessionInterface.PresentedPlayer)
    /// Begin or end the reports of locations.
    case location(SessionInterface.LocationOrder)
  }

  private enum State {
    /// The link waits for the socket or the timer.
    case waiting
    case attaching(orders: ServiceConnection)
    case attached(Int, orders: ServiceConnection, reports: ServiceConnection)
    case ended
  }

  /// The delay after the first failed attempt, in nanoseconds. It doubles with each further
  /// attempt. The link must try again, because inotify reports a socket when a process binds it,
  /// slightly before the process listens. Nothing reports that the process listens.
  private static let firstDelay: UInt64 = 10_000_000
  /// The maximum number of doublings. The longest delay is 5.5 minutes.
  private static let doublingsMax = 15
  /// The number of retries after which the link no longer tries a socket on which no process
  /// listens. It then waits for a new socket.
  private static let attemptsMax = 7
  /// If an attachment lasts for at least this time, in nanoseconds, its end does not count as a
  /// failed attempt.
  private static let lastingTime: UInt64 = 10_000_000_000

  /// The path of the daemon's socket.
  let path: String
  private let loop: EventLoop
  private let report: (Occurrence) -> Void
  private var state = State.waiting
  private var windows = WindowReports()
  /// The streams of the audio server. ``AudioMonitor`` limits how often they change.
  private var audio = LatestReport<AudioReport>()
  /// The number of the daemon's last order `confirm`; 0 if there was none.
  private var confirm = 0
  private var players = PlayerReports()
  private var locations = LocationReports()
  private var notifications = NotificationReports()
  /// Whether the daemon has sent the order `synchronized`. Before that, it may send a notification
  /// whose end the agent has not reported yet.
  private var isSynchronized = false
  private var appearance: SocketAppearance?
  private var timer: TimerSource?
  private var attempts = 0
  private var attachedAt: UInt64 = 0
  /// The reason that was reported last; nil while the link is attached.
  private var problem: ConnectionEnd?

  /// - Parameters:
  ///   - path: the absolute path of the daemon's socket.
  ///   - report: called from the loop, and from within ``start()``.
  init(
    path: String, loop: EventLoop, report: @escaping (Occurrence) -> Void
  ) throws(SystemError) {
    self.path = path
    self.loop = loop
    self.report = report
    appearance = SocketAppearance(path: path, loop: loop) { [weak self] in self?.socketAppeared() }
    timer = try loop.timer { [weak self] in self?.timerExpired() }
  }

  /// Attaches to the daemon as soon as it listens.
  func start() { watchAndAttach() }

  /// Reports the windows of the session as soon as the daemon can receive a report. nil means that
  /// nothing is known about the windows.
  func update(_ windows: SessionWindows?) {
    self.windows.update(windows)
    sendReports()
  }

  /// Reports the streams of the audio server as soon as the daemon can receive a report.
  ///
  /// - Parameter followsOrders: Whether the agent had sent all orders to the audio server when it
  ///   requested the streams.
  func update(_ streams: AudioStreams, followsOrders: Bool) {
    let confirmed = followsOrders ? confirm : audio.value?.confirmed ?? 0
    audio.update(AudioReport(audio: streams, confirmed: confirmed))
    sendReports()
  }

  /// Reports the media players as soon as the daemon can receive a report.
  func update(_ players: [MediaPlayer]) {
    self.players.update(players)
    sendReports()
  }

  /// Reports to the daemon that a client has called a media player.
  func add(_ call: MediaPlayerCall) {
    players.add(call)
    sendReports()
  }

  /// Reports to the daemon that a client has sent a command to the media player `taskschedd`, which
  /// shows an application of this daemon.
  func add(_ command: MediaPlayerCommand) {
    players.add(command)
    sendReports()
  }

  /// As soon as the daemon can receive a report, reports whether GeoClue is available.
  func update(isGeoClueAvailable: Bool) {
    locations.update(isAvailable: isGeoClueAvailable)
    sendReports()
  }

  /// Reports a location as soon as the daemon can receive a report.
  func add(_ location: SessionInterface.Location) {
    locations.add(location)
    sendReports()
  }

  /// Reports what happened to a notification of the daemon. If the link is not attached, it sends
  /// the report after the next attachment.
  func add(_ report: NotificationReport) {
    notifications.add(report)
    sendReports()
  }

  // MARK: Attaching

  private func socketAppeared() {
    attempts = 0
    watchAndAttach()
  }

  private func timerExpired() {
    switch state {
    case .waiting: watchAndAttach()
    case .attached: sendReports()
    case .attaching, .ended: break
    }
  }

  /// Attaches to the daemon. Begins to watch for the socket before the attempt. Otherwise, the link
  /// would miss a socket that appears during the attempt.
  private func watchAndAttach() {
    guard case .waiting = state else { return }
    do throws(SystemError) {
      try appearance?.start()
      let orders = try connect { [weak self] in self?.heardOrder($0) }
      try? orders.call(SessionInterface.Attach.self, .init(), more: true)
      state = .attaching(orders: orders)
      appearance?.stop()
      timer?.clear()
    } catch {
      end(.failed(error))
    }
  }

  private func connect(
    _ handler: @escaping (ServiceConnection.Occurrence) -> Void
  ) throws(SystemError) -> ServiceConnection {
    try ServiceConnection(path: path, loop: loop, report: handler)
  }

  private func attached(_ number: Int, _ orders: ServiceConnection) throws(ConnectionEnd) {
    do throws(SystemError) {
      let reports = try connect { [weak self] in self?.heardReply($0) }
      state = .attached(number, orders: orders, reports: reports)
    } catch {
      throw .failed(error)
    }
    attachedAt = BootClock.now()
    problem = nil
    notifications.attached()
    begin()
  }

  /// Begins an attachment to a daemon that has not received a report from this agent.
  private func begin() {
    windows.attached()
    audio.attached()
    confirm = 0
    if let streams = audio.value?.audio {
      audio.update(AudioReport(audio: streams, confirmed: 0))
    }
    players.attached()
    locations.attached()
    isSynchronized = false
    report(.attached)
    sendReports()
  }

  /// Ends the attachment or the attempt, and prepares the next attempt.
  private func end(_ reason: ConnectionEnd) {
    let now = BootClock.now()
    if case .attached = state, now >= attachedAt + Self.lastingTime { attempts = 0 }
    let isWatching = if case .waiting = state { true } else { false }
    close(.waiting)
    if problem != reason {
      problem = reason
      report(.unreachable(reason))
    }
    // If the socket is missing, or still refuses after `attemptsMax` retries, the watch reports the
    // next socket, and no timer is necessary. If only the second connection failed, the watch has
    // already stopped, so the timer is necessary.
    if isWatching, case .failed(let error) = reason {
      if error.isMissing { return }
      // A process that has exited left the socket file behind.
      if error.errno == ECONNREFUSED, attempts >= Self.attemptsMax { return }
    }
    timer?.set(now + Self.firstDelay << UInt64(min(attempts, Self.doublingsMax)))
    attempts += 1
  }

  private func close(_ next: State) {
    switch state {
    case .waiting, .ended: break
    case .attaching(let orders): orders.close()
    case .attached(_, let orders, let reports):
      orders.close()
      reports.close()
    }
    state = next
    timer?.clear()
  }

  // MARK: Orders

  private func heardOrder(_ occurrence: ServiceConnection.Occurrence) {
    do throws(ConnectionEnd) {
      switch occurrence {
      case .answer(.reply(let parameters, continues: true)): try handle(parameters)
      case .answer(.reply(_, continues: false)): throw .closed
      case .answer(.failure(let name, _)): try handleFailure(name)
      case .ended(let reason): throw reason
      }
    } catch {
      end(error)
    }
  }

  private func handle(_ parameters: JSONValue) throws(ConnectionEnd) {
    let order: SessionInterface.Attach.Output
    do throws(ParameterError) {
      order = try parameters.decode(SessionInterface.Attach.Output.self)
    } catch {
      throw .unknownOrder(error)
    }
    switch (state, order.attached) {
    case (.attaching(let orders), let number?): try attached(number, orders)
    case (.attaching, nil):
      throw .unknownOrder(ParameterError(parameter: "attached", problem: "is missing"))
    case (.attached(_, let orders, let reports), let again):
      // A restarted daemon has taken over the connections.
      if let again {
        state = .attached(again, orders: orders, reports: reports)
        return begin()
      }
      carryOut(order)
    case (.waiting, _), (.ended, _): break
    }
  }

  private func carryOut(_ order: SessionInterface.Attach.Output) {
    if let notification = order.show, !notifications.hasEnd(of: notification) {
      report(.order(.show(notification)))
    }
    if let withdrawn = order.close { report(.order(.close(withdrawn))) }
    if let badge = order.badge { report(.order(.badge(badge))) }
    if let mute = order.mute { report(.order(.mute(mute))) }
    if let volume = order.volume { report(.order(.volume(volume))) }
    if let measurement = order.measure { report(.order(.measure(measurement))) }
    if let number = order.confirm {
      confirm = number
      report(.order(.confirm))
    }
    if let command = order.command { report(.order(.command(command))) }
    if let player = order.player { report(.order(.player(player))) }
    if let location = order.location {
      if location.accuracy == nil { locations.endLocations() }
      report(.order(.location(location)))
    }
    if order.synchronized == true {
      isSynchronized = true
      report(.order(.synchronized))
      sendReports()
    }
  }

  private func handleFailure(_ name: String) throws(ConnectionEnd) {
    guard SessionInterface.Failure.Name(rawValue: name) == .agentReplaced else {
      throw .refused(error: name)
    }
    close(.ended)
    appearance?.stop()
    report(.replaced)
  }

  // MARK: Reports

  /// Sends the next report, if the daemon has replied to the last one.
  private func sendReports() {
    guard case .attached(let number, _, let reports) = state, reports.waitingCount == 0 else {
      return
    }
    let now = BootClock.now()
    do throws(ConnectionEnd) {
      if let report = players.take(at: now) {
        try reports.send(report, attachment: number)
      } else if isSynchronized, let report = notifications.take() {
        try reports.send(report, attachment: number)
      } else if audio.isDue, let streams = audio.take() {
        try reports.send(streams, attachment: number)
      } else if let report = windows.take(at: now) {
        try reports.send(report, attachment: number)
      } else if let report = locations.take() {
        try reports.send(report, attachment: number)
      } else if let next = [players.next, windows.next].compactMap({ $0 }).min() {
        timer?.set(next)
      }
    } catch {
      end(error)
    }
  }

  private func heardReply(_ occurrence: ServiceConnection.Occurrence) {
    do throws(ConnectionEnd) {
      switch occurrence {
      case .answer(.reply): acknowledged()
      case .answer(.failure(let name, _)):
        switch SessionInterface.Failure.Name(rawValue: name) {
        case .notAttached, .agentReplaced: try handleFailure(name)
        case .agentIsManaged, .reportTooLarge, nil:
          acknowledged()
          report(.refused(error: name))
        }
      case .ended(let reason): throw reason
      }
      sendReports()
    } catch {
      end(error)
    }
  }

  private func acknowledged() {
    notifications.acknowledged()
    players.acknowledged()
  }
}

extension SystemError {
  /// Whether no file has the path.
  fileprivate var isMissing: Bool { errno == ENOENT || errno == ENOTDIR }
}
