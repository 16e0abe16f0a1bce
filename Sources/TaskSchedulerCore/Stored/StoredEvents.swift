extension Event: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("application", Self.application), Case("process", Self.process),
    Case("scheduler", Self.scheduler), Case("operation", Self.operation),
    Case("resources", Self.resources), Case("socket", Self.socket),
    Case("notification", Self.notification), Case("memory", Self.memory),
    Case("systemChanged", Self.systemChanged), Case("session", Self.session),
    Case("switcher", Self.switcher),
    Case("location", Self.location),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .application(let a): writer.write(case: 0, a)
    case .process(let a): writer.write(case: 1, a)
    case .scheduler(let a): writer.write(case: 2, a)
    case .operation(let a): writer.write(case: 3, a)
    case .resources(let a): writer.write(case: 4, a)
    case .socket(let a): writer.write(case: 5, a)
    case .notification(let a): writer.write(case: 6, a)
    case .memory(let a): writer.write(case: 7, a)
    case .systemChanged(let a, let b, let c): writer.write(case: 8, a, b, c)
    case .session(let a): writer.write(case: 9, a)
    case .switcher(let a): writer.write(case: 10, a)
    case .location(let a): writer.write(case: 11, a)
    }
  }
}

extension ApplicationEvent: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("acknowledge", Self.acknowledge), Case("beginBackgroundTask", Self.beginBackgroundTask),
    Case("endBackgroundTask", Self.endBackgroundTask), Case("setKeepAlive", Self.setKeepAlive),
    Case("register", Self.register), Case("openStream", Self.openStream),
    Case("streamClosed", Self.streamClosed), Case("beginCall", Self.beginCall),
    Case("endCall", Self.endCall), Case("setAudioSession", Self.setAudioSession),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .acknowledge(let a, let b, let c): writer.write(case: 0, a, b, c)
    case .beginBackgroundTask(let a, let b, let c): writer.write(case: 1, a, b, c)
    case .endBackgroundTask(let a, let b, let c): writer.write(case: 2, a, b, c)
    case .setKeepAlive(let a, let b, let c): writer.write(case: 3, a, b, c)
    case .register(let a, let b, let c, let d, let e): writer.write(case: 4, a, b, c, d, e)
    case .openStream(let a, let b, let c): writer.write(case: 5, a, b, c)
    case .streamClosed(let a): writer.write(case: 6, a)
    case .beginCall(let a, let b): writer.write(case: 7, a, b)
    case .endCall(let a, let b): writer.write(case: 8, a, b)
    case .setAudioSession(let a, let b, let c): writer.write(case: 9, a, b, c)
    }
  }
}

extension OperationEvent: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("activate", Self.activate), Case("deactivate", Self.deactivate),
    Case("sendToBackground", Self.sendToBackground), Case("terminate", Self.terminate),
    Case("launch", Self.launch), Case("adopt", Self.adopt),
    Case("remoteControl", Self.remoteControl),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .activate(let a, let b): writer.write(case: 0, a, b)
    case .deactivate(let a, let b): writer.write(case: 1, a, b)
    case .sendToBackground(let a, let b): writer.write(case: 2, a, b)
    case .terminate(let a, let b, let c): writer.write(case: 3, a, b, c)
    case .launch(let a, let b, let c, let d): writer.write(case: 4, a, b, c, d)
    case .adopt(let a, let b): writer.write(case: 5, a, b)
    case .remoteControl(let a, let b, let c): writer.write(case: 6, a, b, c)
    }
  }
}

extension ProcessEvent: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("suspensionCompleted", Self.suspensionCompleted),
    Case("stillSuspended", Self.stillSuspended), Case("spawned", Self.spawned),
    Case("spawnFailed", Self.spawnFailed), Case("leaderExited", Self.leaderExited),
    Case("suspensionFailed", Self.suspensionFailed), Case("suspensionLost", Self.suspensionLost),
    Case("signalFailed", Self.signalFailed), Case("tracerChecked", Self.tracerChecked),
    Case("released", Self.released),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .suspensionCompleted(let a): writer.write(case: 0, a)
    case .stillSuspended(let a): writer.write(case: 1, a)
    case .spawned(let a, let b): writer.write(case: 2, a, b)
    case .spawnFailed(let a, let b): writer.write(case: 3, a, b)
    case .leaderExited(let a, let b): writer.write(case: 4, a, b)
    case .suspensionFailed(let a, let b): writer.write(case: 5, a, b)
    case .suspensionLost(let a, let b): writer.write(case: 6, a, b)
    case .signalFailed(let a, let b): writer.write(case: 7, a, b)
    case .tracerChecked(let a, let b): writer.write(case: 8, a, b)
    case .released(let a, let b): writer.write(case: 9, a, b)
    }
  }
}

extension SchedulerEvent: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("deadlineReached", Self.deadlineReached), Case("clockRead", Self.clockRead),
    Case("policyChanged", Self.policyChanged), Case("manifestsChanged", Self.manifestsChanged),
    Case("started", Self.started), Case("stop", Self.stop), Case("recovered", Self.recovered),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .deadlineReached: writer.write(case: 0)
    case .clockRead(let a): writer.write(case: 1, a)
    case .policyChanged(let a): writer.write(case: 2, a)
    case .manifestsChanged(let a): writer.write(case: 3, a)
    case .started: writer.write(case: 4)
    case .stop: writer.write(case: 5)
    case .recovered: writer.write(case: 6)
    }
  }
}

extension Adoption: StoredByForm {
  package static let form = Form(
    Adoption.init(application:leader:target:seat:backgroundTask:backgroundModes:reason:),
    \.application, \.leader, \.target, \.seat, \.backgroundTask, \.backgroundModes, \.reason)
}

extension ExitStatus: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("exited", Self.exited), Case("signaled", Self.signaled), Case("unknown", Self.unknown),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .exited(let a): writer.write(case: 0, a)
    case .signaled(let a): writer.write(case: 1, a)
    case .unknown: writer.write(case: 2)
    }
  }
}

extension SocketEvent: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("manage", Self.manage), Case("release", Self.release), Case("ready", Self.ready),
    Case("closed", Self.closed), Case("lost", Self.lost),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .manage(let a, let b, let c): writer.write(case: 0, a, b, c)
    case .release(let a, let b, let c): writer.write(case: 1, a, b, c)
    case .ready(let a, let b): writer.write(case: 2, a, b)
    case .closed(let a, let b): writer.write(case: 3, a, b)
    case .lost(let a, let b): writer.write(case: 4, a, b)
    }
  }
}

extension SocketReadiness: StoredByForm {
  package static let form = Form(SocketReadiness.init(_:_:), \.socket, \.conditions)
}

extension NotificationEvent: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("schedule", Self.schedule), Case("stored", Self.stored),
    Case("storeFailed", Self.storeFailed), Case("cancel", Self.cancel),
    Case("nextFound", Self.nextFound), Case("chosen", Self.chosen), Case("setBadge", Self.setBadge),
    Case("loaded", Self.loaded),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .schedule(let a, let b, let c, let d): writer.write(case: 0, a, b, c, d)
    case .stored(let a): writer.write(case: 1, a)
    case .storeFailed(let a, let b): writer.write(case: 2, a, b)
    case .cancel(let a, let b, let c, let d): writer.write(case: 3, a, b, c, d)
    case .nextFound(let a, let b): writer.write(case: 4, a, b)
    case .chosen(let a, let b): writer.write(case: 5, a, b)
    case .setBadge(let a, let b, let c): writer.write(case: 6, a, b, c)
    case .loaded(let a, let b): writer.write(case: 7, a, b)
    }
  }
}

extension MemoryEvent: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("pressed", Self.pressed), Case("read", Self.read), Case("measured", Self.measured),
    Case("reclaimed", Self.reclaimed), Case("warn", Self.warn),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .pressed(let a): writer.write(case: 0, a)
    case .read(let a): writer.write(case: 1, a)
    case .measured(let a): writer.write(case: 2, a)
    case .reclaimed(let a, let b): writer.write(case: 3, a, b)
    case .warn(let a, let b, let c): writer.write(case: 4, a, b, c)
    }
  }
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

extension ResourceEvent: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("used", Self.used), Case("held", Self.held), Case("listens", Self.listens),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .used(let a, let b): writer.write(case: 0, a, b)
    case .held(let a, let b): writer.write(case: 1, a, b)
    case .listens(let a, let b): writer.write(case: 2, a, b)
    }
  }
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

extension SystemChangeKind: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("timeZone", Self.timeZone), Case("clock", Self.clock), Case("day", Self.day),
    Case("locale", Self.locale), Case("network", Self.network),
    Case("powerSource", Self.powerSource), Case("custom", Self.custom),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .timeZone: writer.write(case: 0)
    case .clock: writer.write(case: 1)
    case .day: writer.write(case: 2)
    case .locale: writer.write(case: 3)
    case .network: writer.write(case: 4)
    case .powerSource: writer.write(case: 5)
    case .custom(let a): writer.write(case: 6, a)
    }
  }
}
