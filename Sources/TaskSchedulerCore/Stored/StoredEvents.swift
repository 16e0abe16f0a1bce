extension Event: StoredByForm {
  package static let form = Form(cases: [
    Case("application", Event.application) { if case .application(let a) = $0 { a } else { nil } },
    Case("process", Event.process) { if case .process(let a) = $0 { a } else { nil } },
    Case("scheduler", Event.scheduler) { if case .scheduler(let a) = $0 { a } else { nil } },
    Case("operation", Event.operation) { if case .operation(let a) = $0 { a } else { nil } },
    Case("resources", Event.resources) { if case .resources(let a) = $0 { a } else { nil } },
    Case("socket", Event.socket) { if case .socket(let a) = $0 { a } else { nil } },
    Case("notification", Event.notification) {
      if case .notification(let a) = $0 { a } else { nil }
    },
    Case("memory", Event.memory) { if case .memory(let a) = $0 { a } else { nil } },
    Case("systemChanged", Event.systemChanged) {
      if case .systemChanged(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
  ])
}

extension ApplicationEvent: StoredByForm {
  package static let form = Form(cases: [
    Case("acknowledge", ApplicationEvent.acknowledge) {
      if case .acknowledge(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("beginBackgroundTask", ApplicationEvent.beginBackgroundTask) {
      if case .beginBackgroundTask(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("endBackgroundTask", ApplicationEvent.endBackgroundTask) {
      if case .endBackgroundTask(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("setKeepAlive", ApplicationEvent.setKeepAlive) {
      if case .setKeepAlive(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("register", ApplicationEvent.register) {
      if case .register(let a, let b, let c, let d, let e) = $0 { (a, b, c, d, e) } else { nil }
    },
    Case("openStream", ApplicationEvent.openStream) {
      if case .openStream(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("streamClosed", ApplicationEvent.streamClosed) {
      if case .streamClosed(let a) = $0 { a } else { nil }
    },
  ])
}

extension OperationEvent: StoredByForm {
  package static let form = Form(cases: [
    Case("activate", OperationEvent.activate) {
      if case .activate(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("deactivate", OperationEvent.deactivate) {
      if case .deactivate(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("sendToBackground", OperationEvent.sendToBackground) {
      if case .sendToBackground(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("terminate", OperationEvent.terminate) {
      if case .terminate(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("launch", OperationEvent.launch) {
      if case .launch(let a, let b, let c, let d) = $0 { (a, b, c, d) } else { nil }
    },
    Case("adopt", OperationEvent.adopt) {
      if case .adopt(let a, let b) = $0 { (a, b) } else { nil }
    },
  ])
}

extension ProcessEvent: StoredByForm {
  package static let form = Form(cases: [
    Case("suspensionCompleted", ProcessEvent.suspensionCompleted) {
      if case .suspensionCompleted(let a) = $0 { a } else { nil }
    },
    Case("stillSuspended", ProcessEvent.stillSuspended) {
      if case .stillSuspended(let a) = $0 { a } else { nil }
    },
    Case("spawned", ProcessEvent.spawned) {
      if case .spawned(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("spawnFailed", ProcessEvent.spawnFailed) {
      if case .spawnFailed(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("leaderExited", ProcessEvent.leaderExited) {
      if case .leaderExited(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("suspensionFailed", ProcessEvent.suspensionFailed) {
      if case .suspensionFailed(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("suspensionLost", ProcessEvent.suspensionLost) {
      if case .suspensionLost(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("signalFailed", ProcessEvent.signalFailed) {
      if case .signalFailed(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("tracerChecked", ProcessEvent.tracerChecked) {
      if case .tracerChecked(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("activityBegan", ProcessEvent.activityBegan) {
      if case .activityBegan(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("activityEnded", ProcessEvent.activityEnded) {
      if case .activityEnded(let a, let b) = $0 { (a, b) } else { nil }
    },
  ])
}

extension SchedulerEvent: StoredByForm {
  package static let form = Form(cases: [
    Case("deadlineReached", SchedulerEvent.deadlineReached),
    Case("clockRead", SchedulerEvent.clockRead) {
      if case .clockRead(let a) = $0 { a } else { nil }
    },
    Case("policyChanged", SchedulerEvent.policyChanged) {
      if case .policyChanged(let a) = $0 { a } else { nil }
    },
    Case("manifestsChanged", SchedulerEvent.manifestsChanged) {
      if case .manifestsChanged(let a) = $0 { a } else { nil }
    },
    Case("started", SchedulerEvent.started),
    Case("stop", SchedulerEvent.stop),
    Case("recovered", SchedulerEvent.recovered) {
      if case .recovered(let a) = $0 { a } else { nil }
    },
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
    Case("storeFailed", NotificationEvent.storeFailed) {
      if case .storeFailed(let a, let b) = $0 { (a, b) } else { nil }
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
    Case("read", MemoryEvent.read) { if case .read(let a) = $0 { a } else { nil } },
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
