import Glibc
import LinuxSystem
import TaskSchedulerWire

// Managed sockets, whose data resumes the application.
extension ScheduledApplication {
  /// Makes the daemon watch a connected stream socket while the application is suspended.
  ///
  /// Data that arrives resumes the application, which receives
  /// ``ApplicationEvent/socketsDidBecomeReady(_:)``. Data that arrived before the suspension and
  /// was not read also resumes the application. The daemon never reads from the socket. A running
  /// application reads the socket as usual, and receives no events. The manifest must declare the
  /// background mode `voip`.
  ///
  /// - Parameter fileDescriptor: The socket. The application keeps it open.
  /// - Returns: The managed socket; for a socket that is managed already, the same object.
  /// - Throws: ``ApplicationRefusal/invalidSocket(reason:)`` for another kind of descriptor;
  ///   ``ApplicationRefusal/modeNotDeclared(_:mode:)``;
  ///   ``ApplicationRefusal/quotaExceeded(quota:limit:)`` if the application already has
  ///   `MaxSocketsPerApplication` (64 by default) managed sockets; an error of the connection if
  ///   the daemon is away for more than 2.3 s.
  public func manage(socket fileDescriptor: Int32) async throws(ApplicationError) -> ManagedSocket {
    try await blocking { () throws(ApplicationError) in
      try self.manageAndWait(socket: fileDescriptor)
    }
  }

  /// Makes the daemon watch a connected stream socket while the application is suspended. Blocks.
  /// Otherwise like ``manage(socket:)``.
  public func manageAndWait(
    socket fileDescriptor: Int32
  ) throws(ApplicationError) -> ManagedSocket {
    let copy = try SocketCopy(of: fileDescriptor)
    if calls == nil {
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

  /// Passes the socket to the daemon, and returns the number that the daemon gave the socket.
  private func handOver(_ copy: borrowing SocketCopy) throws(ApplicationError) -> Int {
    let descriptor = copy.descriptor.rawValue
    let answer = try ask(
      ApplicationInterface.ManageSocket.self,
      .init(socketFileDescriptor: FileDescriptorIndex(0)),
      fileDescriptors: [descriptor])
    return answer.socket
  }

  func release(_ socket: ManagedSocket) throws(ApplicationError) {
    if let number = socket.number.withLock({ $0 }) {
      do throws(ApplicationError) {
        _ = try ask(ApplicationInterface.ReleaseSocket.self, .init(socket: number))
      } catch .refused(.unknownSocket) {
        // A restarted daemon does not know the socket.
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
        // `handOverAgain` waits for the daemon, so it must not run on the thread that reads the
        // stream.
        reportQueue.async { self.deliver(ready.map(self.handOverAgain), event.id) }
      } else {
        deliver(ready, event.id)
      }
    }
  }

  private func deliver(_ ready: [ReadySocket], _ event: Int) {
    let delivery = Delivery(.socketsDidBecomeReady(ready)) {
      self.sockets.withLock { $0.handled(event) }
      self.acknowledge(event)
    }
    sink.deliver(delivery, to: self)
  }

  private func handOverAgain(_ ready: ReadySocket) -> ReadySocket {
    guard ready.conditions.contains(.unwatched) else { return ready }
    switch renew(ready.socket) {
    case .done: return ready
    case .daemonAway:
      // The library passes the socket to the daemon when the daemon answers again.
      state.withLock { $0.requestRestoration() }
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
    // The application may have released or closed the socket since the event.
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

  /// Passes all sockets to a daemon that does not know this process any more. Blocks. Returns false
  /// if the daemon does not answer.
  func restoreSockets() -> Bool {
    let renewals = sockets.withLock { $0.sockets }.map { ($0, renew($0)) }
    let lost = renewals.filter { $0.1 == .refused }.map {
      ReadySocket(socket: $0.0, conditions: .lost)
    }
    if !lost.isEmpty {
      deliver(.socketsDidBecomeReady(lost))
    }
    if renewals.contains(where: { $0.1 == .daemonAway }) { return false }
    for event in sockets.withLock({ $0.restored() }) { received(event) }
    return true
  }

  /// Removes all sockets of a closed application.
  func forgetSockets() {
    for socket in sockets.withLock({ $0.sockets }) { remove(socket) }
  }
}

/// A copy of the application's descriptor for the duration of a call, because the application may
/// close its own descriptor during the call.
private struct SocketCopy: ~Copyable {
  let descriptor: FileDescriptor
  /// The cookie; nil if the descriptor is not a socket. The daemon refuses such a descriptor.
  let cookie: UInt64?

  init(of number: Int32) throws(ApplicationError) {
    // The application may have closed its descriptor, so EBADF is not an error of the library.
    let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else {
      if errno == EBADF {
        throw .refused(.invalidSocket(reason: "\(number) is not an open file descriptor"))
      }
      throw ApplicationError(connection: .system(SystemError(call: "fcntl", errno: errno)))
    }
    descriptor = FileDescriptor(taking: copy)
    cookie = try? UnixSocket.cookie(copy)
  }
}
