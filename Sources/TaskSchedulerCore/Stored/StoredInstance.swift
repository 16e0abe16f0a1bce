extension Instance: StoredByForm {
  static let form = Form(
    Instance.init(
      id:application:leader:seat:launchReason:launchRegion:backgroundModes:mayStayInBackground:
      stopSignal:startedAt:phase:stateSince:reasons:stream:callbacks:tasks:sockets:handling:
      isLocating:inbox:suspensionLostAt:termination:tracer:window:audio:listening:),
    \.id, \.application, \.leader, \.seat, \.launchReason, \.launchRegion, \.backgroundModes,
    \.mayStayInBackground, \.stopSignal, \.startedAt, \.phase, \.stateSince, \.reasons,
    \.stream, \.callbacks, \.tasks, \.sockets, \.handling, \.isLocating, \.inbox,
    \.suspensionLostAt, \.termination, \.tracer, \.window, \.audio, \.listening)
}

extension Instance.Phase: StoredByCases {
  static let cases: [Case<Self>] = [
    Case("inactive", Self.inactive), Case("active", Self.active),
    Case("background", Self.background), Case("suspended", Self.suspended),
  ]

  func write(to writer: inout StoredWriter) {
    switch self {
    case .inactive(let a): writer.write(case: 0, a)
    case .active: writer.write(case: 1)
    case .background(let a): writer.write(case: 2, a)
    case .suspended(let a): writer.write(case: 3, a)
    }
  }
}

extension Instance.EventStream: StoredByCases {
  static let cases: [Case<Self>] = [
    Case("neverOpened", Self.neverOpened), Case("open", Self.open), Case("closed", Self.closed),
  ]

  func write(to writer: inout StoredWriter) {
    switch self {
    case .neverOpened: writer.write(case: 0)
    case .open: writer.write(case: 1)
    case .closed: writer.write(case: 2)
    }
  }
}

extension Instance.Tracer: StoredByCases {
  static let cases: [Case<Self>] = [
    Case("absent", Self.absent), Case("asked", Self.asked), Case("present", Self.present),
  ]

  func write(to writer: inout StoredWriter) {
    switch self {
    case .absent: writer.write(case: 0)
    case .asked(let a, let b): writer.write(case: 1, a, b)
    case .present(let a): writer.write(case: 2, a)
    }
  }
}

extension StateReasons: StoredByForm {
  static let form = Form(
    StateReasons.init(cause:displacedBy:lastEntitlement:), \.cause, \.displacedBy, \.lastEntitlement
  )
}

extension TransitionCause: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("launch", Self.launch), Case("register", Self.register), Case("adopt", Self.adopt),
    Case("activate", Self.activate), Case("acknowledged", Self.acknowledged),
    Case("interruption", Self.interruption), Case("sendAway", Self.sendAway),
    Case("otherActivated", Self.otherActivated), Case("terminate", Self.terminate),
    Case("noEntitlement", Self.noEntitlement), Case("event", Self.event),
    Case("suspensionLost", Self.suspensionLost), Case("leaderExited", Self.leaderExited),
    Case("schedulerStopped", Self.schedulerStopped), Case("focused", Self.focused),
    Case("shown", Self.shown), Case("unfocused", Self.unfocused), Case("hidden", Self.hidden),
    Case("locked", Self.locked), Case("unlocked", Self.unlocked),
    Case("released", Self.released), Case("closed", Self.closed),
    Case("audio", Self.audio), Case("remoteControl", Self.remoteControl),
    Case("remoteRead", Self.remoteRead), Case("call", Self.call),
    Case("callEnded", Self.callEnded),
    Case("location", Self.location),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .launch: writer.write(case: 0)
    case .register: writer.write(case: 1)
    case .adopt: writer.write(case: 2)
    case .activate: writer.write(case: 3)
    case .acknowledged: writer.write(case: 4)
    case .interruption: writer.write(case: 5)
    case .sendAway: writer.write(case: 6)
    case .otherActivated(let a): writer.write(case: 7, a)
    case .terminate: writer.write(case: 8)
    case .noEntitlement: writer.write(case: 9)
    case .event: writer.write(case: 10)
    case .suspensionLost: writer.write(case: 11)
    case .leaderExited: writer.write(case: 12)
    case .schedulerStopped: writer.write(case: 13)
    case .focused: writer.write(case: 14)
    case .shown: writer.write(case: 15)
    case .unfocused: writer.write(case: 16)
    case .hidden: writer.write(case: 17)
    case .locked: writer.write(case: 18)
    case .unlocked: writer.write(case: 19)
    case .released: writer.write(case: 20)
    case .closed: writer.write(case: 21)
    case .audio: writer.write(case: 22)
    case .remoteControl: writer.write(case: 23)
    case .remoteRead: writer.write(case: 24)
    case .call: writer.write(case: 25)
    case .callEnded: writer.write(case: 26)
    case .location: writer.write(case: 27)
    }
  }
}

extension EndedEntitlement: StoredByForm {
  package static let form = Form(EndedEntitlement.init(kind:at:), \.kind, \.at)
}

extension EndedEntitlement.Kind: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("task", Self.task), Case("callback", Self.callback),
    Case("eventHandled", Self.eventHandled), Case("eventTime", Self.eventTime),
    Case("launchTime", Self.launchTime), Case("audio", Self.audio),
    Case("location", Self.location), Case("silence", Self.silence),
    Case("audioLost", Self.audioLost),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .task(let a, let b): writer.write(case: 0, a, b)
    case .callback(let a): writer.write(case: 1, a)
    case .eventHandled: writer.write(case: 2)
    case .eventTime: writer.write(case: 3)
    case .launchTime: writer.write(case: 4)
    case .audio: writer.write(case: 5)
    case .location: writer.write(case: 6)
    case .silence: writer.write(case: 7)
    case .audioLost: writer.write(case: 8)
    }
  }
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
    Inbox.init(notices:changesDelivered:memoryWarning:locationAuthorization:), \.notices,
    \.changesDelivered, \.memoryWarning, \.locationAuthorization)
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

extension Stint.Suspension: StoredByCases {
  static let cases: [Case<Self>] = [
    Case("none", Self.none), Case("stopping", Self.stopping), Case("failed", Self.failed),
    Case("muting", Self.muting),
  ]

  func write(to writer: inout StoredWriter) {
    switch self {
    case .none: writer.write(case: 0)
    case .stopping: writer.write(case: 1)
    case .failed(let a): writer.write(case: 2, a)
    case .muting(let a): writer.write(case: 3, a)
    }
  }
}

extension Termination: StoredByForm {
  static let form = Form(
    Termination.init(reason:phase:waiters:detail:forced:), \.reason, \.phase, \.waiters, \.detail,
    \.forced)
}

extension Termination.Phase: StoredByCases {
  static let cases: [Case<Self>] = [
    Case("callbacks", Self.callbacks), Case("signalled", Self.signalled),
    Case("killed", Self.killed),
  ]

  func write(to writer: inout StoredWriter) {
    switch self {
    case .callbacks: writer.write(case: 0)
    case .signalled(let a): writer.write(case: 1, a)
    case .killed(let a): writer.write(case: 2, a)
    }
  }
}

extension UseMeasurement: StoredByForm {
  static let form = Form(
    UseMeasurement.init(progress:window:throttledTo:wasThrottled:), \.progress, \.window,
    \.throttledTo, \.wasThrottled)
}

extension UseMeasurement.Progress: StoredByCases {
  static let cases: [Case<Self>] = [
    Case("asked", Self.asked), Case("due", Self.due),
  ]

  func write(to writer: inout StoredWriter) {
    switch self {
    case .asked: writer.write(case: 0)
    case .due(let a): writer.write(case: 1, a)
    }
  }
}

extension UseMeasurement.Window: StoredByForm {
  static let form = Form(
    UseMeasurement.Window.init(since:processor:gpu:), \.since, \.processor, \.gpu)
}
