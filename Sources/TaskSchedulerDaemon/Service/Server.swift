import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire

/// The server that accepts connections, counts them by user, and passes each call to the service of
/// its interface.
final class Server: ConnectionOwner {
  let readBuffer = ReadBuffer()
  let eventLog: EventLog
  var options: DaemonOptions
  private let listener: FileDescriptor
  private var source: DescriptorSource?
  private var pause: TimerSource?
  private var isPaused = false
  private let listening = ListenerWork()
  private let fairShare: FairShare
  private var trimming: HeapTrimming?
  /// The deferred work that frees memory after the start, once the daemon has served the waiting
  /// clients.
  private var afterStart: DeferredSource?
  private let loop: EventLoop
  private let proc: ProcFS
  private let service: Service
  private let log: Log
  private let kernelHasPeerPIDFD: Bool
  private(set) var connections: [ObjectIdentifier: Connection] = [:]
  private let store: DescriptorStore
  /// The connections that are not in systemd's store yet. If the client closes its connection
  /// within ``saveDelay``, the daemon usually does not store the connection.
  private var unsaved: [ObjectIdentifier: Connection] = [:]
  private var saveTimer: TimerSource?
  private static let saveDelay: Duration = .milliseconds(50)
  /// The number of connections that the daemon saves before it serves other clients. Each
  /// connection needs a message to systemd.
  private static let savesAtOnceMax = 64
  private let instanceConnections = InstanceConnections()
  private var countByUser: [UInt32: Int] = [:] {
    didSet { fairShare.userCount = countByUser.count }
  }
  /// The memory and descriptors that the daemon holds for the connections of each user.
  private var heldByUser: [UInt32: HeldResources] = [:]
  /// The users that have too many connections. The log names each user once.
  private var refusedUsers: Set<UInt32> = []
  private let applications: ApplicationService
  private let control: ControlService
  private let sessions: SessionService
  private let onClosed: (Connection) -> Void

  var queuedBytesMax: Int { options.queuedBytesPerConnectionMax }
  var callsAtOnce: Int { fairShare.callsAtOnce }

  /// - Parameter onClosed: Called for each connection that is closed.
  init(
    listener: consuming FileDescriptor, applications: ApplicationService, control: ControlService,
    sessions: SessionService, options: DaemonOptions, loop: EventLoop, proc: ProcFS, log: Log,
    eventLog: EventLog, store: DescriptorStore, onClosed: @escaping (Connection) -> Void
  ) throws(SystemError) {
    self.listener = listener
    self.applications = applications
    self.control = control
    self.sessions = sessions
    self.onClosed = onClosed
    self.eventLog = eventLog
    self.store = store
    self.options = options
    self.loop = loop
    self.proc = proc
    self.log = log
    fairShare = try FairShare(loop: loop)
    service = Service(
      vendor: "taskschedd", product: "taskschedd", version: Version.current,
      url: "https://taskschedd.org",
      interfaces: [
        ApplicationInterface.description, ControlInterface.description,
        SessionInterface.description,
      ])
    let (first, second) = try UnixSocket.pair().ends()
    let end = FileDescriptor(taking: first)
    kernelHasPeerPIDFD = try UnixSocket.peerPIDFD(end.rawValue) != nil
    FileDescriptor(taking: second).close()
    try self.listener.setNonblocking(true)
    pause = try loop.timer { [unowned self] in resumeAccepting() }
    saveTimer = try loop.timer { [unowned self] in saveSome() }
    Heap.returnLargeBlocks()
    trimming = try HeapTrimming(loop: loop, trim: Self.returnMemory)
    afterStart = try loop.whenIdle(Self.returnMemory)
    fairShare.worked = { [unowned self] in trimming?.worked($0) }
    listening.takeTurn = { [unowned self] in takeListenersTurn() }
    applications.whenRemoved { [unowned self] in instanceConnections.forget($0) }
  }

  var listenerNumber: Int32 { listener.rawValue }

  func hasConnection(_ cookie: UInt64) -> Bool {
    connections.values.contains { $0.cookie == cookie }
  }

  /// Begins to accept connections. Clients that connected while no daemon ran have waited longest.
  /// The server accepts them before it serves inherited connections, of which there may be
  /// thousands.
  func start() throws(SystemError) {
    afterStart?.request()
    source = try loop.watch(listener.rawValue, for: .input) { [unowned self] _ in accept() }
    // Without this priority, thousands of connections of one user could have a turn before the next
    // accept.
    source?.setImportantPriority()
    for _ in 0..<Self.acceptsAtStartMax {
      guard let newcomer = acceptNext() else { return }
      newcomer.connection?.takeTurn()
    }
  }

  /// Returns to the kernel the memory that an idle daemon does not need. Half of the resident
  /// memory is code that runs only at the start or in a busy time.
  private static func returnMemory() {
    Heap.trim()
    // A failure is harmless: the daemon then keeps the memory.
    try? ProgramPages.unmapUnchanged()
  }

  /// Stops accepting connections, and closes the existing ones unless the next daemon takes them
  /// over.
  func stop(keepingConnections: Bool) {
    source = nil
    if keepingConnections { return saveAll() }
    for connection in connections.values { connection.close(reason: nil) }
  }

  /// Forgets which users are operators, because the operators' group may have changed.
  func reconsiderOperators() {
    for connection in connections.values { connection.peer.forgetOperator() }
  }

  // MARK: Connections

  /// The number of connections that the daemon accepts before it serves inherited ones.
  private static let acceptsAtStartMax = 64
  /// The time for which the daemon accepts connections before it serves other clients, in
  /// nanoseconds.
  private static let acceptTime: UInt64 = 100_000
  private static let acceptPause: Duration = .milliseconds(500)

  /// Accepts connections. Accepting has its own share of the daemon's time (``FairShare``). The
  /// time also counts against the credit of the users that connect.
  private func accept() {
    guard fairShare.admits(listening, of: .newcomers) else {
      source?.wait(for: [])
      return
    }
    acceptSome()
  }

  private func takeListenersTurn() {
    guard source != nil, !isPaused else { return }
    acceptSome()
    if !isPaused { resumeAccepting() }
  }

  private func acceptSome() {
    let start = BootClock.now()
    while BootClock.now() - start < Self.acceptTime, let newcomer = acceptNext() {
      // Often, the first call has already arrived. Carry it out without waiting for the loop.
      newcomer.connection?.takeTurn()
    }
  }

  /// Accepts a connection. Returns its user, and the connection unless the daemon refused it.
  /// Returns nil if no connection waits or accepting fails.
  private func acceptNext() -> (user: UInt32, connection: Connection?)? {
    do {
      let start = BootClock.now()
      guard let socket = try UnixSocket.accept(listener.rawValue) else { return nil }
      let credentials = try UnixSocket.credentials(socket.rawValue)
      let connection = try add(socket, credentials)
      let time = BootClock.now() - start
      fairShare.spend(time, by: .user(credentials.uid))
      fairShare.spend(time, by: .newcomers)
      return (credentials.uid, connection)
    } catch {
      log.write(.warning, "cannot accept a connection: \(error)")
      pauseAccepting()
      return nil
    }
  }

  /// Stops accepting until a connection closes, but at most for ``acceptPause``. If the daemon
  /// lacks descriptors or memory, the next attempt would fail too, and the waiting connection would
  /// wake the daemon again and again.
  private func pauseAccepting() {
    isPaused = true
    source?.wait(for: [])
    pause?.set(BootClock.after(Self.acceptPause))
  }

  private func resumeAccepting() {
    isPaused = false
    pause?.clear()
    if !listening.isDeferred { source?.wait(for: .input) }
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

  /// Takes over a connection from an earlier daemon; returns nil if the user has too many
  /// connections.
  func restore(
    _ number: Int32, cookie: UInt64, held: DaemonState.Connection?
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

  private func saveSome() {
    for _ in 0..<Self.savesAtOnceMax {
      guard let (_, connection) = unsaved.popFirst() else { return }
      save(connection)
    }
    saveTimer?.set(BootClock.after(.milliseconds(1)))
  }

  func save(_ connection: Connection) {
    guard connection.isOpen, !connection.isSaved else { return }
    connection.isSaved = true
    store.save(connection: connection.number)
  }

  private func makeConnection(
    _ socket: consuming FileDescriptor, _ credentials: PeerCredentials, cookie: UInt64,
    held: DaemonState.Connection?
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
    instanceConnections.add(connection)
    countByUser[credentials.uid] = count + 1
    return connection
  }

  /// Sends the client the reason for the refusal, and closes the connection. Does not wait for a
  /// call, because an open connection would occupy a descriptor beyond the user's share.
  private func refuse(_ socket: consuming FileDescriptor, of uid: UInt32) {
    let max = options.connectionsPerUserMax
    if refusedUsers.insert(uid).inserted {
      log.write(
        .notice, "user \(uid) has reached MaxConnectionsPerUser (\(max)); closing new connections")
    }
    var reply: [UInt8] = []
    Reply.append(
      ApplicationInterface.Failure.quotaExceeded(quota: "MaxConnectionsPerUser", limit: max),
      to: &reply)
    // A new socket has room for the reply. If the client has closed its end, the error does not
    // matter.
    _ = try? reply.withUnsafeBytes { bytes in try UnixSocket.send(socket.rawValue, bytes) }
    UnixSocket.abandon(socket.rawValue)
  }

  func closed(_ connection: Connection, reason: String?) {
    guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
    unsaved[ObjectIdentifier(connection)] = nil
    instanceConnections.remove(connection)
    let uid = connection.peer.uid
    let count = (countByUser[uid] ?? 1) - 1
    countByUser[uid] = count > 0 ? count : nil
    if count <= options.connectionsPerUserMax / 2 { refusedUsers.remove(uid) }
    if source != nil, isPaused { resumeAccepting() }
    if let reason {
      log.write(
        .notice, "closed a connection of process \(connection.peer.credentials.pid): \(reason)")
    }
    onClosed(connection)
  }

  func keep(_ change: HeldResources, for user: UInt32) -> String? {
    let kept = (heldByUser[user] ?? HeldResources()) + change
    heldByUser[user] = kept == HeldResources() ? nil : kept
    if change.descriptors > 0, kept.descriptors > options.unfinishedDescriptorsPerUserMax {
      return "user \(user) exceeds MaxUnfinishedDescriptorsPerUser "
        + "(\(options.unfinishedDescriptorsPerUserMax) descriptors in unfinished messages and "
        + "unread answers)"
    }
    if change.unfinished > 0, kept.unfinished > options.unfinishedBytesPerUserMax {
      return "user \(user) exceeds MaxUnfinishedBytesPerUser "
        + "(\(options.unfinishedBytesPerUserMax) bytes in unfinished messages)"
    }
    guard change.bytes > 0, kept.bytes > options.queuedBytesPerUserMax else { return nil }
    return "user \(user) exceeds MaxQueuedBytesPerUser (\(options.queuedBytesPerUserMax) bytes in "
      + "unfinished messages and unread answers)"
  }

  // MARK: Calls

  /// Returns the operations that ``LimitCheck`` needs before the scheduler enforces a limit.
  ///
  /// - Parameter user: Returns the user of an instance; nil if the instance has ended.
  func limitCheckConnections(user: @escaping (InstanceID) -> UInt32?) -> LimitCheck.Connections {
    LimitCheck.Connections(
      accept: { [unowned self] in acceptWaiting() },
      carryOut: { [unowned self] in carryOutPendingCalls($0, of: $1, until: $2) }, user: user)
  }

  /// Accepts the waiting connections, because an instance's first call may be on one of them.
  private func acceptWaiting() {
    for _ in 0..<UnixSocket.backlog where source != nil && !isPaused {
      if acceptNext() == nil { break }
    }
  }

  /// Carries out the calls that these instances of one user have made so far, without regard to
  /// turns.
  ///
  /// - Parameter end: The instant at which to stop (CLOCK_BOOTTIME).
  /// - Returns: Whether all calls were carried out.
  private func carryOutPendingCalls(
    _ instances: Set<InstanceID>, of user: UInt32, until end: UInt64
  ) -> Bool {
    // In another order in each step, so that one instance that sends without end does not keep the
    // calls of the others unread.
    for id in instances.shuffled() {
      for connection in instanceConnections.known(of: id) where connection.hasUnread {
        guard connection.carryOutPending(until: end) else { return false }
      }
    }
    guard carryOutUnattributedCalls(instances, of: user, until: end) else { return false }
    // A process of an instance may run as another user. The daemon examines the connections of
    // other users only for a short time, because there may be thousands.
    let othersEnd = min(end, BootClock.now() + Self.othersTime)
    for other in instanceConnections.users where other != user {
      _ = carryOutUnattributedCalls(instances, of: other, until: othersEnd)
    }
    return true
  }

  /// The time for the connections of users other than the instance's user, in nanoseconds.
  private static let othersTime: UInt64 = 1_000_000

  private func carryOutUnattributedCalls(
    _ instances: Set<InstanceID>, of user: UInt32, until end: UInt64
  ) -> Bool {
    let start = BootClock.now()
    let (found, isAll) = instanceConnections.place(of: user, applications, until: end)
    fairShare.spend(BootClock.now() - start, by: .user(user))
    var isWhole = isAll
    for connection in found where connection.knownInstance.map(instances.contains) == true {
      isWhole = connection.carryOutPending(until: end) && isWhole
    }
    return isWhole
  }

  func admits(_ connection: Connection) -> Bool {
    fairShare.admits(connection, of: .user(connection.peer.uid))
  }

  func served(_ connection: Connection, nanoseconds: UInt64) {
    fairShare.spend(nanoseconds, by: .user(connection.peer.uid))
  }

  /// Returns whether a oneway call has no effect, so that the daemon can skip it once the client
  /// has closed its connection.
  func isUseless(_ call: ReceivedCall, on connection: Connection) -> Bool {
    if let method = ApplicationInterface.MethodName(rawValue: call.method) {
      return method.isQuery || (method != .register && isUnmanaged(connection))
    }
    if let method = SessionInterface.MethodName(rawValue: call.method) { return method == .attach }
    return ControlInterface.MethodName(rawValue: call.method)?.isQuery ?? true
  }

  private func isUnmanaged(_ connection: Connection) -> Bool {
    instanceConnections.isUnmanaged(connection, applications)
  }

  func handle(_ call: ReceivedCall, on connection: Connection) {
    do {
      defer { instanceConnections.note(connection) }
      applications.requests.method = call.method
      if let method = ApplicationInterface.MethodName(rawValue: call.method) {
        save(connection)
        try ApplicationInterface.carryOut(method, call, by: applications, for: connection)
      } else if let method = ControlInterface.MethodName(rawValue: call.method) {
        try ControlInterface.carryOut(method, call, by: control, for: connection)
      } else if let method = SessionInterface.MethodName(rawValue: call.method) {
        try SessionInterface.carryOut(method, call, by: sessions, for: connection)
      } else {
        connection.fail(StandardFailure.methodNotImplemented(method: call.method))
      }
    } catch let failure as any MethodFailure {
      connection.fail(failure)
    } catch {
      // The system caused the failure, not the caller. The call has changed nothing.
      log.write(.warning, "\(call.method) failed: \(error)")
      connection.close(reason: String(describing: error))
    }
  }
}

/// The listening socket as a source of work in ``FairShare``.
private final class ListenerWork: WorkSource {
  var isDeferred = false
  var takeTurn: () -> Void = {}

  func serve() { takeTurn() }
}
