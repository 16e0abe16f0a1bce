extension Instance: StoredByForm {
  static let form = Form(
    Instance.init(
      id:application:leader:seat:launchReason:backgroundModes:mayStayInBackground:stopSignal:
      startedAt:phase:stateSince:reasons:stream:callbacks:tasks:activities:sockets:handling:inbox:
      suspensionLostAt:termination:tracer:listening:),
    \.id, \.application, \.leader, \.seat, \.launchReason, \.backgroundModes,
    \.mayStayInBackground, \.stopSignal, \.startedAt, \.phase, \.stateSince, \.reasons,
    \.stream, \.callbacks, \.tasks, \.activities, \.sockets, \.handling, \.inbox,
    \.suspensionLostAt, \.termination, \.tracer, \.listening)
}

extension Instance.Phase: StoredByForm {
  static let form = Form(cases: [
    Case("inactive", Instance.Phase.inactive) { if case .inactive(let a) = $0 { a } else { nil } },
    Case("active", Instance.Phase.active),
    Case("background", Instance.Phase.background) {
      if case .background(let a) = $0 { a } else { nil }
    },
    Case("suspended", Instance.Phase.suspended) {
      if case .suspended(let a) = $0 { a } else { nil }
    },
  ])
}

extension Instance.EventStream: StoredByForm {
  static let form = Form(cases: [
    Case("neverOpened", Instance.EventStream.neverOpened),
    Case("open", Instance.EventStream.open), Case("closed", Instance.EventStream.closed),
  ])
}

extension Instance.Tracer: StoredByForm {
  static let form = Form(cases: [
    Case("absent", Instance.Tracer.absent),
    Case("asked", Instance.Tracer.asked) { if case .asked(let a) = $0 { a } else { nil } },
    Case("present", Instance.Tracer.present) { if case .present(let a) = $0 { a } else { nil } },
  ])
}

extension Reasons: StoredByForm {
  static let form = Form(
    Reasons.init(cause:displacedBy:lastEntitlement:), \.cause, \.displacedBy, \.lastEntitlement)
}

extension TransitionCause: StoredByForm {
  package static let form = Form(cases: [
    Case("launch", TransitionCause.launch),
    Case("register", TransitionCause.register),
    Case("adopt", TransitionCause.adopt),
    Case("activate", TransitionCause.activate), Case("acknowledged", TransitionCause.acknowledged),
    Case("interruption", TransitionCause.interruption), Case("sendAway", TransitionCause.sendAway),
    Case("otherActivated", TransitionCause.otherActivated) {
      if case .otherActivated(let a) = $0 { a } else { nil }
    },
    Case("terminate", TransitionCause.terminate),
    Case("noEntitlement", TransitionCause.noEntitlement),
    Case("event", TransitionCause.event), Case("suspensionLost", TransitionCause.suspensionLost),
    Case("leaderExited", TransitionCause.leaderExited),
    Case("schedulerStopped", TransitionCause.schedulerStopped),
  ])
}

extension EndedEntitlement: StoredByForm {
  package static let form = Form(EndedEntitlement.init(kind:at:), \.kind, \.at)
}

extension EndedEntitlement.Kind: StoredByForm {
  package static let form = Form(cases: [
    Case("task", EndedEntitlement.Kind.task) {
      if case .task(let a, let b) = $0 { (a, b) } else { nil }
    },
    Case("callback", EndedEntitlement.Kind.callback) {
      if case .callback(let a) = $0 { a } else { nil }
    },
    Case("activity", EndedEntitlement.Kind.activity) {
      if case .activity(let a) = $0 { a } else { nil }
    },
    Case("eventHandled", EndedEntitlement.Kind.eventHandled),
    Case("eventTime", EndedEntitlement.Kind.eventTime),
    Case("launchTime", EndedEntitlement.Kind.launchTime),
  ])
}

extension Callback: StoredByForm {
  package static let form = Form(Callback.init(id:kind:), \.id, \.kind)
}

extension Callbacks: StoredByForm {
  static let form = Form(
    Callbacks.init(inFlight:limitStart:waiting:idLast:), \.inFlight, \.limitStart, \.waiting,
    \.idLast)
}

extension BackgroundTask: StoredByForm {
  package static let form = Form(
    BackgroundTask.init(id:name:beganAt:isExpired:), \.id, \.name, \.beganAt, \.isExpired)
}

extension BackgroundTasks: StoredByForm {
  static let form = Form(BackgroundTasks.init(all:idLast:), \.all, \.idLast)
}

extension Activities: StoredByForm {
  static let form = Form(
    Activities.init(isPlaying:isLocating:eventsUnderWay:), \.isPlaying, \.isLocating,
    \.eventsUnderWay)
}

extension ManagedSockets: StoredByForm {
  static let form = Form(ManagedSockets.init(ids:), \.ids)
}

extension HandledEvents: StoredByForm {
  static let form = Form(HandledEvents.init(entries:), \.entries)
}

extension HandledEvents.Entry: StoredByForm {
  static let form = Form(
    HandledEvents.Entry.init(id:notice:endsAt:), \.id, \.notice, \.endsAt)
}

extension Inbox: StoredByForm {
  static let form = Form(
    Inbox.init(notices:changesDelivered:memoryWarning:), \.notices, \.changesDelivered,
    \.memoryWarning)
}

extension DeliveredMemoryWarning: StoredByForm {
  static let form = Form(DeliveredMemoryWarning.init(episode:at:), \.episode, \.at)
}

extension Stint: StoredByForm {
  static let form = Form(
    Stint.init(time:suspension:launchEnds:use:), \.time, \.suspension, \.launchEnds, \.use)
}

extension BackgroundTime: StoredByForm {
  static let form = Form(
    BackgroundTime.init(limitStart:warnedAt:isOver:), \.limitStart, \.warnedAt, \.isOver)
}

extension Stint.Suspension: StoredByForm {
  static let form = Form(cases: [
    Case("none", Stint.Suspension.none),
    Case("stopping", Stint.Suspension.stopping),
    Case("failed", Stint.Suspension.failed) { if case .failed(let a) = $0 { a } else { nil } },
  ])
}

extension Termination: StoredByForm {
  static let form = Form(
    Termination.init(reason:phase:waiters:detail:forced:), \.reason, \.phase, \.waiters, \.detail,
    \.forced)
}

extension Termination.Phase: StoredByForm {
  static let form = Form(cases: [
    Case("callbacks", Termination.Phase.callbacks),
    Case("signalled", Termination.Phase.signalled) {
      if case .signalled(let a) = $0 { a } else { nil }
    },
    Case("killed", Termination.Phase.killed) {
      if case .killed(let a) = $0 { .some(a) } else { nil }
    },
  ])
}

extension UseMeasurement: StoredByForm {
  static let form = Form(
    UseMeasurement.init(progress:window:throttledTo:wasThrottled:), \.progress, \.window,
    \.throttledTo, \.wasThrottled)
}

extension UseMeasurement.Progress: StoredByForm {
  static let form = Form(cases: [
    Case("asked", UseMeasurement.Progress.asked),
    Case("due", UseMeasurement.Progress.due) { if case .due(let a) = $0 { a } else { nil } },
  ])
}

extension UseMeasurement.Window: StoredByForm {
  static let form = Form(
    UseMeasurement.Window.init(since:processor:gpu:), \.since, \.processor, \.gpu)
}
