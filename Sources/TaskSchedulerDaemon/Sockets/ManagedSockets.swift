import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// The connections that applications have handed over to the daemon. The daemon watches a
/// connection while its application is suspended.
///
/// For each application, a separate epoll descriptor collects the edge-triggered events of the
/// connections. The event loop watches this epoll descriptor only while the application is
/// suspended. Data for a running application therefore does not wake the daemon. If such data is
/// still unread when the daemon suspends the application, the daemon then reports it. A daemon
/// reports no data twice; after a restart, the next daemon may repeat a report.
///
/// The daemon's watch does not keep a connection open (``SocketWatch``). A connection ends when the
/// application closes it, at the latest when the application ends.
final class ManagedSockets {
  /// Reports the ready sockets of an instance, in the order in which the application handed them
  /// over.
  typealias Report = (InstanceID, [(socket: UInt64, conditions: SocketPollEvents)]) -> Void

  private let loop: EventLoop
  private let report: Report
  private var instances: [InstanceID: Instance] = [:]
  private var watched: Set<InstanceID> = []
  /// The events for which the loop watches an epoll descriptor. They are edge-triggered: a report
  /// contains all ready sockets, so the kernel need not examine all sockets again after a report.
  private static let edges: PollEvents = [.input, .onChange]

  /// - Parameter report: Called with the ready sockets. The function may call any method of this
  ///   object.
  init(loop: EventLoop, report: @escaping Report) {
    self.loop = loop
    self.report = report
  }

  /// Starts watching a connection, whether or not its instance is suspended. Data that is already
  /// in the socket counts as new.
  ///
  /// - Parameters:
  ///   - descriptor: The connection, validated by ``ConnectedSocket``. The method closes this
  ///     descriptor.
  ///   - socket: The cookie of the socket, which shows whether a socket is handed over twice.
  /// - Returns: The descriptor of the watch, for the descriptor store; nil if the socket is already
  ///   watched.
  /// - Throws: EMFILE, ENFILE, ENOMEM; ENOSPC or EINVAL if the kernel already watches too many
  ///   descriptors. After an error, nothing has changed.
  @discardableResult
  func add(
    _ descriptor: consuming FileDescriptor, as socket: UInt64, of id: InstanceID
  ) throws(SystemError) -> Int32? {
    if contains(socket, of: id) { return nil }
    let watch = try SocketWatch(of: descriptor.rawValue)
    let number = watch.rawValue
    try add(watch, as: socket, of: id)
    return number
  }

  /// Continues a watch of the previous daemon. Data in the socket counts as new, because the
  /// previous daemon may not have reported it.
  ///
  /// - Returns: false if the connection is closed, or the descriptor is not a watch.
  func restore(
    _ descriptor: consuming FileDescriptor, as socket: UInt64, of id: InstanceID
  ) throws -> Bool {
    let watch = SocketWatch(adopting: descriptor)
    guard try watch.isConnectionOpen() else { return false }
    try add(watch, as: socket, of: id)
    return true
  }

  private func add(
    _ watch: consuming SocketWatch, as socket: UInt64, of id: InstanceID
  ) throws(SystemError) {
    let instance = if let known = instances[id] { known } else { try makeInstance(id) }
    try instance.add(Socket(socket, watch))
    instances[id] = instance
  }

  private func makeInstance(_ id: InstanceID) throws(SystemError) -> Instance {
    let instance = Instance(try Epoll())
    // Registering with the loop can fail, so register only once. A later change of the watched
    // events cannot fail.
    instance.source = try loop.watch(
      instance.epoll.rawValue, for: watched.contains(id) ? Self.edges : []
    ) { [unowned self] _ in collect(id) }
    return instance
  }

  /// Returns the descriptor of the watch, for the descriptor store; nil if there is no such socket.
  func watchDescriptor(of socket: UInt64, _ id: InstanceID) -> Int32? {
    instances[id]?.sockets.first { $0.number == socket }?.watch.rawValue
  }

  func contains(_ socket: UInt64, of id: InstanceID) -> Bool {
    instances[id]?.sockets.contains { $0.number == socket } ?? false
  }

  /// Returns the sockets of an instance, in the order in which they were handed over.
  func sockets(of id: InstanceID) -> [UInt64] {
    instances[id]?.sockets.map(\.number) ?? []
  }

  /// Stops watching a socket. Returns false if there is no such socket.
  @discardableResult
  func remove(_ socket: UInt64, of id: InstanceID) -> Bool {
    guard let instance = instances[id], instance.remove(socket) else { return false }
    if instance.sockets.isEmpty { instances[id] = nil }
    return true
  }

  /// Removes sockets that the application has closed without releasing them. The method reads /proc
  /// for each socket, so call it only when the quota is exhausted.
  ///
  /// - Returns: The removed sockets.
  func removeClosed(of id: InstanceID) -> [UInt64] {
    let closed = (instances[id]?.sockets ?? []).filter { !$0.isConnectionOpen }.map(\.number)
    for socket in closed { remove(socket, of: id) }
    return closed
  }

  /// Removes all sockets of an ended instance.
  func removeAll(of id: InstanceID) {
    instances[id] = nil
    watched.remove(id)
  }

  /// Starts reporting ready sockets of a suspended instance. Also reports data that arrived while
  /// the instance ran, if the data is still unread.
  func watch(_ id: InstanceID) {
    if watched.insert(id).inserted { instances[id]?.source?.wait(for: Self.edges) }
  }

  /// Stops reporting ready sockets of an instance that runs again.
  func unwatch(_ id: InstanceID) {
    if watched.remove(id) != nil { instances[id]?.source?.wait(for: []) }
  }

  private func collect(_ id: InstanceID) {
    guard let instance = instances[id], watched.contains(id) else { return }
    let ready = instance.collect()
    if !ready.isEmpty { report(id, ready) }
  }
}

/// The sockets of one instance.
private final class Instance {
  let epoll: Epoll
  var source: DescriptorSource?
  private(set) var sockets: [Socket] = []

  init(_ epoll: consuming Epoll) {
    self.epoll = epoll
  }

  deinit {
    // The source must be released before the epoll descriptor is closed.
    source = nil
  }

  func add(_ socket: Socket) throws(SystemError) {
    try epoll.add(socket.watch.rawValue, data: socket.number)
    sockets.append(socket)
  }

  func remove(_ number: UInt64) -> Bool {
    guard let index = sockets.firstIndex(where: { $0.number == number }) else { return false }
    // Closing the watch is not sufficient: while systemd has a copy, the watch stays in the epoll
    // set.
    try? epoll.remove(sockets[index].watch.rawValue)
    sockets.remove(at: index)
    return true
  }

  /// Returns all sockets that became ready, so that a single report wakes the instance.
  func collect() -> [(socket: UInt64, conditions: SocketPollEvents)] {
    let arrived = Set(epoll.collect(countMax: sockets.count))
    return sockets.filter { arrived.contains($0.number) }
      .map { (socket: $0.number, conditions: $0.watch.conditions()) }
      .filter { !$0.conditions.isEmpty }
  }
}

/// A connection that an application handed over.
private final class Socket {
  let number: UInt64
  let watch: SocketWatch

  init(_ number: UInt64, _ watch: consuming SocketWatch) {
    self.number = number
    self.watch = watch
  }

  /// Whether the connection is open; true if the daemon cannot determine that.
  var isConnectionOpen: Bool { (try? watch.isConnectionOpen()) ?? true }
}

extension SocketConditions {
  /// Creates the conditions for a poll result.
  init(_ conditions: SocketPollEvents) {
    self = []
    if conditions.contains(.data) { insert(.data) }
    if conditions.contains(.urgentData) { insert(.urgentData) }
    if conditions.contains(.hangUp) { insert(.hangUp) }
    if conditions.contains(.error) { insert(.error) }
  }
}
