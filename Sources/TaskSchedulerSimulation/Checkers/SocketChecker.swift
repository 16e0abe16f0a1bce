import TaskSchedulerCore

/// Checks that the daemon watches the managed sockets of an application while the application is
/// suspended, and at no other time (contract.md#sockets).
///
/// The application receives the numbers of all its ready sockets, and of no others.
struct SocketChecker: Checker {
  static let name = "sockets"

  private var told: [SocketReadiness]?

  mutating func before(_ event: Event, _ observed: ObservedState) throws(Finding) { told = nil }

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    switch effect {
    case .socket(.watch(let id)):
      guard let instance = observed[id] else { return }
      try require(
        instance.state == .suspended && instance.isStopped,
        "\(instance.name) is \(instance.state), but its sockets are watched")
    case .socket(.hold(let id, let socket)):
      guard let instance = observed[id] else { return }
      try require(
        !instance.sockets.contains(socket),
        "\(instance.name) has two sockets with the number \(socket.number)")
    case .socket(.release(let id, let socket)):
      guard let instance = observed[id] else { return }
      // The daemon releases the descriptor of a refused socket.
      if case .socket(.manage(_, id, socket)) = observed.event, observed.isRefused { return }
      try require(
        instance.sockets.contains(socket),
        "socket \(socket.number) is released, but \(instance.name) does not have it")
    case .notify(let id, .socketsReady(_, let ready)):
      guard let instance = observed[id] else { return }
      try require(
        instance.state != .suspended && instance.hasStream,
        "\(instance.name) is told of a socket, but has no event stream or is suspended")
      if case .socket(.ready(id, let all)) = observed.event {
        told = ready
        try require(
          ready == all.filter { instance.sockets.contains($0.socket) },
          "\(instance.name) is told of sockets that are not the ready ones")
      }
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage,
      .suspend, .resume, .terminate, .kill, .release, .checkTracer, .record, .resources,
      .dropPicture, .audio, .remote, .location:
      break
    }
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    if case .socket(.ready(let id, let all)) = observed.event, let instance = observed[id],
      instance.ending == nil, instance.hasStream,
      all.contains(where: { instance.sockets.contains($0.socket) })
    {
      try require(told != nil, "\(instance.name) is not told of a ready socket")
    }
    for instance in observed.live where !instance.sockets.isEmpty && instance.ending == nil {
      let name = instance.name
      if instance.state == .suspended {
        try require(
          instance.isWatched || instance.isStopping,
          "\(name) is suspended, but its sockets are not watched")
      } else {
        try require(
          !instance.isWatched, "\(name) is \(instance.state), but its sockets are watched")
      }
    }
  }
}
