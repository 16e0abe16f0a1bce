extension Event: StoredByForm {
  package static let form = Form(cases: [
    Case("acknowledge", Event.acknowledge) {
      if case .acknowledge(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("beginBackgroundTask", Event.beginBackgroundTask) {
      if case .beginBackgroundTask(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("endBackgroundTask", Event.endBackgroundTask) {
      if case .endBackgroundTask(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("deadlineReached", Event.deadlineReached),
    Case("suspensionCompleted", Event.suspensionCompleted) {
      if case .suspensionCompleted(let a) = $0 { a } else { nil }
    },
    Case("stillSuspended", Event.stillSuspended) {
      if case .stillSuspended(let a) = $0 { a } else { nil }
    },
    Case("resources", Event.resources) { if case .resources(let a) = $0 { a } else { nil } },
    Case("socket", Event.socket) { if case .socket(let a) = $0 { a } else { nil } },
    Case("notification", Event.notification) {
      if case .notification(let a) = $0 { a } else { nil }
    },
    Case("memory", Event.memory) { if case .memory(let a) = $0 { a } else { nil } },
    Case("activate", Event.activate) {
      if case .activate(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("deactivate", Event.deactivate) {
      if case .deactivate(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("sendToBackground", Event.sendToBackground) {
      if case .sendToBackground(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("terminate", Event.terminate) {
      if case .terminate(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("launch", Event.launch) {
      if case .launch(let a, let b, let c, let d) = $0 { (a, b, c, d) } else { nil }
    },
    Case("register", Event.register) {
      if case .register(let a, let b, let c, let d, let e) = $0 { (a, b, c, d, e) } else { nil }
    },
    Case("openStream", Event.openStream) {
      if case .openStream(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("streamClosed", Event.streamClosed) {
      if case .streamClosed(let a) = $0 { a } else { nil }
    },
    Case("adopt", Event.adopt) { if case .adopt(let a, let b) = $0 { (a, b) } else { nil } },
    Case("setKeepAlive", Event.setKeepAlive) {
      if case .setKeepAlive(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("systemChanged", Event.systemChanged) {
      if case .systemChanged(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("spawned", Event.spawned) { if case .spawned(let a, let b) = $0 { (a, b) } else { nil } },
    Case("spawnFailed", Event.spawnFailed) {
      if case .spawnFailed(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("leaderExited", Event.leaderExited) {
      if case .leaderExited(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("suspensionFailed", Event.suspensionFailed) {
      if case .suspensionFailed(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("suspensionLost", Event.suspensionLost) {
      if case .suspensionLost(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("signalFailed", Event.signalFailed) {
      if case .signalFailed(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("tracerChecked", Event.tracerChecked) {
      if case .tracerChecked(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("activityBegan", Event.activityBegan) {
      if case .activityBegan(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("activityEnded", Event.activityEnded) {
      if case .activityEnded(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("clockRead", Event.clockRead) { if case .clockRead(let a) = $0 { a } else { nil } },
    Case("policyChanged", Event.policyChanged) {
      if case .policyChanged(let a) = $0 { a } else { nil }
    },
    Case("manifestsChanged", Event.manifestsChanged) {
      if case .manifestsChanged(let a) = $0 { a } else { nil }
    },
    Case("started", Event.started),
    Case("stop", Event.stop),
    Case("recovered", Event.recovered) { if case .recovered(let a) = $0 { a } else { nil } },
  ])
}

extension Adoption: StoredByForm {
  package static let form = Form(
    Adoption.init(application:leader:target:seat:backgroundTask:backgroundModes:), \.application,
    \.leader, \.target, \.seat, \.backgroundTask, \.backgroundModes)
}

extension ExitStatus: StoredByForm {
  package static let form = Form(cases: [
    Case("exited", ExitStatus.exited) { if case .exited(let a) = $0 { a } else { nil } },
    Case("signaled", ExitStatus.signaled) { if case .signaled(let a) = $0 { a } else { nil } },
    Case("unknown", ExitStatus.unknown),
  ])
}

extension SocketEvent: StoredByForm {
  package static let form = Form(cases: [
    Case("manage", SocketEvent.manage) {
      if case .manage(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("release", SocketEvent.release) {
      if case .release(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("ready", SocketEvent.ready) { if case .ready(let a, let b) = $0 { (a, b) } else { nil } },
    Case("closed", SocketEvent.closed) {
      if case .closed(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("lost", SocketEvent.lost) { if case .lost(let a, let b) = $0 { (a, b) } else { nil } },
  ])
}

extension SocketReadiness: StoredByForm {
  package static let form = Form(SocketReadiness.init(_:_:), \.socket, \.conditions)
}

extension NotificationEvent: StoredByForm {
  package static let form = Form(cases: [
    Case("schedule", NotificationEvent.schedule) {
      if case .schedule(let a, let b, let c, let d) = $0 { (a, b, c, d) } else { nil }
    },
    Case("stored", NotificationEvent.stored) { if case .stored(let a) = $0 { a } else { nil } },
    Case("notStored", NotificationEvent.notStored) {
      if case .notStored(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("cancel", NotificationEvent.cancel) {
      if case .cancel(let a, let b, let c, let d) = $0 { (a, b, c, d) } else { nil }
    },
    Case("nextFound", NotificationEvent.nextFound) {
      if case .nextFound(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("chosen", NotificationEvent.chosen) {
      if case .chosen(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("setBadge", NotificationEvent.setBadge) {
      if case .setBadge(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("loaded", NotificationEvent.loaded) {
      if case .loaded(let a, let b) = $0 { (a, b) } else { nil }
    },
  ])
}

extension MemoryEvent: StoredByForm {
  package static let form = Form(cases: [
    Case("pressed", MemoryEvent.pressed) { if case .pressed(let a) = $0 { a } else { nil } },
    Case("looked", MemoryEvent.looked) { if case .looked(let a) = $0 { a } else { nil } },
    Case("measured", MemoryEvent.measured) { if case .measured(let a) = $0 { a } else { nil } },
    Case("reclaimed", MemoryEvent.reclaimed) {
      if case .reclaimed(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("warn", MemoryEvent.warn) {
      if case .warn(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
  ])
}

extension MemoryPressure: StoredByForm {
  package static let form = Form(MemoryPressure.init(source:memory:), \.source, \.memory)
}

extension MemoryReading: StoredByForm {
  package static let form = Form(MemoryReading.init(available:total:), \.available, \.total)
}

extension MemorySize: StoredByForm {
  package static let form = Form(
    MemorySize.init(_:dirty:total:isEstimate:), \.instance, \.dirty, \.total, \.isEstimate)
}

extension ResourceEvent: StoredByForm {
  package static let form = Form(cases: [
    Case("used", ResourceEvent.used) { if case .used(let a, let b) = $0 { (a, b) } else { nil } },
    Case("held", ResourceEvent.held) { if case .held(let a, let b) = $0 { (a, b) } else { nil } },
    Case("listens", ResourceEvent.listens) {
      if case .listens(let a, let b) = $0 { (a, b) } else { nil }
    },
  ])
}

extension ResourceUse: StoredByForm {
  package static let form = Form(
    ResourceUse.init(processor:gpu:isTraced:), \.processor, \.gpu, \.isTraced)
}

extension ListeningReport: StoredByForm {
  package static let form = Form(
    ListeningReport.init(addresses:count:isComplete:), \.addresses, \.count, \.isComplete)
}

extension SystemChange: StoredByForm {
  package static let form = Form(SystemChange.init(kind:value:), \.kind, \.value)
}

extension SystemChangeKind: StoredByForm {
  package static let form = Form(cases: [
    Case("timeZone", SystemChangeKind.timeZone),
    Case("clock", SystemChangeKind.clock),
    Case("day", SystemChangeKind.day),
    Case("locale", SystemChangeKind.locale), Case("network", SystemChangeKind.network),
    Case("powerSource", SystemChangeKind.powerSource),
    Case("custom", SystemChangeKind.custom) { if case .custom(let a) = $0 { a } else { nil } },
  ])
}
