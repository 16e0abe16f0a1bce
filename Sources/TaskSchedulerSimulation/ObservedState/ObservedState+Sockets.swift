import TaskSchedulerCore

// Managed sockets (contract.md#sockets).
extension ObservedState {
  func apply(_ event: SocketEvent) {
    switch event {
    case .lost(let id, let lost): self[id]?.sockets.removeAll { lost.contains($0) }
    case .ready: location.hasWoken = true
    case .manage, .release, .closed: break
    }
  }

  func apply(_ effect: SocketEffect) {
    switch effect {
    case .hold(let id, let socket): self[id]?.sockets.append(socket)
    case .release(let id, let socket): self[id]?.sockets.removeAll { $0 == socket }
    case .watch(let id): self[id]?.isWatched = true
    case .stopWatching(let id): self[id]?.isWatched = false
    }
  }
}
