extension Effect: StoredByForm {
  package static let form = Form(cases: [
    Case("reply", Effect.reply) { if case .reply(let a, let b) = $0 { (a, b) } else { nil } },
    Case("record", Effect.record) { if case .record(let a) = $0 { a } else { nil } },
    Case("deliver", Effect.deliver) {
      if case .deliver(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("expire", Effect.expire) {
      if case .expire(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("notify", Effect.notify) { if case .notify(let a, let b) = $0 { (a, b) } else { nil } },
    Case("resources", Effect.resources) { if case .resources(let a) = $0 { a } else { nil } },
    Case("socket", Effect.socket) { if case .socket(let a) = $0 { a } else { nil } },
    Case("notification", Effect.notification) {
      if case .notification(let a) = $0 { a } else { nil }
    },
    Case("memory", Effect.memory) { if case .memory(let a) = $0 { a } else { nil } },
    Case("spawn", Effect.spawn) {
      if case .spawn(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("manage", Effect.manage) {
      if case .manage(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("suspend", Effect.suspend) { if case .suspend(let a) = $0 { a } else { nil } },
    Case("resume", Effect.resume) { if case .resume(let a) = $0 { a } else { nil } },
    Case("terminate", Effect.terminate) {
      if case .terminate(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("kill", Effect.kill) { if case .kill(let a) = $0 { a } else { nil } },
    Case("release", Effect.release) { if case .release(let a, let b) = $0 { (a, b) } else { nil } },
    Case("checkTracer", Effect.checkTracer) { if case .checkTracer(let a) = $0 { a } else { nil } },
  ])
}

extension Reply: StoredByForm {
  package static let form = Form(cases: [
    Case("done", Reply.done),
    Case("registered", Reply.registered) { if case .registered(let a) = $0 { a } else { nil } },
    Case("began", Reply.began) { if case .began(let a, let b) = $0 { (a, b) } else { nil } },
    Case("started", Reply.started) { if case .started(let a, let b) = $0 { (a, b) } else { nil } },
    Case("ended", Reply.ended) { if case .ended(let a) = $0 { a } else { nil } },
    Case("managed", Reply.managed) { if case .managed(let a) = $0 { a } else { nil } },
    Case("scheduled", Reply.scheduled) { if case .scheduled(let a) = $0 { a } else { nil } },
    Case("cancelled", Reply.cancelled) { if case .cancelled(let a) = $0 { a } else { nil } },
    Case("refused", Reply.refused) { if case .refused(let a) = $0 { a } else { nil } },
  ])
}

extension Refusal: StoredByForm {
  package static let form = Form(cases: [
    Case("unknownApplication", Refusal.unknownApplication) {
      if case .unknownApplication(let a) = $0 { a } else { nil }
    },
    Case("invalidTransition", Refusal.invalidTransition) {
      if case .invalidTransition(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("invalidState", Refusal.invalidState) {
      if case .invalidState(let a) = $0 { a } else { nil }
    },
    Case("alreadyRunning", Refusal.alreadyRunning) {
      if case .alreadyRunning(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("terminating", Refusal.terminating),
    Case("notLaunchable", Refusal.notLaunchable),
    Case("launchFailed", Refusal.launchFailed) {
      if case .launchFailed(let a) = $0 { a } else { nil }
    },
    Case("wrongApplication", Refusal.wrongApplication) {
      if case .wrongApplication(let a) = $0 { a } else { nil }
    },
    Case("unknownCallback", Refusal.unknownCallback) {
      if case .unknownCallback(let a) = $0 { a } else { nil }
    },
    Case("unknownTask", Refusal.unknownTask) {
      if case .unknownTask(let a) = $0 { a } else { nil }
    },
    Case("modeNotDeclared", Refusal.modeNotDeclared) {
      if case .modeNotDeclared(let a) = $0 { a } else { nil }
    },
    Case("quotaExceeded", Refusal.quotaExceeded) {
      if case .quotaExceeded(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("multitaskingNotSupported", Refusal.multitaskingNotSupported),
    Case("keepAliveTooShort", Refusal.keepAliveTooShort) {
      if case .keepAliveTooShort(let a) = $0 { a } else { nil }
    },
    Case("noEventStream", Refusal.noEventStream),
    Case("unknownSocket", Refusal.unknownSocket) {
      if case .unknownSocket(let a) = $0 { a } else { nil }
    },
    Case("unknownNotification", Refusal.unknownNotification) {
      if case .unknownNotification(let a) = $0 { a } else { nil }
    },
    Case("notStored", Refusal.notStored) { if case .notStored(let a) = $0 { a } else { nil } },
    Case("cannotBeTold", Refusal.cannotBeTold) {
      if case .cannotBeTold(let a) = $0 { a } else { nil }
    },
    Case("terminatedByOperator", Refusal.terminatedByOperator),
  ])
}

extension Notice: StoredByForm {
  package static let form = Form(cases: [
    Case("socketsReady", Notice.socketsReady) {
      if case .socketsReady(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("systemChanges", Notice.systemChanges) {
      if case .systemChanges(let a) = $0 { a } else { nil }
    },
    Case("notificationFired", Notice.notificationFired) {
      if case .notificationFired(let a) = $0 { a } else { nil }
    },
    Case("notificationChosen", Notice.notificationChosen) {
      if case .notificationChosen(let a) = $0 { a } else { nil }
    },
    Case("memoryWarning", Notice.memoryWarning),
  ])
}

extension Registration: StoredByForm {
  package static let form = Form(
    Registration.init(
      application:instance:state:launchReason:backgroundModes:remaining:tasks:), \.application,
    \.instance, \.state, \.launchReason, \.backgroundModes, \.remaining, \.tasks)
}

extension ResourceRecord: StoredByForm {
  package static let form = Form(cases: [
    Case("usedProcessor", ResourceRecord.usedProcessor) {
      if case .usedProcessor(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("usedGPU", ResourceRecord.usedGPU) { if case .usedGPU(let a) = $0 { a } else { nil } },
    Case("heldResource", ResourceRecord.heldResource) {
      if case .heldResource(let a) = $0 { a } else { nil }
    },
    Case("throttled", ResourceRecord.throttled) {
      if case .throttled(let a) = $0 { .some(a) } else { nil }
    },
    Case("listens", ResourceRecord.listens) { if case .listens(let a) = $0 { a } else { nil } },
  ])
}

extension SocketEffect: StoredByForm {
  package static let form = Form(cases: [
    Case("hold", SocketEffect.hold) { if case .hold(let a, let b) = $0 { (a, b) } else { nil } },
    Case("release", SocketEffect.release) {
      if case .release(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("watch", SocketEffect.watch) { if case .watch(let a) = $0 { a } else { nil } },
    Case("stopWatching", SocketEffect.stopWatching) {
      if case .stopWatching(let a) = $0 { a } else { nil }
    },
  ])
}

extension NotificationEffect: StoredByForm {
  package static let form = Form(cases: [
    Case("store", NotificationEffect.store) {
      if case .store(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("fire", NotificationEffect.fire) {
      if case .fire(let a, let b, let c, let d) = $0 { (a, b, c, d) } else { nil }
    },
    Case("findNext", NotificationEffect.findNext) {
      if case .findNext(let a, let b) = $0 { (a, b) } else { nil }
    },
  ])
}

extension NotificationTransaction: StoredByForm {
  package static let form = Form(cases: [
    Case("schedule", NotificationTransaction.schedule) {
      if case .schedule(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("cancel", NotificationTransaction.cancel) {
      if case .cancel(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("setBadge", NotificationTransaction.setBadge) {
      if case .setBadge(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("fire", NotificationTransaction.fire) {
      if case .fire(let a, let b, let c, let d) = $0 { (a, b, c, d) } else { nil }
    },
  ])
}

extension MemoryEffect: StoredByForm {
  package static let form = Form(cases: [
    Case("read", MemoryEffect.read),
    Case("measure", MemoryEffect.measure) { if case .measure(let a) = $0 { a } else { nil } },
    Case("reclaim", MemoryEffect.reclaim) { if case .reclaim(let a) = $0 { a } else { nil } },
    Case("pageOut", MemoryEffect.pageOut) { if case .pageOut(let a) = $0 { a } else { nil } },
  ])
}

extension ResourceEffect: StoredByForm {
  package static let form = Form(cases: [
    Case("prioritize", ResourceEffect.prioritize) {
      if case .prioritize(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("sample", ResourceEffect.sample) { if case .sample(let a) = $0 { a } else { nil } },
    Case("throttle", ResourceEffect.throttle) {
      if case .throttle(let a, let b) = $0 { (a, b) } else { nil }
    },
  ])
}
