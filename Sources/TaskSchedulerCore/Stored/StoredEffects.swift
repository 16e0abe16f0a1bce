extension Effect: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("reply", Self.reply), Case("record", Self.record), Case("deliver", Self.deliver),
    Case("expire", Self.expire), Case("notify", Self.notify), Case("resources", Self.resources),
    Case("socket", Self.socket), Case("notification", Self.notification),
    Case("memory", Self.memory), Case("spawn", Self.spawn), Case("manage", Self.manage),
    Case("suspend", Self.suspend), Case("resume", Self.resume), Case("terminate", Self.terminate),
    Case("kill", Self.kill), Case("release", Self.release), Case("checkTracer", Self.checkTracer),
    Case("dropPicture", Self.dropPicture), Case("audio", Self.audio),
    Case("remote", Self.remote),
    Case("location", Self.location),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .reply(let a, let b): writer.write(case: 0, a, b)
    case .record(let a): writer.write(case: 1, a)
    case .deliver(let a, let b, let c): writer.write(case: 2, a, b, c)
    case .expire(let a, let b, let c): writer.write(case: 3, a, b, c)
    case .notify(let a, let b): writer.write(case: 4, a, b)
    case .resources(let a): writer.write(case: 5, a)
    case .socket(let a): writer.write(case: 6, a)
    case .notification(let a): writer.write(case: 7, a)
    case .memory(let a): writer.write(case: 8, a)
    case .spawn(let a, let b, let c): writer.write(case: 9, a, b, c)
    case .manage(let a, let b, let c): writer.write(case: 10, a, b, c)
    case .suspend(let a): writer.write(case: 11, a)
    case .resume(let a): writer.write(case: 12, a)
    case .terminate(let a, let b): writer.write(case: 13, a, b)
    case .kill(let a): writer.write(case: 14, a)
    case .release(let a, let b): writer.write(case: 15, a, b)
    case .checkTracer(let a): writer.write(case: 16, a)
    case .dropPicture(let a): writer.write(case: 17, a)
    case .audio(let a): writer.write(case: 18, a)
    case .remote(let a): writer.write(case: 19, a)
    case .location(let a): writer.write(case: 20, a)
    }
  }
}

extension Reply: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("done", Self.done), Case("registered", Self.registered), Case("began", Self.began),
    Case("started", Self.started), Case("ended", Self.ended), Case("managed", Self.managed),
    Case("scheduled", Self.scheduled), Case("cancelled", Self.cancelled),
    Case("refused", Self.refused), Case("controlled", Self.controlled),
    Case("located", Self.located),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .done: writer.write(case: 0)
    case .registered(let a): writer.write(case: 1, a)
    case .began(let a, let b): writer.write(case: 2, a, b)
    case .started(let a, let b): writer.write(case: 3, a, b)
    case .ended(let a): writer.write(case: 4, a)
    case .managed(let a): writer.write(case: 5, a)
    case .scheduled(let a): writer.write(case: 6, a)
    case .cancelled(let a): writer.write(case: 7, a)
    case .refused(let a): writer.write(case: 8, a)
    case .controlled(let a): writer.write(case: 9, a)
    case .located(let a): writer.write(case: 10, a)
    }
  }
}

extension Refusal: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("unknownApplication", Self.unknownApplication),
    Case("invalidTransition", Self.invalidTransition), Case("invalidState", Self.invalidState),
    Case("alreadyRunning", Self.alreadyRunning), Case("terminating", Self.terminating),
    Case("notLaunchable", Self.notLaunchable), Case("launchFailed", Self.launchFailed),
    Case("wrongApplication", Self.wrongApplication), Case("unknownCallback", Self.unknownCallback),
    Case("unknownTask", Self.unknownTask), Case("modeNotDeclared", Self.modeNotDeclared),
    Case("quotaExceeded", Self.quotaExceeded),
    Case("multitaskingNotSupported", Self.multitaskingNotSupported),
    Case("keepAliveTooShort", Self.keepAliveTooShort), Case("noEventStream", Self.noEventStream),
    Case("unknownSocket", Self.unknownSocket),
    Case("unknownNotification", Self.unknownNotification), Case("notStored", Self.notStored),
    Case("cannotBeTold", Self.cannotBeTold),
    Case("terminatedByOperator", Self.terminatedByOperator),
    Case("nothingPlayed", Self.nothingPlayed),
    Case("locationUnavailable", Self.locationUnavailable),
    Case("locationDenied", Self.locationDenied), Case("unknownRegion", Self.unknownRegion),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .unknownApplication(let a): writer.write(case: 0, a)
    case .invalidTransition(let a, let b): writer.write(case: 1, a, b)
    case .invalidState(let a): writer.write(case: 2, a)
    case .alreadyRunning(let a, let b): writer.write(case: 3, a, b)
    case .terminating: writer.write(case: 4)
    case .notLaunchable: writer.write(case: 5)
    case .launchFailed(let a): writer.write(case: 6, a)
    case .wrongApplication(let a): writer.write(case: 7, a)
    case .unknownCallback(let a): writer.write(case: 8, a)
    case .unknownTask(let a): writer.write(case: 9, a)
    case .modeNotDeclared(let a): writer.write(case: 10, a)
    case .quotaExceeded(let a, let b): writer.write(case: 11, a, b)
    case .multitaskingNotSupported: writer.write(case: 12)
    case .keepAliveTooShort(let a): writer.write(case: 13, a)
    case .noEventStream: writer.write(case: 14)
    case .unknownSocket(let a): writer.write(case: 15, a)
    case .unknownNotification(let a): writer.write(case: 16, a)
    case .notStored(let a): writer.write(case: 17, a)
    case .cannotBeTold(let a): writer.write(case: 18, a)
    case .terminatedByOperator: writer.write(case: 19)
    case .nothingPlayed(let a): writer.write(case: 20, a)
    case .locationUnavailable: writer.write(case: 21)
    case .locationDenied(let a): writer.write(case: 22, a)
    case .unknownRegion(let a): writer.write(case: 23, a)
    }
  }
}

extension Notice: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("socketsReady", Self.socketsReady), Case("systemChanges", Self.systemChanges),
    Case("notificationFired", Self.notificationFired),
    Case("notificationChosen", Self.notificationChosen), Case("memoryWarning", Self.memoryWarning),
    Case("remoteControl", Self.remoteControl),
    Case("audioInterruption", Self.audioInterruption), Case("call", Self.call),
    Case("location", Self.location), Case("significantChange", Self.significantChange),
    Case("region", Self.region), Case("locationAuthorization", Self.locationAuthorization),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .socketsReady(let a, let b): writer.write(case: 0, a, b)
    case .systemChanges(let a): writer.write(case: 1, a)
    case .notificationFired(let a): writer.write(case: 2, a)
    case .notificationChosen(let a): writer.write(case: 3, a)
    case .memoryWarning: writer.write(case: 4)
    case .remoteControl(let a, let b): writer.write(case: 5, a, b)
    case .audioInterruption(let a, let b): writer.write(case: 6, a, b)
    case .call(let a, let b): writer.write(case: 7, a, b)
    case .location(let a): writer.write(case: 8, a)
    case .significantChange(let a, let b): writer.write(case: 9, a, b)
    case .region(let a, let b, let c): writer.write(case: 10, a, b, c)
    case .locationAuthorization(let a): writer.write(case: 11, a)
    }
  }
}

extension Registration: StoredByForm {
  package static let form = Form(
    Registration.init(
      application:instance:state:launchReason:backgroundModes:remaining:tasks:launchRegion:),
    \.application, \.instance, \.state, \.launchReason, \.backgroundModes, \.remaining, \.tasks,
    \.launchRegion)
}

extension ResourceRecord: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("usedProcessor", Self.usedProcessor), Case("usedGPU", Self.usedGPU),
    Case("heldResource", Self.heldResource), Case("throttled", Self.throttled),
    Case("listens", Self.listens),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .usedProcessor(let a, let b): writer.write(case: 0, a, b)
    case .usedGPU(let a): writer.write(case: 1, a)
    case .heldResource(let a): writer.write(case: 2, a)
    case .throttled(let a): writer.write(case: 3, a)
    case .listens(let a): writer.write(case: 4, a)
    }
  }
}

extension SocketEffect: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("hold", Self.hold), Case("release", Self.release), Case("watch", Self.watch),
    Case("stopWatching", Self.stopWatching),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .hold(let a, let b): writer.write(case: 0, a, b)
    case .release(let a, let b): writer.write(case: 1, a, b)
    case .watch(let a): writer.write(case: 2, a)
    case .stopWatching(let a): writer.write(case: 3, a)
    }
  }
}

extension NotificationEffect: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("store", Self.store), Case("fire", Self.fire), Case("findNext", Self.findNext),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .store(let a, let b): writer.write(case: 0, a, b)
    case .fire(let a, let b, let c, let d): writer.write(case: 1, a, b, c, d)
    case .findNext(let a, let b): writer.write(case: 2, a, b)
    }
  }
}

extension NotificationTransaction: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("schedule", Self.schedule), Case("cancel", Self.cancel), Case("setBadge", Self.setBadge),
    Case("fire", Self.fire),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .schedule(let a, let b, let c): writer.write(case: 0, a, b, c)
    case .cancel(let a, let b): writer.write(case: 1, a, b)
    case .setBadge(let a, let b): writer.write(case: 2, a, b)
    case .fire(let a, let b, let c, let d): writer.write(case: 3, a, b, c, d)
    }
  }
}

extension MemoryEffect: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("read", Self.read), Case("measure", Self.measure), Case("reclaim", Self.reclaim),
    Case("pageOut", Self.pageOut),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .read: writer.write(case: 0)
    case .measure(let a): writer.write(case: 1, a)
    case .reclaim(let a): writer.write(case: 2, a)
    case .pageOut(let a): writer.write(case: 3, a)
    }
  }
}

extension ResourceEffect: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("prioritize", Self.prioritize), Case("sample", Self.sample),
    Case("throttle", Self.throttle),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .prioritize(let a, let b): writer.write(case: 0, a, b)
    case .sample(let a): writer.write(case: 1, a)
    case .throttle(let a, let b): writer.write(case: 2, a, b)
    }
  }
}
