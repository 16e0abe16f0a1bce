import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerJournal
import TaskSchedulerWire

/// Accepts connections, counts them by user, and hands each call to the service of its interface.
final class Server: ConnectionOwner {
  let readBuffer = ReadBuffer()
  let journal: Journal
  var options: DaemonOptions
  private let listener: FileDescriptor
  private var source: DescriptorSource?
  private var pause: TimerSource?
  private var isPaused = false
  private let listening = ListenersTurn()
  private let fairShare: FairShare
  private let loop: EventLoop
  private let proc: ProcFS
  private let service: Service
  private let log: Log
  private let kernelHasPeerPIDFD: Bool
  private(set) var connections: [ObjectIdentifier: Connection] = [:]
  private let store: DescriptorStore
  /// Those that are not in the store yet: a call that is over soon need not be.
  private var unsaved: [ObjectIdentifier: Connection] = [:]
  private var saveTimer: TimerSource?
  private static let saveDelay: Duration = .milliseconds(50)
  private var countByUser: [UInt32: Int] = [:] {
    didSet { fairShare.userCount = countByUser.count }
  }
  /// Bytes kept for the connections of each user that has any.
  private var keptByUser: [UInt32: KeptBytes] = [:]
  /// Set once, by the daemon, before the first connection.
  var applications: ApplicationService?
  var control: ControlService?
  var onClosed: (Connection) -> Void = { _ in }

  var queuedBytesMax: Int { options.queuedBytesPerConnectionMax }
  var callsAtOnce: Int { fairShare.callsAtOnce }

  init(
    listener: consuming FileDescriptor, options: DaemonOptions, loop: EventLoop, proc: ProcFS,
    log: Log, journal: Journal, store: DescriptorStore
  ) throws(SystemError) {
    self.listener = listener
    self.journal = journal
    self.store = store
    self.options = options
    self.loop = loop
    self.proc = proc
    self.log = log
    fairShare = try FairShare(loop: loop)
    service = Service(
      vendor: "taskschedd", product: "taskschedd", version: Version.current,
      url: "https://taskschedd.org",
      interfaces: [ApplicationInterface.description, ControlInterface.description])
    let (first, second) = try UnixSocket.pair().ends()
    let end = FileDescriptor(taking: first)
    kernelHasPeerPIDFD = try UnixSocket.peerPIDFD(end.rawValue) != nil
    FileDescriptor(taking: second).close()
    try self.listener.setNonblocking(true)
    pause = try loop.timer { [unowned self] in resumeAccepting() }
    saveTimer = try loop.timer { [unowned self] in saveAll() }
    listening.resume = { [unowned self] in resumeAccepting() }
  }

  var listenerNumber: Int32 { listener.rawValue }

  /// Takes connections from now on. Whoever came while there was no daemon has waited longest, and
  /// comes before the calls of those that were taken over, of whom there may be thousands.
  func start() throws(SystemError) {
    source = try loop.watch(listener.rawValue, for: .input) { [unowned self] _ in accept() }
    for _ in 0..<Self.acceptsAtOnceMax {
      guard let newcomer = acceptNext() else { return }
      newcomer.connection?.takeTurn()
    }
  }

  /// Takes no more connections and closes those there are, unless they are kept for the next
  /// daemon.
  func stop(keepingConnections: Bool) {
    source = nil
    if keepingConnections { return saveAll() }
    for connection in connections.values { connection.close(reason: nil) }
  }

  /// Who may operate may have changed.
  func reconsiderOperators() {
    for connection in connections.values { connection.peer.forgetOperator() }
  }

  // MARK: Connections

  /// How many are accepted before other clients have their turn, where there is one user.
  private static let acceptsAtOnceMax = 64
  private static let acceptPause: Duration = .milliseconds(500)

  /// Accepting is charged to whoever connected. One who has used up the credit keeps the next
  /// waiting until nothing else is ready.
  private func accept() {
    for _ in 0..<(callsAtOnce > 1 ? Self.acceptsAtOnceMax : 1) {
      guard let newcomer = acceptNext() else { return }
      guard fairShare.admits(listening, of: newcomer.user) else {
        source?.wait(for: [])
        return
      }
    }
  }

  /// A connection that was accepted, unless it was refused, and whose it is; nil where none waits,
  /// or none can be had.
  private func acceptNext() -> (user: UInt32, connection: Connection?)? {
    do {
      let start = BootClock.now()
      guard let socket = try UnixSocket.accept(listener.rawValue) else { return nil }
      let credentials = try UnixSocket.credentials(socket.rawValue)
      let connection = try add(socket, credentials)
      fairShare.spend(BootClock.now() - start, by: credentials.uid)
      return (credentials.uid, connection)
    } catch {
      log.write(.warning, "a connection could not be accepted: \(error)")
      pauseAccepting()
      return nil
    }
  }

  /// Without descriptors or memory the next try would fail as well, and the waiting connection
  /// would wake us at once: it waits until a connection is closed, or a while.
  private func pauseAccepting() {
    isPaused = true
    source?.wait(for: [])
    pause?.set(BootClock.after(Self.acceptPause))
  }

  private func resumeAccepting() {
    isPaused = false
    pause?.clear()
    if !listening.isPutOff { source?.wait(for: .input) }
  }

  private func add(
    _ socket: consuming FileDescriptor, _ credentials: PeerCredentials
  ) throws(SystemError) -> Connection? {
    let cookie = try UnixSocket.cookie(socket.rawValue)
    let connection = try makeConnection(socket, credentials, cookie: cookie, held: nil)
    if let connection, store.isThere {
      if unsaved.isEmpty { saveTimer?.set(BootClock.after(Self.saveDelay)) }
      unsaved[ObjectIdentifier(connection)] = connection
    }
    return connection
  }

  /// Takes a connection over from an earlier daemon, as that has set it up; nil where it cannot be.
  func restore(
    _ number: Int32, cookie: UInt64, held: Holdings.Connection?
  ) throws(SystemError) -> Connection? {
    let socket = FileDescriptor(taking: number)
    let credentials = try UnixSocket.credentials(socket.rawValue)
    let connection = try makeConnection(socket, credentials, cookie: cookie, held: held)
    connection?.isSaved = true
    return connection
  }

  private func saveAll() {
    for connection in unsaved.values { save(connection) }
    unsaved = [:]
  }

  func save(_ connection: Connection) {
    guard connection.isOpen, !connection.isSaved else { return }
    connection.isSaved = true
    store.save(connection: connection.number)
  }

  private func makeConnection(
    _ socket: consuming FileDescriptor, _ credentials: PeerCredentials, cookie: UInt64,
    held: Holdings.Connection?
  ) throws(SystemError) -> Connection? {
    let count = countByUser[credentials.uid] ?? 0
    guard count < options.connectionsPerUserMax else {
      refuse(socket, of: credentials.uid)
      return nil
    }
    let peer = try Peer(
      socket.rawValue, credentials: credentials, kernelHasPeerPIDFD: kernelHasPeerPIDFD, proc: proc)
    let connection = try Connection(
      socket, cookie: cookie, peer: peer, service: service, owner: self, loop: loop, held: held)
    connections[ObjectIdentifier(connection)] = connection
    countByUser[credentials.uid] = count + 1
    return connection
  }

  /// Says why to whoever calls, and closes the connection. It is told before it has asked: to wait
  /// for its call would take the descriptor that it is not to have.
  private func refuse(_ socket: consuming FileDescriptor, of uid: UInt32) {
    let max = options.connectionsPerUserMax
    log.write(
      .notice,
      "user \(uid) has MaxConnectionsPerUser = \(max) connections: one more was closed")
    var reply: [UInt8] = []
    Reply.append(
      ApplicationInterface.Failure.quotaExceeded(quota: "MaxConnectionsPerUser", limit: max),
      to: &reply)
    // A new socket has room for it; whoever has hung up needs it not.
    _ = try? reply.withUnsafeBytes { bytes in try UnixSocket.send(socket.rawValue, bytes) }
    UnixSocket.abandon(socket.rawValue)
  }

  func closed(_ connection: Connection, reason: String?) {
    guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
    unsaved[ObjectIdentifier(connection)] = nil
    let uid = connection.peer.uid
    countByUser[uid] = countByUser[uid].flatMap { $0 > 1 ? $0 - 1 : nil }
    if source != nil { resumeAccepting() }
    if let reason {
      log.write(
        .notice, "a connection of process \(connection.peer.credentials.pid) was closed: \(reason)")
    }
    onClosed(connection)
  }

  func keep(_ change: KeptBytes, for user: UInt32) -> String? {
    let kept = (keptByUser[user] ?? KeptBytes()) + change
    keptByUser[user] = kept == KeptBytes() ? nil : kept
    if change.unfinished > 0, kept.unfinished > options.unfinishedBytesPerUserMax {
      return "user \(user) has more than MaxUnfinishedBytesPerUser = "
        + "\(options.unfinishedBytesPerUserMax) bytes in unfinished messages"
    }
    guard change.count > 0, kept.count > options.queuedBytesPerUserMax else { return nil }
    return "user \(user) has more than MaxQueuedBytesPerUser = \(options.queuedBytesPerUserMax) "
      + "bytes in unfinished messages and unread answers"
  }

  // MARK: Calls

  /// Takes what these instances have written by now, whosever turn it is.
  func hear(_ instances: Set<InstanceID>) {
    // One's first word may be on a connection that has not been accepted.
    for _ in 0..<SOMAXCONN where source != nil && !isPaused {
      if acceptNext() == nil { break }
    }
    for connection in connections.values where connection.hasUnheard {
      // Whoever cannot be told now is told when its call is carried out.
      guard let speaker = (try? applications?.instance(of: connection.peer)) ?? nil,
        instances.contains(speaker.id)
      else { continue }
      connection.hear()
    }
  }

  func admits(_ connection: Connection) -> Bool {
    fairShare.admits(connection, of: connection.peer.uid)
  }

  func served(_ connection: Connection, nanoseconds: UInt64) {
    fairShare.spend(nanoseconds, by: connection.peer.uid)
  }

  func handle(_ call: ReceivedCall, on connection: Connection) {
    do {
      guard let applications, let control else { preconditionFailure("not set up") }
      if applications.takes(call) { save(connection) }
      if try applications.handle(call, on: connection) { return }
      if try control.handle(call, on: connection) { return }
      connection.fail(StandardFailure.methodNotImplemented(method: call.method))
    } catch let failure as any MethodFailure {
      connection.fail(failure)
    } catch {
      // The environment's failure, not the caller's: nothing has changed.
      log.write(.warning, "\(call.method) failed: \(error)")
      connection.close(reason: String(describing: error))
    }
  }
}

/// The listening socket, waiting until nothing else is ready.
private final class ListenersTurn: TurnTaker {
  var isPutOff = false
  var resume: () -> Void = {}

  func serve() { resume() }
}
