// Managed sockets (contract §7): how applications pass them to the daemon, and how data resumes an
// application.

extension Scheduler {
  mutating func handle(_ event: SocketEvent, in turn: inout Turn) {
    switch event {
    case .manage(let request, let id, let socket):
      updateInstance(id, orRefuse: request, in: &turn) { $0.manageSocket(socket, request, in: &$1) }
    case .release(let request, let id, let socket):
      updateInstance(id, orRefuse: request, in: &turn) {
        $0.releaseSocket(socket, request, in: &$1)
      }
    case .ready(let id, let sockets):
      updateInstance(id, in: &turn) { $0.socketsReady(sockets, in: &$1) }
      useWakeUp(in: &turn)
      lookEarly(in: turn)
    case .closed(let id, let sockets):
      updateInstance(id, in: &turn) { instance, turn in
        for socket in sockets { instance.dropSocket(socket, in: &turn) }
      }
    case .lost(let id, let sockets):
      updateInstance(id, in: &turn) { $0.socketsLost(sockets, in: &$1) }
    }
  }
}

extension Instance {
  fileprivate mutating func manageSocket(
    _ socket: SocketID, _ request: RequestID, in turn: inout Turn
  ) {
    if sockets.ids.contains(socket) { return turn.reply(request, .managed(socket)) }
    if let refusal = refusalOfSocket(turn.policy) {
      turn.emit(.socket(.release(id, socket)))
      turn.reply(request, .refused(refusal))
      return record(.refused(refusal), in: &turn)
    }
    sockets.add(socket)
    turn.emit(.socket(.hold(id, socket)))
    // The application sent the request before its processes were stopped. Because it is now
    // suspended, the daemon must also watch the new socket.
    if phase == .suspended(isStopping: false) { turn.emit(.socket(.watch(id))) }
    turn.reply(request, .managed(socket))
    record(.socketManaged(socket), in: &turn)
  }

  private func refusalOfSocket(_ policy: SharedPolicy) -> Refusal? {
    if termination != nil { return .terminating }
    guard backgroundModes.contains(.voip) else { return .modeNotDeclared(.voip) }
    guard sockets.ids.count < policy.socketsPerApplicationMax else {
      return .quotaExceeded(
        name: "MaxSocketsPerApplication", limit: policy.socketsPerApplicationMax)
    }
    return nil
  }

  fileprivate mutating func releaseSocket(
    _ socket: SocketID, _ request: RequestID, in turn: inout Turn
  ) {
    guard sockets.ids.contains(socket) else {
      turn.reply(request, .refused(.unknownSocket(socket)))
      return record(.refused(.unknownSocket(socket)), in: &turn)
    }
    dropSocket(socket, in: &turn)
    turn.reply(request, .done)
  }

  fileprivate mutating func dropSocket(_ socket: SocketID, in turn: inout Turn) {
    guard sockets.remove(socket) else { return }
    turn.emit(.socket(.release(id, socket)))
    stopWatchingIfUnneeded(in: &turn)
    record(.socketReleased(socket), in: &turn)
  }

  /// Tells the daemon to stop watching the sockets of a suspended application if no managed socket
  /// is left. Otherwise, the watch would continue after the application has been resumed, and would
  /// include a socket that the application adds then.
  private func stopWatchingIfUnneeded(in turn: inout Turn) {
    if sockets.isEmpty, state == .suspended { turn.emit(.socket(.stopWatching(id))) }
  }

  fileprivate mutating func socketsReady(_ ready: [SocketReadiness], in turn: inout Turn) {
    let known = ready.filter { sockets.ids.contains($0.socket) }
    if known.isEmpty || termination != nil { return }
    wake(for: known, in: &turn)
  }

  fileprivate mutating func socketsLost(_ lost: [SocketID], in turn: inout Turn) {
    let known = lost.filter { sockets.remove($0) }
    stopWatchingIfUnneeded(in: &turn)
    if known.isEmpty || termination != nil { return }
    wake(for: known.map { SocketReadiness($0, .unwatched) }, in: &turn)
  }

  /// Resumes the application, if it is suspended. The application has `EventTime` to handle the
  /// sockets.
  private mutating func wake(for ready: [SocketReadiness], in turn: inout Turn) {
    record(.socketsReady(ready), in: &turn)
    let event = callbacks.nextID()
    let notice = Notice.socketsReady(event, ready)
    handling.begin(event, notice, until: turn.instant.advanced(by: turn.policy.eventTime))
    if state == .suspended {
      leaveSuspended(to: .background(Stint(at: turn.instant)), cause: .event, in: &turn)
    }
    if hasStream { turn.emit(.notify(id, notice)) }
    reconsider(in: &turn)
  }
}
