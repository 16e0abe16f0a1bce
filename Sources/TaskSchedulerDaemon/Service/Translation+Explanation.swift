import TaskSchedulerCore
import TaskSchedulerWire

// Translates the explanation of a state to the types of the interface.

extension ControlInterface.Explanation {
  /// - Parameter isVisible: Returns whether the caller may see the applications of a user.
  init(_ explanation: TaskSchedulerCore.Explanation, isVisible: (UserID) -> Bool) {
    self.init(
      cause: explanation.cause?.name,
      lastEntitlement: explanation.lastEntitlement.map { .init($0) },
      traced: explanation.isTraced, limits: explanation.limits.map { .init($0) },
      windows: explanation.window.map { .init($0.visibility) })
    switch explanation.end {
    case .memory(let choice, let warnedAt):
      memoryEnd = .init(choice, warnedAt: warnedAt, isVisible: isVisible)
    case .processor(let used, let window, let share):
      brokenRule = .init(
        cpuUSec: used.microseconds, withinUSec: window.microseconds,
        sharePercent: share.percent, throttled: share.isThrottle)
    case .gpu(let used): brokenRule = .init(gpuUSec: used.microseconds)
    case .sharedResource(let path): brokenRule = .init(path: path)
    case .released(let reason): releaseReason = reason
    case .callback, .task, nil: break
    }
  }
}

extension ControlInterface.WindowVisibility {
  fileprivate init(_ visibility: TaskSchedulerCore.WindowVisibility) {
    switch visibility {
    case .focused: self = .focused
    case .visible: self = .visible
    case .hidden: self = .hidden
    case .closed: self = .closed
    }
  }
}

extension ControlInterface.MemoryEnd {
  fileprivate init(_ choice: MemoryChoice, warnedAt: Instant?, isVisible: (UserID) -> Bool) {
    let chosen = choice.chosen
    self.init(
      state: .init(chosen.state), dirty: Int(clamping: chosen.size.dirty),
      estimate: chosen.size.isEstimate, candidates: choice.classCount,
      next: choice.runnersUp.filter { isVisible($0.application.owner) }.map { .init($0) },
      available: Int(clamping: choice.memory.available), total: Int(clamping: choice.memory.total),
      pressedSinceUSec: choice.pressedSince.microseconds, warnedAtUSec: warnedAt?.microseconds,
      chosenAtUSec: choice.at.microseconds, choosingTimeUSec: choice.choosingTime.microseconds)
  }
}

extension ControlInterface.MemoryRival {
  fileprivate init(_ candidate: MemoryCandidate) {
    self.init(
      application: candidate.application.id.name, owner: Int(candidate.application.owner.uid),
      dirty: Int(clamping: candidate.size.dirty), estimate: candidate.size.isEstimate)
  }
}

extension ControlInterface.EndedEntitlement {
  init(_ ended: TaskSchedulerCore.EndedEntitlement) {
    self.init(kind: .task, atUSec: ended.at.microseconds)
    switch ended.kind {
    case .task(let id, let name): (task, taskName) = (Int(clamping: id.number), name)
    case .callback(let callback): (kind, self.callback) = (.callback, .init(callback))
    case .audio: kind = .audio
    case .silence: kind = .silence
    case .audioLost: kind = .audioLost
    case .location: kind = .location
    case .eventHandled: kind = .event
    case .eventTime: kind = .eventTime
    case .launchTime: kind = .launchTime
    }
  }
}

extension ControlInterface.Limit {
  init(_ limit: TaskSchedulerCore.Limit) {
    self.init(kind: .callback, atUSec: limit.at.microseconds)
    switch limit.kind {
    case .callback(let callback): self.callback = .init(callback)
    case .expiration: kind = .expiration
    case .backgroundTime: kind = .backgroundTime
    case .launch: kind = .launch
    case .event: kind = .event
    case .suspension: kind = .suspension
    case .kill: kind = .kill
    case .killRetry: kind = .killRetry
    case .keepAlive: kind = .keepAlive
    case .relaunch: kind = .relaunch
    case .relaunchAfterPressure: kind = .relaunchAfterPressure
    case .unfocused: kind = .unfocused
    case .hidden: kind = .hidden
    case .audio: kind = .audio
    case .mute: kind = .mute
    }
  }
}
