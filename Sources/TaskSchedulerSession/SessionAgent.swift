import EventLoop
import LinuxSystem
import TaskSchedulerWire

/// The session agent of a user. Reports which windows the user sees, which applications play or
/// record, which media players other programs call, and where the machine is. Shows the
/// notifications of the user's applications, mutes their audio or changes its volume, and passes
/// commands to them.
///
/// The agent runs without privileges. It never blocks. If a daemon, a compositor or a bus hangs,
/// only the work that needs it stops.
package final class SessionAgent {
  /// An event for the log.
  package enum Occurrence: CustomStringConvertible {
    /// The daemon at this socket has accepted the agent.
    case attached(socket: String)
    /// The agent is not attached to the daemon at this socket, and waits for it.
    case unreachable(socket: String, ConnectionEnd)
    /// The daemon at this socket refused a report with this error.
    case refused(socket: String, error: String)
    /// Another agent of the user has attached to the daemon. This agent must exit.
    case replaced(socket: String)
    /// The agent knows the windows of the session.
    case windowsKnown
    /// The agent no longer knows the windows.
    case windowsUnknown(SourceEnd?)
    /// The agent found no compositor or X server that it knows.
    case windowsAbsent(SessionEnvironment)
    /// The agent cannot show notifications, and keeps them until it can. The value is the reason.
    case notificationsWait(DesktopFailure)
    /// The agent can show notifications again.
    case notificationsShown
    /// The agent knows the streams of the audio server.
    case audioKnown
    /// The agent cannot reach the audio server, and waits for it.
    case audioUnknown(AudioFailure)
    /// The audio server has begun or ceased to manage streams according to their roles.
    case audioRolesManaged(Bool)
    /// The session bus does not permit a part of remote control.
    case remoteControlLimited(RemoteControlLimit)
    /// A daemon needs the location, but the agent cannot report it.
    case locationUnknown(GeoClueProblem)
    /// The agent can report the location again.
    case locationKnown

    package var description: String {
      switch self {
      case .attached(let socket): "attached to the daemon at \(socket)"
      case .unreachable(let socket, let reason):
        "waiting for the daemon at \(socket): \(reason)"
      case .refused(let socket, let error):
        "the daemon at \(socket) refused a report: \(error)"
      case .replaced(let socket):
        "another session agent of this user has attached to the daemon at \(socket)"
      case .windowsKnown: "reporting the windows of the session"
      case .windowsUnknown(let reason):
        "the windows of the session are unknown: "
          + (reason?.description ?? "the window manager has ended")
      case .windowsAbsent(let environment):
        "cannot see the windows of the session: found no sway, X server or KWin with "
          + environment.displayText
      case .notificationsWait(let reason): "cannot show notifications: \(reason)"
      case .notificationsShown: "can show notifications again"
      case .audioKnown: "reporting the streams of the audio server"
      case .audioUnknown(let reason): "waiting for the audio server: \(reason)"
      case .audioRolesManaged(true):
        "the audio server manages streams by their media roles, so the daemon does not lower "
          + "volumes, and applications do not interrupt each other"
      case .audioRolesManaged(false): "the audio server does not manage streams by media roles"
      case .remoteControlLimited(let limit): "\(limit)"
      case .locationUnknown(let problem): "cannot report the location: \(problem)"
      case .locationKnown: "can report the location again"
      }
    }
  }

  /// The default for how long the agent waits for a daemon to return, in nanoseconds. It equals the
  /// default of SessionGraceTime, for which the daemon waits for an agent.
  package static let defaultGraceTime: UInt64 = 10_000_000_000

  private let report: (Occurrence) -> Void
  private var links: [DaemonLink] = []
  private var focus: FocusMonitor?
  private var notifications: DesktopNotifications?
  private var areWindowsKnown = false
  private let environment: SessionEnvironment
  private var audio: AudioMonitor?
  private var isAudioKnown = false
  private var areAudioRolesManaged = false
  private var audioChanges = DaemonAudioChanges()
  private var measurements = DaemonMeasurements()
  private var remoteControl: RemoteControl?
  private var geoClue: GeoClueMonitor?
  private var locationOrders = DaemonLocationOrders()
  /// For each daemon, a timer that expires if the daemon does not return.
  private var absences: [TimerSource] = []
  private let graceTime: UInt64
  /// The handler to call when the agent has undone the daemons' changes, or when ``stopTime`` has
  /// passed; nil until the agent begins to stop.
  private var stopped: (() -> Void)?
  private var stopTimer: TimerSource?
  /// The maximum time to undo what the daemons have changed, in nanoseconds. An audio server needs
  /// some milliseconds.
  private static let stopTime: UInt64 = 1_000_000_000

  /// Starts the agent.
  ///
  /// - Parameters:
  ///   - sockets: the absolute paths of the daemons' sockets, which need not exist yet.
  ///   - graceTime: how long the agent waits for a daemon to return before it undoes the daemon's
  ///     changes, in nanoseconds.
  ///   - report: called for each event, from the loop and from within this initializer.
  package init(
    loop: EventLoop, sockets: [String], environment: SessionEnvironment,
    graceTime: UInt64 = SessionAgent.defaultGraceTime,
    report: @escaping (Occurrence) -> Void
  ) throws(SystemError) {
    self.report = report
    self.environment = environment
    self.graceTime = graceTime
    notifications = try DesktopNotifications(
      address: environment.busAddress, loop: loop,
      problemChanged: { problem in
        report(problem.map { Occurrence.notificationsWait($0) } ?? .notificationsShown)
      },
      report: { [weak self] daemon, notification in self?.links[daemon].add(notification) })
    for (number, path) in sockets.enumerated() {
      links.append(
        try DaemonLink(path: path, loop: loop) { [weak self] in
          self?.heard($0, from: number, at: path)
        })
      absences.append(try loop.timer { [weak self] in self?.endOrders(of: number) })
    }
    stopTimer = try loop.timer { [weak self] in self?.stopped?() }
    for link in links { link.start() }
    focus = try FocusMonitor(loop: loop, environment: environment, proc: ProcFS()) {
      [weak self] in self?.heard($0)
    }
    if let path = environment.audioSocket {
      audio = try AudioMonitor(path: path, loop: loop, proc: ProcFS()) { [weak self] in
        self?.heard($0)
      }
    }
    audio?.start()
    if let address = environment.busAddress {
      remoteControl = try RemoteControl(
        address: BusAddress(text: address), loop: loop, proc: ProcFS()
      ) { [weak self] in self?.heard($0) }
    }
    remoteControl?.start()
    if let address = environment.systemBusAddress {
      geoClue = try GeoClueMonitor(address: BusAddress(text: address), loop: loop) { [weak self] in
        self?.heard($0)
      }
    }
    geoClue?.start()
  }

  /// Undoes the daemons' changes at the audio server, which would remember them for the next
  /// session. Then calls `done`, possibly more than once. The daemons send their orders again to
  /// the next agent.
  package func stop(_ done: @escaping () -> Void) {
    stopped = done
    for daemon in links.indices { endOrders(of: daemon) }
    stopTimer?.set(BootClock.now() + Self.stopTime)
    guard let audio else { return done() }
    audio.settle(done)
  }

  private func heard(_ occurrence: DaemonLink.Occurrence, from daemon: Int, at path: String) {
    if stopped != nil { return }
    switch occurrence {
    case .attached:
      absences[daemon].clear()
      audio?.measure(measurements.end(of: daemon))
      remoteControl?.endPlayer(of: daemon)
      endLocations(of: daemon)
      notifications?.attached(daemon)
      report(.attached(socket: path))
    case .unreachable(let reason):
      absences[daemon].set(BootClock.now() + graceTime)
      report(.unreachable(socket: path, reason))
    case .refused(let error): report(.refused(socket: path, error: error))
    case .replaced:
      audio?.measure(measurements.end(of: daemon))
      endLocations(of: daemon)
      report(.replaced(socket: path))
    case .order(.show(let notification)): notifications?.show(notification, of: daemon)
    case .order(.close(let withdrawn)): notifications?.close(withdrawn, of: daemon)
    case .order(.badge(let badge)): notifications?.setBadge(badge, of: daemon)
    case .order(.synchronized): notifications?.synchronized(daemon)
    case .order(.mute(let mute)):
      audioChanges.take(mute, of: daemon)
      carryOut(mute)
    case .order(.volume(let volume)):
      audioChanges.take(volume, of: daemon)
      carryOut(volume)
    case .order(.measure(let measurement)):
      audio?.measure(measurements.take(measurement, of: daemon))
    case .order(.confirm): audio?.refresh()
    case .order(.command(let command)): remoteControl?.send(command)
    case .order(.player(let player)): remoteControl?.presentPlayer(player, of: daemon)
    case .order(.location(let order)): take(order, of: daemon)
    }
  }

  /// Ends the orders of a daemon: the mutes and lowered volumes, the measurements, the media
  /// player, and the locations. The agent does this for a daemon that has not returned, and for
  /// each daemon when the agent stops.
  private func endOrders(of daemon: Int) {
    let restoration = audioChanges.end(of: daemon)
    if let volume = restoration.volume { carryOut(volume) }
    if let mute = restoration.mute { carryOut(mute) }
    audio?.measure(measurements.end(of: daemon))
    remoteControl?.endPlayer(of: daemon)
    endLocations(of: daemon)
  }

  private func take(_ order: SessionInterface.LocationOrder, of daemon: Int) {
    let isNew = !locationOrders.includes(daemon)
    locationOrders.take(order, of: daemon)
    geoClue?.order(locationOrders.accuracy)
    // GeoClue need not report its newest location again. Send the daemon the location that the
    // agent has already received for another daemon.
    if isNew, locationOrders.includes(daemon), let location = geoClue?.location {
      links[daemon].add(location)
    }
  }

  private func endLocations(of daemon: Int) {
    locationOrders.end(of: daemon)
    geoClue?.order(locationOrders.accuracy)
  }

  private func carryOut(_ mute: SessionInterface.AudioMute) {
    guard let generation = UInt64(exactly: mute.generation) else { return }
    audio?.setMuted(
      mute.streams.compactMap { UInt32(exactly: $0) }, mute.muted, of: generation)
  }

  private func carryOut(_ volume: SessionInterface.AudioVolume) {
    guard let generation = UInt64(exactly: volume.generation) else { return }
    audio?.setVolumes(volume.changes.compactMap { AudioVolumeChange($0) }, of: generation)
  }

  private func heard(_ occurrence: AudioMonitor.Occurrence) {
    switch occurrence {
    case .streams(let streams, let followsOrders):
      if streams.server != nil, !isAudioKnown {
        isAudioKnown = true
        report(.audioKnown)
      }
      if let server = streams.server, server.managesRoles != areAudioRolesManaged {
        areAudioRolesManaged = server.managesRoles
        report(.audioRolesManaged(areAudioRolesManaged))
      }
      if stopped == nil {
        for link in links { link.update(streams, followsOrders: followsOrders) }
      }
    case .unreachable(let reason):
      isAudioKnown = false
      report(.audioUnknown(reason))
    }
  }

  private func heard(_ occurrence: RemoteControl.Occurrence) {
    switch occurrence {
    case .players(let players): for link in links { link.update(players) }
    // Only the daemon that manages the player uses the report.
    case .called(let call): for link in links { link.add(call) }
    case .commanded(let daemon, let command): links[daemon].add(command)
    case .limited(let limit): report(.remoteControlLimited(limit))
    }
  }

  private func heard(_ occurrence: GeoClueMonitor.Occurrence) {
    switch occurrence {
    case .available(let isAvailable):
      for link in links { link.update(isGeoClueAvailable: isAvailable) }
    case .location(let location):
      for (daemon, link) in links.enumerated() where locationOrders.includes(daemon) {
        link.add(location)
      }
    case .limited(let problem): report(.locationUnknown(problem))
    case .solved: report(.locationKnown)
    }
  }

  private func heard(_ occurrence: FocusMonitor.Occurrence) {
    switch occurrence {
    case .windows(let windows):
      if !areWindowsKnown { report(.windowsKnown) }
      areWindowsKnown = true
      for link in links { link.update(windows) }
    case .unknown(let reason):
      areWindowsKnown = false
      report(.windowsUnknown(reason))
      for link in links { link.update(nil) }
    case .absent: report(.windowsAbsent(environment))
    }
  }
}
