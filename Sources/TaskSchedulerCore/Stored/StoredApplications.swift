/// The manifest is not stored with the application: ``Applications`` stores all manifests.
extension Application: StoredByForm {
  static let form = Form(
    derived: {
      Application(
        key: $0, instance: $1, launching: $2, lastEnd: $3, launchFailure: $4, activation: $5,
        relaunch: $6)
    }, \.key, \.instance, \.launching, \.lastEnd, \.launchFailure, \.activation, \.relaunch)
}

/// Counts are not stored, because they follow from the applications.
extension Applications: StoredByForm {
  static let form = Form(
    derived: {
      (
        manifests: [Manifest], applications: [Application], ended: [ApplicationKey],
        activationLast: UInt64
      ) throws(MalformedBytes) in
      try restoring { () throws(InvariantViolation) in
        try Applications(
          applications, manifests: manifests, ended: ended, activationLast: activationLast)
      }
    }, \.allManifests, \.all, \.ended, \.activationLast)
}

extension Manifest: StoredByForm {
  package static let form = Form(
    Manifest.init(
      id:displayName:owner:namesUser:backgroundModes:multitasking:isLaunchable:seat:namesSeat:
        stopSignal:),
    \.id, \.displayName, \.owner, \.namesUser, \.backgroundModes, \.multitasking, \.isLaunchable,
    \.seat, \.namesSeat, \.stopSignal)
}

extension Relaunch: StoredByForm {
  static let form = Form(
    Relaunch.init(delay:dueAt:awaitsMemory:isBarred:), \.delay, \.dueAt, \.awaitsMemory,
    \.isBarred)
}

extension LaunchFailure: StoredByForm {
  package static let form = Form(LaunchFailure.init(reason:at:), \.reason, \.at)
}

extension PendingLaunch: StoredByForm {
  static let form = Form(
    PendingLaunch.init(request:application:plan:), \.request, \.application, \.plan)
}

extension StartPlan: StoredByForm {
  static let form = Form(
    StartPlan.init(
      target:reason:seat:backgroundModes:mayStayInBackground:stopSignal:isAware:inbox:), \.target,
    \.reason, \.seat, \.backgroundModes, \.mayStayInBackground, \.stopSignal, \.isAware, \.inbox)
}

extension End: StoredByForm {
  package static let form = Form(
    End.init(reason:at:detail:forced:), \.reason, \.at, \.detail, \.forced)
}

extension ForcedEnd: StoredByForm {
  package static let form = Form(ForcedEnd.init(signal:limit:), \.signal, \.limit)
}

extension EndReason: StoredByForm {
  package static let form = Form(cases: [
    Case("exited", EndReason.exited) { if case .exited(let a) = $0 { a } else { nil } },
    Case("crashed", EndReason.crashed) { if case .crashed(let a) = $0 { a } else { nil } },
    Case("unknown", EndReason.unknown),
    Case("terminatedByOperator", EndReason.terminatedByOperator),
    Case("terminatedByUser", EndReason.terminatedByUser),
    Case("callbackTimeout", EndReason.callbackTimeout),
    Case("backgroundTimeExpired", EndReason.backgroundTimeExpired),
    Case("keepAliveTimeout", EndReason.keepAliveTimeout),
    Case("memoryPressure", EndReason.memoryPressure),
    Case("gpuInBackground", EndReason.gpuInBackground),
    Case("sharedResourceHeld", EndReason.sharedResourceHeld),
    Case("excessiveUse", EndReason.excessiveUse),
    Case("optedOut", EndReason.optedOut),
    Case("schedulerStopped", EndReason.schedulerStopped),
  ])
}

extension EndDetail: StoredByForm {
  package static let form = Form(cases: [
    Case("callback", EndDetail.callback) { if case .callback(let a) = $0 { a } else { nil } },
    Case("task", EndDetail.task) {
      if case .task(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("memory", EndDetail.memory) { if case .memory(let a, let b) = $0 { (a, b) } else { nil } },
    Case("processor", EndDetail.processor) {
      if case .processor(let a, let b, let c) = $0 { (a, b, c) } else { nil }
    },
    Case("gpu", EndDetail.gpu) { if case .gpu(let a) = $0 { a } else { nil } },
    Case("sharedResource", EndDetail.sharedResource) {
      if case .sharedResource(let a) = $0 { a } else { nil }
    },
  ])
}

extension ProcessorShare: StoredByForm {
  package static let form = Form(cases: [
    Case("throttled", ProcessorShare.throttled) {
      if case .throttled(let a) = $0 { a } else { nil }
    },
    Case("usual", ProcessorShare.usual) { if case .usual(let a) = $0 { a } else { nil } },
  ])
}

extension MemoryChoice: StoredByForm {
  package static let form = Form(
    MemoryChoice.init(chosen:runnersUp:classCount:memory:pressedSince:at:choosingTime:), \.chosen,
    \.runnersUp, \.classCount, \.memory, \.pressedSince, \.at, \.choosingTime)
}

extension MemoryCandidate: StoredByForm {
  package static let form = Form(
    MemoryCandidate.init(application:state:size:activation:), \.application, \.state, \.size,
    \.activation)
}
