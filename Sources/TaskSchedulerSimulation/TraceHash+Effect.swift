import TaskSchedulerCore

extension TraceHash {
  mutating func add(_ effect: Effect) {
    switch effect {
    case .reply(let request, let reply):
      add(tag: 40, request.number)
      add(reply)
    case .deliver(let id, let callback, let reason):
      add(tag: 41, id.number, callback.id.number)
      add(callback.kind)
      if let reason { add(reason) }
    case .expire(let id, let task, let remaining):
      add(tag: 42, id.number, task.number)
      add(remaining)
    case .notify(let id, let notice):
      add(tag: 53, id.number)
      add(notice)
    case .socket(let effect): add(effect)
    case .notification(let effect): add(effect)
    case .memory(let effect): add(effect)
    case .spawn(let id, let key, let reason):
      add(tag: 43, id.number)
      add(key)
      add(reason)
    case .manage(let id, let leader, let key):
      add(tag: 44, id.number)
      add(leader)
      add(key)
    case .suspend(let id): add(tag: 45, id.number)
    case .resume(let id): add(tag: 46, id.number)
    case .terminate(let id, let signal):
      add(tag: 47, id.number, UInt64(UInt32(bitPattern: signal.number)))
    case .kill(let id): add(tag: 48, id.number)
    case .release(let id, let killing): add(tag: killing ? 49 : 50, id.number)
    case .checkTracer(let id): add(tag: 51, id.number)
    case .record(let record):
      add(tag: 52)
      add(record.application)
      if let leader = record.leader { add(leader) }
      add(record.change)
    case .resources(let effect): add(effect)
    }
  }

  private mutating func add(_ reply: Reply) {
    switch reply {
    case .done: add(tag: 1)
    case .registered(let registration):
      add(tag: 2, registration.instance.number)
      add(registration.application.name)
      add(registration.state)
      add(registration.launchReason)
      for mode in registration.backgroundModes { add(mode) }
      add(registration.remaining)
      for task in registration.tasks {
        add(tag: task.isExpired ? 1 : 2, task.id.number, task.beganAt.nanoseconds)
        add(task.name)
      }
    case .began(let task, let remaining):
      add(tag: 3, task.number)
      add(remaining)
    case .started(let id, let leader):
      add(tag: 4, id.number)
      add(leader)
    case .ended(let end):
      add(tag: 5, end.at.nanoseconds)
      add(end)
    case .refused(let refusal):
      add(tag: 6)
      add(refusal)
    case .managed(let socket): add(tag: 7, socket.number)
    case .scheduled(let id): add(tag: 8, id.number)
    case .cancelled(let ids):
      add(tag: 9)
      for id in ids { add(id.number) }
    }
  }

  private mutating func add(_ change: Record.Change) {
    switch change {
    case .transition(let from, let to, let cause):
      add(tag: 1)
      add(from)
      add(to)
      add(cause.name)
      if let activated = cause.activated { add(activated) }
    case .registered: add(tag: 2)
    case .taskBegan(let task, let name, let remaining):
      add(tag: 3, task.number)
      add(name)
      add(remaining)
    case .taskEnded(let task, let name):
      add(tag: 4, task.number)
      add(name)
    case .taskExpired(let task, let name):
      add(tag: 5, task.number)
      add(name)
    case .ended(let end):
      add(tag: 6)
      add(end)
    case .refused(let refusal):
      add(tag: 7)
      add(refusal)
    case .suspensionFailed(let reason):
      add(tag: 8)
      add(reason)
    case .signalFailed(let reason):
      add(tag: 9)
      add(reason)
    case .keepAliveSet, .keepAliveCalled, .socketManaged, .socketReleased, .socketsReady,
      .notificationScheduled, .notificationsCancelled, .notificationFired, .notificationChosen,
      .badgeSet, .relaunchPlanned, .memoryWarned, .memoryChosen:
      addWakeUp(change)
    case .resources(let record): add(record)
    }
  }

  private mutating func addWakeUp(_ change: Record.Change) {
    switch change {
    case .keepAliveSet(let interval):
      add(tag: 10)
      add(interval)
    case .keepAliveCalled: add(tag: 11)
    case .socketManaged(let socket): add(tag: 12, socket.number)
    case .socketReleased(let socket): add(tag: 13, socket.number)
    case .socketsReady(let sockets):
      add(tag: 14)
      add(sockets)
    case .notificationScheduled(let id): add(tag: 15, id.number)
    case .notificationsCancelled(let ids):
      add(tag: 16)
      for id in ids { add(id.number) }
    case .notificationFired(let id): add(tag: 17, id.number)
    case .notificationChosen(let id): add(tag: 18, id.number)
    case .badgeSet(let badge):
      add(tag: 19)
      add(badge)
    case .relaunchPlanned(let delay, let awaitsMemory):
      add(tag: 20)
      add(delay)
      add(awaitsMemory)
    case .memoryWarned(let isSimulated):
      add(tag: 21)
      add(isSimulated)
    case .memoryChosen(let choice): add(choice)
    case .transition, .registered, .taskBegan, .taskEnded, .taskExpired, .ended, .refused,
      .suspensionFailed, .signalFailed, .resources:
      preconditionFailure("nothing that wakes: \(change)")
    }
  }

  private mutating func add(_ end: End) {
    add(end.reason)
    guard let forced = end.forced else { return }
    add(tag: 1, UInt64(UInt32(bitPattern: forced.signal.number)))
    add(forced.limit)
  }

  private mutating func add(_ reason: EndReason) {
    switch reason {
    case .exited(let code): add(tag: 1, UInt64(UInt32(bitPattern: code)))
    case .crashed(let signal): add(tag: 2, UInt64(UInt32(bitPattern: signal)))
    case .unknown, .terminatedByOperator, .terminatedByUser, .callbackTimeout,
      .backgroundTimeExpired, .keepAliveTimeout, .memoryPressure, .gpuInBackground,
      .sharedResourceHeld, .excessiveUse, .optedOut, .schedulerStopped:
      add(reason.name)
    }
  }

  private mutating func add(_ refusal: Refusal) {
    add(refusal.name)
    switch refusal {
    case .unknownApplication(let key): add(key)
    case .invalidTransition(let from, let cause):
      add(from)
      add(cause.name)
    case .invalidState(let state), .cannotBeTold(let state): add(state)
    case .alreadyRunning(let pid, let state):
      add(Int(pid))
      add(state)
    case .terminating, .notLaunchable, .multitaskingNotSupported, .noEventStream,
      .terminatedByOperator:
      break
    case .keepAliveTooShort(let minimum): add(minimum)
    case .unknownSocket(let id): add(id.number)
    case .unknownNotification(let id): add(id.number)
    case .notStored(let reason): add(reason)
    case .launchFailed(let reason): add(reason)
    case .wrongApplication(let id): add(id.name)
    case .unknownCallback(let id): add(id.number)
    case .unknownTask(let id): add(id.number)
    case .modeNotDeclared(let mode): add(mode)
    case .quotaExceeded(let name, let limit):
      add(name)
      add(limit)
    }
  }
}
