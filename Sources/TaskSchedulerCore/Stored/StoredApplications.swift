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
      id:displayName:owner:namesUser:backgroundModes:locationServices:multitasking:isLaunchable:
        seat:namesSeat:stopSignal:),
    \.id, \.displayName, \.owner, \.namesUser, \.backgroundModes, \.locationServices,
    \.multitasking, \.isLaunchable, \.seat, \.namesSeat, \.stopSignal)
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
      target:reason:seat:backgroundModes:mayStayInBackground:stopSignal:isAware:launchRegion:
        inbox:),
    \.target, \.reason, \.seat, \.backgroundModes, \.mayStayInBackground, \.stopSignal, \.isAware,
    \.launchRegion, \.inbox)
}

extension End: StoredByForm {
  package static let form = Form(
    End.init(reason:at:detail:forced:), \.reason, \.at, \.detail, \.forced)
}

extension ForcedEnd: StoredByForm {
  package static let form = Form(ForcedEnd.init(signal:limit:), \.signal, \.limit)
}

extension EndReason: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("exited", Self.exited), Case("crashed", Self.crashed), Case("unknown", Self.unknown),
    Case("terminatedByOperator", Self.terminatedByOperator),
    Case("terminatedByUser", Self.terminatedByUser), Case("callbackTimeout", Self.callbackTimeout),
    Case("backgroundTimeExpired", Self.backgroundTimeExpired),
    Case("keepAliveTimeout", Self.keepAliveTimeout), Case("memoryPressure", Self.memoryPressure),
    Case("gpuInBackground", Self.gpuInBackground),
    Case("sharedResourceHeld", Self.sharedResourceHeld), Case("excessiveUse", Self.excessiveUse),
    Case("optedOut", Self.optedOut), Case("schedulerStopped", Self.schedulerStopped),
    Case("released", Self.released),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .exited(let a): writer.write(case: 0, a)
    case .crashed(let a): writer.write(case: 1, a)
    case .unknown: writer.write(case: 2)
    case .terminatedByOperator: writer.write(case: 3)
    case .terminatedByUser: writer.write(case: 4)
    case .callbackTimeout: writer.write(case: 5)
    case .backgroundTimeExpired: writer.write(case: 6)
    case .keepAliveTimeout: writer.write(case: 7)
    case .memoryPressure: writer.write(case: 8)
    case .gpuInBackground: writer.write(case: 9)
    case .sharedResourceHeld: writer.write(case: 10)
    case .excessiveUse: writer.write(case: 11)
    case .optedOut: writer.write(case: 12)
    case .schedulerStopped: writer.write(case: 13)
    case .released: writer.write(case: 14)
    }
  }
}

extension EndDetail: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("callback", Self.callback), Case("task", Self.task), Case("memory", Self.memory),
    Case("processor", Self.processor), Case("gpu", Self.gpu),
    Case("sharedResource", Self.sharedResource), Case("released", Self.released),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .callback(let a): writer.write(case: 0, a)
    case .task(let a, let b, let c): writer.write(case: 1, a, b, c)
    case .memory(let a, let b): writer.write(case: 2, a, b)
    case .processor(let a, let b, let c): writer.write(case: 3, a, b, c)
    case .gpu(let a): writer.write(case: 4, a)
    case .sharedResource(let a): writer.write(case: 5, a)
    case .released(let a): writer.write(case: 6, a)
    }
  }
}

extension ProcessorShare: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("throttled", Self.throttled), Case("usual", Self.usual),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .throttled(let a): writer.write(case: 0, a)
    case .usual(let a): writer.write(case: 1, a)
    }
  }
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
