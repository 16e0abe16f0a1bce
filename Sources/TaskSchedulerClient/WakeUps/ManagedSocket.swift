import Glibc
import LinuxSystem
import TaskSchedulerWire

/// What has become of a managed socket.
public struct SocketConditions: OptionSet, Hashable, Sendable {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// There is something to read.
  public static let data = SocketConditions(rawValue: 1)
  /// Urgent (out-of-band) data.
  public static let urgentData = SocketConditions(rawValue: 2)
  /// The peer has closed the connection, or its sending half.
  public static let hangUp = SocketConditions(rawValue: 4)
  public static let error = SocketConditions(rawValue: 8)
  /// The daemon could watch it no longer, and was given it again: something may have come
  /// meanwhile. Read what there is, without blocking.
  public static let unwatched = SocketConditions(rawValue: 16)
  /// The daemon watches it no longer, and does not take it again.
  public static let lost = SocketConditions(rawValue: 32)

  init(_ readiness: ApplicationInterface.SocketReadiness) {
    self = []
    if readiness.data { insert(.data) }
    if readiness.urgentData { insert(.urgentData) }
    if readiness.hangUp { insert(.hangUp) }
    if readiness.error { insert(.error) }
    if readiness.unwatched { insert(.unwatched) }
  }
}

/// A managed socket that is ready.
public struct ReadySocket: Hashable, Sendable {
  public let socket: ManagedSocket
  public let conditions: SocketConditions
}

/// A socket that the daemon watches while the application is suspended.
///
/// Neither the daemon nor the library holds the connection: it is closed when the author closes it,
/// which ends this too.
public final class ManagedSocket: Hashable, Sendable {
  /// The author's own descriptor, as it was handed over.
  public let fileDescriptor: Int32

  /// Which socket it is: the descriptor may be another's after it was closed.
  fileprivate let cookie: UInt64?
  private let application: ScheduledApplication
  /// The daemon's number for it; nil once it is managed no longer.
  fileprivate let number: Locked<Int?>

  fileprivate init(
    _ fileDescriptor: Int32, cookie: UInt64?, number: Int?, of application: ScheduledApplication
  ) {
    self.fileDescriptor = fileDescriptor
    self.cookie = cookie
    self.application = application
    self.number = Locked(number)
  }

  /// Takes the socket back: nothing that arrives on it wakes the application any more. Not needed
  /// before the socket is closed. Again is allowed and does nothing.
  ///
  /// - Throws: `connection` where the daemon is away for longer than some seconds: then it is
  ///   managed still.
  public func release() throws(ApplicationError) {
    try application.release(self)
  }

  /// Whether the daemon manages it, as far as is known here.
  public var isManaged: Bool { number.withLock { $0 != nil } }

  public static func == (lhs: ManagedSocket, rhs: ManagedSocket) -> Bool { lhs === rhs }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

// Managed sockets: to be woken by what arrives.
extension ScheduledApplication {
  /// Hands a connected stream socket over. While the application is suspended, the daemon watches
  /// it, without reading a byte: what arrives resumes the application, which hears of it by
  /// `application(_:socketReady:conditions:)`. Needs the background mode voip in the manifest.
  ///
  /// While it runs, the application reads the socket as ever, and is told nothing. Data that came
  /// before its suspension and was not read wakes it too. Handing the same socket over again
  /// returns what is there already.
  ///
  /// - Throws: `refused(.invalidSocket)` for what is no connected stream socket,
  ///   `refused(.modeNotDeclared)`, `refused(.quotaExceeded)`; `connection` where the daemon is
  ///   away for longer than some seconds.
  public func manage(socket fileDescriptor: Int32) throws(ApplicationError) -> ManagedSocket {
    let copy = try SocketCopy(of: fileDescriptor)
    if line == nil {
      try throwIfEnded()
      return ManagedSocket(fileDescriptor, cookie: copy.cookie, number: nil, of: self)
    }
    sockets.withLock { $0.willManage() }
    do throws(ApplicationError) {
      let number = try handOver(copy)
      let cookie = copy.cookie
      let (socket, waiting) = sockets.withLock { sockets in
        sockets.managed(number) {
          ManagedSocket(fileDescriptor, cookie: cookie, number: number, of: self)
        }
      }
      for event in waiting { received(event) }
      return socket
    } catch {
      for event in sockets.withLock({ $0.manageEnded() }) { received(event) }
      throw error
    }
  }

  /// Returns the daemon's number for it.
  private func handOver(_ copy: borrowing SocketCopy) throws(ApplicationError) -> Int {
    let descriptor = copy.descriptor.rawValue
    let answer = try ask(
      ApplicationInterface.ManageSocket.self,
      .init(socketFileDescriptor: FileDescriptorIndex(0)),
      fileDescriptors: [descriptor])
    return answer.socket
  }

  fileprivate func release(_ socket: ManagedSocket) throws(ApplicationError) {
    if let number = socket.number.withLock({ $0 }) {
      do throws(ApplicationError) {
        _ = try ask(ApplicationInterface.ReleaseSocket.self, .init(socket: number))
      } catch .refused(.unknownSocket) {
        // As it is to be.
      }
    }
    remove(socket)
  }

  private func remove(_ socket: ManagedSocket) {
    sockets.withLock { $0.remove(socket) }
    socket.number.withLock { $0 = nil }
  }

  // MARK: - Events

  func received(_ event: ApplicationInterface.SocketEvent) {
    switch sockets.withLock({ $0.received(event) }) {
    case .none: break
    case .acknowledge: queue.async { self.acknowledge(event.id) }
    case .deliver(let ready):
      if ready.contains(where: { $0.conditions.contains(.unwatched) }) {
        // Waits for the daemon: not on the thread that reads the stream.
        debtQueue.async { self.deliver(ready.map(self.handOverAgain), event.id) }
      } else {
        deliver(ready, event.id)
      }
    }
  }

  private func deliver(_ ready: [ReadySocket], _ event: Int) {
    let callback = ApplicationCallback(.socketsReady(ready)) {
      self.sockets.withLock { $0.handled(event) }
      self.acknowledge(event)
    }
    sink.deliver(callback, to: self)
  }

  private func handOverAgain(_ ready: ReadySocket) -> ReadySocket {
    guard ready.conditions.contains(.unwatched) else { return ready }
    switch renew(ready.socket) {
    case .done: return ready
    case .daemonAway:
      // Handed over when it is back.
      ledger.withLock { $0.wantRestoration() }
      return ready
    case .refused:
      return ReadySocket(
        socket: ready.socket, conditions: ready.conditions.subtracting(.unwatched).union(.lost))
    }
  }

  private enum Renewal {
    case done
    case daemonAway
    case refused
  }

  private func renew(_ socket: ManagedSocket) -> Renewal {
    // Released or closed meanwhile, it is not to be handed over.
    guard socket.isManaged else { return .done }
    do throws(ApplicationError) {
      let copy = try SocketCopy(of: socket.fileDescriptor)
      guard copy.cookie == socket.cookie else {
        remove(socket)
        return .done
      }
      let number = try handOver(copy)
      socket.number.withLock { $0 = number }
      sockets.withLock { $0.renumber(socket, to: number) }
      return .done
    } catch {
      if error.isTransient { return .daemonAway }
      remove(socket)
      return .refused
    }
  }

  /// A daemon that has forgotten this process has none of its sockets. Blocks.
  ///
  /// - Returns: false where the daemon is away.
  func restoreSockets() -> Bool {
    let renewals = sockets.withLock { $0.sockets }.map { ($0, renew($0)) }
    let lost = renewals.filter { $0.1 == .refused }.map {
      ReadySocket(socket: $0.0, conditions: .lost)
    }
    if !lost.isEmpty {
      tell(.socketsReady(lost))
    }
    if renewals.contains(where: { $0.1 == .daemonAway }) { return false }
    for event in sockets.withLock({ $0.restored() }) { received(event) }
    return true
  }

  /// The application is closed.
  func forgetSockets() {
    for socket in sockets.withLock({ $0.sockets }) { remove(socket) }
  }
}

/// A copy of an author's descriptor, for the length of a call: the author may close it meanwhile.
private struct SocketCopy: ~Copyable {
  let descriptor: FileDescriptor
  /// Nil for what is no socket: the daemon says so.
  let cookie: UInt64?

  init(of number: Int32) throws(ApplicationError) {
    // The number is another's, who may have closed it: that is no mistake of this library.
    let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else {
      if errno == EBADF {
        throw .refused(.invalidSocket(reason: "\(number) is no open file descriptor"))
      }
      throw .connection(.system(SystemError(call: "fcntl", errno: errno)))
    }
    descriptor = FileDescriptor(taking: copy)
    cookie = try? UnixSocket.cookie(copy)
  }
}
