import TaskSchedulerCore

// What wakes applications (contract §6, §7, §9).
extension Ledger {
  mutating func take(_ event: SocketEvent) {
    switch event {
    case .lost(let id, let lost): self[id]?.sockets.removeAll { lost.contains($0) }
    case .manage, .release, .ready, .closed: break
    }
  }

  /// The user's choice activates the application, or what is being launched of it.
  mutating func chosen(_ key: ApplicationKey) {
    if let sighting = byKey[key] {
      if sighting.state != .active, sighting.ending == nil,
        sighting.owed.count < policy.queuedCallbacksMax {
        activate(sighting)
      }
    } else if let id = launches.first(where: { $0.value.key == key })?.key {
      launches[id]?.plan.target = .foreground
    }
  }

  func apply(_ effect: SocketEffect) {
    switch effect {
    case .hold(let id, let socket): self[id]?.sockets.append(socket)
    case .letGo(let id, let socket): self[id]?.sockets.removeAll { $0 == socket }
    case .watch(let id): self[id]?.isWatched = true
    case .stopWatching(let id): self[id]?.isWatched = false
    }
  }
}

extension Manifest {
  /// Whether the application is launched without being asked for (§8).
  var bringsBack: Bool {
    isLaunchable && multitasking && backgroundModes.contains(.voip)
  }
}
