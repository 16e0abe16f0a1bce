import LinuxSystem
import TaskSchedulerCore

/// The connections that applications have handed over, watched while their instances are suspended.
///
/// Each instance has an epoll instance of its own, in which the edge of whatever comes waits. The
/// loop watches that in its turn, but waits for it only while the instance is suspended. So what
/// comes while it runs wakes nobody, and is reported at the suspension if the application has not
/// read it; and what was reported once is not reported again.
///
/// No connection is held here (``SocketWatch``): one that the application closes is closed, and
/// none outlives it.
final class ManagedSockets {
  /// What there is on those sockets of an instance on which something has come, in the order in
  /// which they were handed over.
  typealias Report = (InstanceID, [(socket: UInt64, conditions: SocketPollEvents)]) -> Void

  private let loop: EventLoop
  private let report: Report
  private var instances: [InstanceID: Instance] = [:]
  private var watched: Set<InstanceID> = []
  /// Each report takes all there is: where many are ready at once, the kernel need not look at all
  /// of them again for every single one.
  private static let edges: PollEvents = [.input, .onChange]

  /// - Parameter report: may call whatever is here, for any instance.
  init(loop: EventLoop, report: @escaping Report) {
    self.loop = loop
    self.report = report
  }

  /// Watches a connection from now on, whether its instance runs or not: what there is already
  /// counts as having just come.
  ///
  /// - Parameters:
  ///   - descriptor: checked before (``ConnectedSocket``). It is closed.
  ///   - socket: its cookie, by which one that is handed over twice is known.
  /// - Returns: the watch's descriptor, for the store; nil where the socket is there already, and
  ///   nothing has changed.
  /// - Throws: EMFILE, ENFILE, ENOMEM; ENOSPC and EINVAL where the kernel is to watch too much, the
  ///   latter by the application's own doing. Nothing has changed then.
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

  /// Goes on with a watch of an earlier daemon. What there is counts as having just come, since
  /// nobody knows what that one still had to report.
  ///
  /// - Returns: false where the connection has been closed meanwhile, or this is no watch.
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
    // In the loop at once and for good: that may fail, to wait for it or not cannot.
    instance.source = try loop.watch(
      instance.epoll.rawValue, for: watched.contains(id) ? Self.edges : []
    ) { [unowned self] _ in collect(id) }
    return instance
  }

  /// The watch's descriptor, for the store; nil where there is no such socket.
  func watchDescriptor(of socket: UInt64, _ id: InstanceID) -> Int32? {
    instances[id]?.sockets.first { $0.number == socket }?.watch.rawValue
  }

  func contains(_ socket: UInt64, of id: InstanceID) -> Bool {
    instances[id]?.sockets.contains { $0.number == socket } ?? false
  }

  /// Those of an instance, in the order in which they were handed over.
  func sockets(of id: InstanceID) -> [UInt64] {
    instances[id]?.sockets.map(\.number) ?? []
  }

  /// - Returns: false where there is none.
  @discardableResult
  func remove(_ socket: UInt64, of id: InstanceID) -> Bool {
    guard let instance = instances[id], instance.remove(socket) else { return false }
    if instance.sockets.isEmpty { instances[id] = nil }
    return true
  }

  /// Removes those that the application has closed without a word. It takes a look at /proc for
  /// each: for when there are too many.
  ///
  /// - Returns: those that were removed.
  func removeClosed(of id: InstanceID) -> [UInt64] {
    let closed = (instances[id]?.sockets ?? []).filter { !$0.isConnectionOpen }.map(\.number)
    for socket in closed { remove(socket, of: id) }
    return closed
  }

  /// The instance has ended: its sockets are forgotten, and that it was watched.
  func removeAll(of id: InstanceID) {
    instances[id] = nil
    watched.remove(id)
  }

  /// The instance is suspended. What has come on any of its sockets, and was not read, is reported
  /// when the loop goes on; from then on, what comes.
  func watch(_ id: InstanceID) {
    if watched.insert(id).inserted { instances[id]?.source?.wait(for: Self.edges) }
  }

  /// The instance runs again: nothing is reported until it is watched.
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
    // Before the epoll instance is closed.
    source = nil
  }

  func add(_ socket: Socket) throws(SystemError) {
    try epoll.add(socket.watch.rawValue, data: socket.number)
    sockets.append(socket)
  }

  func remove(_ number: UInt64) -> Bool {
    guard let index = sockets.firstIndex(where: { $0.number == number }) else { return false }
    // Closing it is not enough where systemd holds it too. That it fails costs a needless look.
    try? epoll.remove(sockets[index].watch.rawValue)
    sockets.remove(at: index)
    return true
  }

  /// Of all sockets, not only of the first on which something came: the instance is woken once.
  func collect() -> [(socket: UInt64, conditions: SocketPollEvents)] {
    let arrived = Set(epoll.collect(countMax: sockets.count))
    return sockets.filter { arrived.contains($0.number) }
      .map { (socket: $0.number, conditions: $0.watch.conditions()) }
      .filter { !$0.conditions.isEmpty }
  }
}

/// One connection that was handed over.
private final class Socket {
  let number: UInt64
  let watch: SocketWatch

  init(_ number: UInt64, _ watch: consuming SocketWatch) {
    self.number = number
    self.watch = watch
  }

  /// Where it cannot be told, it is.
  var isConnectionOpen: Bool { (try? watch.isConnectionOpen()) ?? true }
}

extension SocketConditions {
  /// As the policy names them.
  init(_ conditions: SocketPollEvents) {
    self = []
    if conditions.contains(.data) { insert(.data) }
    if conditions.contains(.urgentData) { insert(.urgentData) }
    if conditions.contains(.hangUp) { insert(.hangUp) }
    if conditions.contains(.error) { insert(.error) }
  }
}
