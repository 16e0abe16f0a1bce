import CPulse
import EventLoop
import LinuxSystem
import TaskSchedulerWire

/// A monitor that reports the streams of the user's audio server, mutes streams, and changes their
/// volumes.
///
/// The server may be PulseAudio, or PipeWire with pipewire-pulse. The server may end and start
/// again at any time. inotify then reports the new socket.
final class AudioMonitor {
  /// An event of the monitor.
  enum Occurrence {
    /// A list of all streams. The monitor reports the first list when the server has sent its
    /// streams. If no server listens, the first list is empty. `followsOrders` is true if the
    /// monitor has requested the list after it had sent all orders.
    case streams(AudioStreams, followsOrders: Bool)
    /// The monitor cannot reach the audio server, and waits for it.
    case unreachable(AudioFailure)
  }

  private enum State {
    case waiting
    case connecting(AudioConnection)
    case ready(AudioConnection)
  }

  /// The delay after the first failed attempt, in nanoseconds. It doubles with each further
  /// attempt. The monitor must try again, because inotify reports the socket when the server binds
  /// it, slightly before the server listens.
  private static let firstDelay: UInt64 = 10_000_000
  /// The maximum number of doublings. The longest delay is 5.5 minutes.
  private static let doublingsMax = 15
  /// The number of retries after which the monitor no longer tries a socket on which no server
  /// listens. It then waits for a new socket.
  private static let attemptsMax = 7
  /// The maximum number of streams in a report.
  static let streamsMax = 1024

  private let path: String
  private let loop: EventLoop
  private let proc: ProcFS
  private let report: (Occurrence) -> Void
  private var state = State.waiting
  private var appearance: SocketAppearance?
  private var timer: TimerSource?
  private var attempts = 0
  private var pace = ReportPace()
  private var refreshTimer: TimerSource?
  private var mutes = MuteOrders()
  private var volumeOrders = VolumeOrders()
  /// The streams that the daemons want to be measured, by audio server.
  private var measured: [UInt64: Set<UInt32>] = [:]
  /// Called when the server has carried out all orders, or when the connection ends.
  private var settled: (() -> Void)?
  /// The failure that was reported last; nil while the monitor is connected.
  private var problem: AudioFailure?

  /// - Parameters:
  ///   - path: the absolute path of the server's socket, which need not exist yet.
  ///   - report: called from the loop, and from within ``start()``.
  init(
    path: String, loop: EventLoop, proc: ProcFS, report: @escaping (Occurrence) -> Void
  ) throws(SystemError) {
    self.path = path
    self.loop = loop
    self.proc = proc
    self.report = report
    appearance = SocketAppearance(path: path, loop: loop) { [weak self] in self?.socketAppeared() }
    timer = try loop.timer { [weak self] in self?.connect() }
    refreshTimer = try loop.timer { [weak self] in self?.refresh() }
  }

  /// Connects to the server as soon as it listens.
  func start() { connect() }

  /// Mutes streams of a server, or ends their mutes.
  func setMuted(_ streams: [UInt32], _ isMuted: Bool, of generation: UInt64) {
    for stream in streams { mutes.add(isMuted, stream: stream, of: generation) }
    guard case .ready(let connection) = state, connection.generation == generation else { return }
    for stream in streams { connection.setMute(stream, isMuted) }
  }

  /// Changes the volumes of streams of a server, unless another client has changed them.
  func setVolumes(_ changes: [AudioVolumeChange], of generation: UInt64) {
    for change in changes { volumeOrders.add(change, of: generation) }
    // The volumes of the last list may be out of date. The changes are sent after the next list.
    guard case .ready(let connection) = state else { return }
    connection.refresh()
  }

  /// Calls `done` when the server has carried out all orders or the connection ends. Without a
  /// connection to a server, calls `done` at once. May call `done` more than once.
  func settle(_ done: @escaping () -> Void) {
    guard case .ready(let connection) = state else { return done() }
    settled = done
    connection.refresh()
  }

  /// Measures exactly these streams of each server. A measured stream wakes the agent once a
  /// second.
  func measure(_ streams: [UInt64: Set<UInt32>]) {
    let before = measured
    measured = streams
    guard case .ready(let connection) = state else { return }
    let generation = connection.generation
    let (old, new) = (before[generation] ?? [], streams[generation] ?? [])
    for stream in old.subtracting(new) { connection.setMeasured(stream, false) }
    for stream in new.subtracting(old) { connection.setMeasured(stream, true) }
  }

  // MARK: The connection

  private func socketAppeared() {
    attempts = 0
    connect()
  }

  /// Connects to the server. Begins to watch for the socket before the attempt. Otherwise, the
  /// monitor would miss a socket that appears during the attempt.
  private func connect() {
    guard case .waiting = state else { return }
    timer?.clear()
    do throws(SystemError) {
      try appearance?.start()
      state = .connecting(
        try AudioConnection(path: path, loop: loop) { [weak self] in self?.heard($0) })
    } catch {
      ended(AudioFailure(isRefused: false, description: error.description))
    }
  }

  private func heard(_ occurrence: AudioConnection.Occurrence) {
    switch (state, occurrence) {
    case (.waiting, _): break
    case (.connecting(let connection), .listed(let streams)):
      state = .ready(connection)
      appearance?.stop()
      attempts = 0
      problem = nil
      listed(streams, of: connection, isFirst: true)
      for stream in measured[connection.generation] ?? [] { connection.setMeasured(stream, true) }
    case (.ready(let connection), .listed(let streams)):
      listed(streams, of: connection, isFirst: false)
    case (.connecting, .stale), (.ready, .stale): refresh()
    case (.connecting, .ended(let failure)), (.ready, .ended(let failure)): ended(failure)
    }
  }

  /// Reports the failure, and prepares the next attempt.
  private func ended(_ failure: AudioFailure) {
    state = .waiting
    refreshTimer?.clear()
    settled?()
    volumeOrders.disconnected()
    if problem != failure {
      problem = failure
      report(.unreachable(failure))
    }
    report(.streams(AudioStreams(), followsOrders: false))
    // A server that ended may have left its socket file behind. No attempt can then succeed.
    if failure.isRefused, attempts >= Self.attemptsMax { return }
    timer?.set(BootClock.now() + Self.firstDelay << UInt64(min(attempts, Self.doublingsMax)))
    attempts += 1
  }

  // MARK: The streams

  /// Reads and reports the streams again, at once or, if they change continuously, a little later.
  func refresh() {
    guard case .ready(let connection) = state else { return }
    let now = BootClock.now()
    if pace.next <= now {
      pace.count(at: now)
      connection.refresh()
    } else {
      refreshTimer?.set(pace.next)
    }
  }

  /// Reports a list of streams, and sends the orders that waited for it: the changes of volumes,
  /// and after the first list of a connection also the mutes.
  private func listed(
    _ streams: [cpulse_stream], of connection: AudioConnection, isFirst: Bool
  ) {
    var muted: [UInt32: Bool] = [:]
    var volumes: [UInt32: Int] = [:]
    for stream in streams where !stream.is_recording {
      muted[stream.index] = stream.is_muted
      volumes[stream.index] = Int(stream.volume)
    }
    let outstanding = mutes.confirm(muted, of: connection.generation)
    if isFirst { for order in outstanding { connection.setMute(order.stream, order.isMuted) } }
    for order in volumeOrders.take(volumes, of: connection.generation) {
      connection.setVolume(order.stream, order.volume)
    }
    // Each order that is sent makes the list stale.
    let followsOrders = !connection.isStale
    reportStreams(streams, of: connection, followsOrders: followsOrders)
    if followsOrders, mutes.isEmpty, volumeOrders.isEmpty { settled?() }
  }

  private func reportStreams(
    _ streams: [cpulse_stream], of connection: AudioConnection, followsOrders: Bool
  ) {
    var processes: [Int32: ProcessIdentity?] = [:]
    var reported: [AudioStream] = []
    for stream in streams where stream.pid > 0 {
      if processes[stream.pid] == nil {
        processes[stream.pid] = .some((try? proc.identity(stream.pid)) ?? nil)
      }
      guard let process = processes[stream.pid] ?? nil else { continue }
      reported.append(AudioStream(stream, of: process))
    }
    // Streams that run come first, because a report has a maximum length.
    let ordered = reported.filter(\.isRunning) + reported.filter { !$0.isRunning }
    let server = AudioServer(
      path: path, generation: connection.generation, managesRoles: connection.managesRoles)
    let all = AudioStreams(server: server, streams: Array(ordered.prefix(Self.streamsMax)))
    report(.streams(all, followsOrders: followsOrders))
  }
}

extension AudioStream {
  fileprivate init(_ stream: cpulse_stream, of process: ProcessIdentity) {
    self.init(
      id: stream.index, isRecording: stream.is_recording, role: .init(stream.role),
      volume: Int(stream.volume), process: process, isClaimed: stream.is_claimed,
      isRunning: !stream.is_corked && stream.has_device && stream.is_loud,
      isMuted: stream.is_muted, isSilent: stream.is_silent, memory: stream.memory)
  }
}

extension SessionInterface.AudioRole {
  fileprivate init(_ role: cpulse_role) {
    switch role {
    case CPULSE_ROLE_PHONE: self = .phone
    case CPULSE_ROLE_EVENT: self = .event
    case CPULSE_ROLE_NOTIFICATION: self = .notification
    case CPULSE_ROLE_ACCESSIBILITY: self = .accessibility
    case _: self = .other
    }
  }
}
