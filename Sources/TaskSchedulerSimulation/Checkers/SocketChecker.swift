import TaskSchedulerCore

/// Managed sockets are watched exactly while the application is suspended, and never after its end
/// (§7); it is told of what is ready of its own.
struct SocketChecker: Checker {
  static let name = "sockets"

  private var told: [SocketReadiness]?

  mutating func before(_ event: Event, _ ledger: Ledger) throws(Finding) { told = nil }

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    switch effect {
    case .socket(.watch(let id)):
      guard let sighting = ledger[id] else { return }
      try require(
        sighting.state == .suspended && sighting.isStopped,
        "\(sighting.key.id.name) is \(sighting.state), and its sockets are watched")
    case .socket(.hold(let id, let socket)):
      guard let sighting = ledger[id] else { return }
      try require(
        !sighting.sockets.contains(socket),
        "\(sighting.key.id.name) has two sockets \(socket.number)")
    case .socket(.letGo(let id, let socket)):
      guard let sighting = ledger[id] else { return }
      // What is refused is not kept.
      if case .socket(.manage(_, id, socket)) = ledger.event, ledger.isRefused { return }
      try require(
        sighting.sockets.contains(socket),
        "\(sighting.key.id.name) has no socket \(socket.number), which is released")
    case .notify(let id, .socketsReady(_, let ready)):
      guard let sighting = ledger[id] else { return }
      try require(
        sighting.state != .suspended && sighting.hasStream,
        "\(sighting.key.id.name) is told of a socket, and has no event stream or is suspended")
      if case .socket(.ready(id, let all)) = ledger.event {
        told = ready
        try require(
          ready == all.filter { sighting.sockets.contains($0.socket) },
          "\(sighting.key.id.name) is told of other sockets than are ready")
      }
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage,
      .suspend, .resume, .terminate, .kill, .release, .checkTracer, .record, .resources:
      break
    }
  }

  mutating func after(_ ledger: Ledger) throws(Finding) {
    if case .socket(.ready(let id, let all)) = ledger.event, let sighting = ledger[id],
      sighting.ending == nil, sighting.hasStream,
      all.contains(where: { sighting.sockets.contains($0.socket) }) {
      try require(told != nil, "\(sighting.key.id.name) is not told of a socket that is ready")
    }
    for sighting in ledger.live where !sighting.sockets.isEmpty && sighting.ending == nil {
      let name = sighting.key.id.name
      if sighting.state == .suspended {
        try require(
          sighting.isWatched || sighting.isStopping, "\(name) is suspended, and not watched")
      } else {
        try require(
          !sighting.isWatched, "\(name) is \(sighting.state), and its sockets are watched")
      }
    }
  }
}
