import TaskSchedulerCore

/// A deliberate defect that tests the checkers. It changes what the scheduler or the simulated
/// world receives.
///
/// If many runs have the defect and none reports a violation, the checkers are incomplete.
public enum Canary: String, CaseIterable, Equatable, Sendable {
  case dropKill = "drop-kill"
  case dropCallback = "drop-callback"
  case dropResume = "drop-resume"
  case dropRelease = "drop-release"
  case dropTracerCheck = "drop-tracer-check"
  case suspendTwice = "suspend-twice"
  case suspendForeground = "suspend-foreground"
  case replyTwice = "reply-twice"
  case earlyLimit = "early-limit"
  case lateLimit = "late-limit"
  case wrongReason = "wrong-reason"
  case wrongState = "wrong-state"
  case forgetTask = "forget-task"
  case lateKeepAlive = "late-keep-alive"
  case earlyKeepAlive = "early-keep-alive"
  case wakeNeedlessly = "wake-needlessly"
  case dropWatch = "drop-watch"
  case fireTwice = "fire-twice"
  case dropFire = "drop-fire"
  case replyBeforeStored = "reply-before-stored"
  case dropStore = "drop-store"
  case forgetChange = "forget-change"
  case earlyRelaunch = "early-relaunch"
  case wrongVictim = "wrong-victim"
  case dropWarning = "drop-warning"
  case earlyChoice = "early-choice"
  case dropChoice = "drop-choice"
  case dropPriority = "drop-priority"
  case dropSample = "drop-sample"
  case dropThrottle = "drop-throttle"
  case killUnused = "kill-unused"
  case dropFocus = "drop-focus"
  case keepFocus = "keep-focus"
  case dropShown = "drop-shown"
  case keepWindows = "keep-windows"
  case earlySettle = "early-settle"
  case earlyHidden = "early-hidden"
  case lateHidden = "late-hidden"
  case earlyLoss = "early-loss"
  case dropLoss = "drop-loss"
  case dropLock = "drop-lock"
  case dropUnlock = "drop-unlock"
  case keepPicture = "keep-picture"
  case losePicture = "lose-picture"
  case forgetSensitive = "forget-sensitive"
  case dropAudio = "drop-audio"
  case dropAudioLoss = "drop-audio-loss"
  case earlySilence = "early-silence"
  case lateSilence = "late-silence"
  case dropMute = "drop-mute"
  case earlyMute = "early-mute"
  case dropUnmute = "drop-unmute"
  case dropConfirm = "drop-confirm"
  case dropMeasure = "drop-measure"
  case earlyPause = "early-pause"
  case latePause = "late-pause"
  case dropNotice = "drop-notice"
  case dropPlayerCall = "drop-player-call"
  case dropPlayers = "drop-players"
  case earlyRead = "early-read"
  case frequentRead = "frequent-read"
  case rareRead = "rare-read"
  case dropCommand = "drop-command"
  case dropPlayer = "drop-player"
  case dropModemCall = "drop-modem-call"
  case dropIncomingCall = "drop-incoming-call"
  case dropInterruption = "drop-interruption"
  case dropPause = "drop-pause"
  case dropHold = "drop-hold"
  case ignoreSessions = "ignore-sessions"
  case ignoreRoles = "ignore-roles"
  case noTakeover = "no-takeover"
  case resumeAfterTakeover = "resume-after-takeover"
  case dropLowered = "drop-lowered"
  case keepLowered = "keep-lowered"
  case lowerTooFar = "lower-too-far"
  case duckTheDucker = "duck-the-ducker"
  case dropCrossing = "drop-crossing"
  case crossTwice = "cross-twice"
  case earlyCrossing = "early-crossing"
  case trustLocation = "trust-location"
  case forgetRegion = "forget-region"
  case dropRegion = "drop-region"
  case loseChange = "lose-change"
  case oldChange = "old-change"
  case keepReceiver = "keep-receiver"
  case dropReceiver = "drop-receiver"
  case longLook = "long-look"
  case wakeByUpdates = "wake-by-updates"
  case locateAfterDenial = "locate-after-denial"
  case askTwice = "ask-twice"
}

/// Applies a canary to the events and effects of a run.
struct PlantedDefect {
  let canary: Canary
  /// The defect affects every n-th opportunity, where n is the period.
  private let period: Int
  private var opportunities = 0
  /// For each user, the instances with a window in the last report.
  private var reported: [UserID: Set<InstanceID>] = [:]
  /// For each user, the streams of the last report with a role that lowers the volume of other
  /// streams.
  private var ducking: [UserID: [AudioStream]] = [:]
  /// For each instance, the location of the last significant change that the scheduler reported to
  /// it.
  var lastChange: [InstanceID: Location] = [:]
  /// The request of the current event.
  private var request: RequestID?

  init(_ canary: Canary, seed: UInt64) {
    self.canary = canary
    var chance = SeededGenerator(seed: seed, .faults, 1)
    period = 1 + chance.below(4)
  }

  mutating func strikes() -> Bool {
    opportunities += 1
    return opportunities % period == 0
  }

  /// The additional delay of the daemon's timer, in nanoseconds.
  var timerDelay: UInt64 { canary == .lateLimit ? Nanoseconds.second / 2 : 0 }

  /// Returns the policy that the scheduler receives in place of the given policy.
  func policy(_ policy: Policy) -> Policy {
    var shorter = policy
    if canary == .earlyChoice { shorter.memoryWarningTime = policy.memoryWarningTime / 2 }
    if canary == .earlyRelaunch { shorter.relaunchDelay = policy.relaunchDelay / 2 }
    // `event(_:)` doubles the intervals in requests. With a doubled minimum, the scheduler refuses
    // the same requests as without the defect.
    if canary == .lateKeepAlive { shorter.keepAliveMinimum = policy.keepAliveMinimum * 2 }
    if canary == .earlyKeepAlive {
      shorter.keepAliveMinimum = policy.keepAliveMinimum / 2
      shorter.keepAliveHandlerTime = min(
        policy.keepAliveHandlerTime, shorter.keepAliveMinimum - .milliseconds(1))
    }
    if canary == .earlySettle { shorter.focusSettleTime = policy.focusSettleTime / 2 }
    if canary == .earlyHidden { shorter.hiddenGraceTime = policy.hiddenGraceTime / 2 }
    if canary == .lateHidden { shorter.hiddenGraceTime = policy.hiddenGraceTime * 2 }
    if canary == .earlyLoss { shorter.sessionGraceTime = policy.sessionGraceTime / 2 }
    if canary == .earlySilence { shorter.audioGraceTime = policy.audioGraceTime / 2 }
    if canary == .lateSilence { shorter.audioGraceTime = policy.audioGraceTime * 2 }
    if canary == .earlyPause { shorter.audioSilenceTime = policy.audioSilenceTime / 2 }
    if canary == .latePause { shorter.audioSilenceTime = policy.audioSilenceTime * 2 }
    if canary == .earlyRead { shorter.remoteReadTime = policy.remoteReadTime / 2 }
    if canary == .frequentRead {
      shorter.remoteReadInterval = policy.remoteReadInterval / 2
      shorter.remoteReadTime = min(policy.remoteReadTime, shorter.remoteReadInterval / 2)
    }
    if canary == .rareRead { shorter.remoteReadInterval = policy.remoteReadInterval * 2 }
    if canary == .earlyMute { shorter.audioMuteTime = policy.audioMuteTime / 2 }
    if canary == .earlyCrossing { shorter.regionDwell = policy.regionDwell / 2 }
    if canary == .longLook { shorter.locationFixTime = policy.locationFixTime * 2 }
    guard canary == .earlyLimit else { return shorter }
    shorter.keepAliveHandlerTime = policy.keepAliveHandlerTime / 2
    shorter.callbackTimeout = policy.callbackTimeout / 2
    shorter.terminateTimeout = policy.terminateTimeout / 2
    return shorter
  }

  /// Records the event that the scheduler handles now.
  mutating func begin(_ event: Event) { request = event.request }

  /// Returns the event that the scheduler receives in place of the given event.
  mutating func event(_ event: Event) -> Event {
    if case .scheduler(.policyChanged(let changed)) = event {
      return .scheduler(.policyChanged(policy(changed)))
    }
    if case .application(.setKeepAlive(let request, let id, let interval?)) = event,
      interval < .seconds(1_000_000) {
      if canary == .lateKeepAlive {
        return .application(.setKeepAlive(request, id, interval: interval * 2))
      }
      if canary == .earlyKeepAlive {
        return .application(.setKeepAlive(request, id, interval: interval / 2))
      }
    }
    if case .session(let report) = event { return changed(report) }
    if case .location(let report) = event { return .location(changed(report)) }
    if case .scheduler(.manifestsChanged(let manifests)) = event {
      return .scheduler(.manifestsChanged(changed(manifests)))
    }
    if canary == .ignoreSessions,
      case .application(.setAudioSession(let request, let id, _)) = event
    {
      return .application(.setAudioSession(request, id, AudioSession(.playback)))
    }
    if canary == .forgetSensitive,
      case .switcher(.setSnapshot(let request, let id, .sensitive)) = event
    {
      return .switcher(.setSnapshot(request, id, nil))
    }
    if canary == .wrongVictim, case .memory(.measured(var sizes)) = event {
      for index in sizes.indices { sizes[index].dirty = .max - sizes[index].dirty }
      return .memory(.measured(sizes))
    }
    return event
  }

  private mutating func changed(_ event: SessionEvent) -> Event {
    let nothing = Event.scheduler(.deadlineReached)
    switch event {
    case .windows(let user, var snapshot):
      for index in snapshot.windows.indices {
        let visibility = snapshot.windows[index].visibility
        if canary == .dropFocus, visibility == .focused {
          snapshot.windows[index].visibility = .visible
        } else if canary == .dropShown, visibility == .visible {
          snapshot.windows[index].visibility = .hidden
        }
      }
      if canary == .keepFocus { snapshot.hasFocus = false }
      if canary == .keepWindows {
        let gone = reported[user, default: []].subtracting(snapshot.windows.map(\.instance))
        snapshot.windows += gone.sorted().map { WindowReport($0, .hidden) }
        reported[user] = Set(snapshot.windows.map(\.instance))
      }
      return .session(.windows(user, snapshot))
    case .agentLost: return canary == .dropLoss ? nothing : .session(event)
    case .locked: return canary == .dropLock ? nothing : .session(event)
    case .unlocked: return canary == .dropUnlock ? nothing : .session(event)
    case .agentAttached: return .session(event)
    case .audio(let user, var snapshot):
      if canary == .dropAudio { snapshot.streams.removeAll { !$0.isMuted } }
      if canary == .noTakeover { snapshot.managesRoles = true }
      if canary == .ignoreRoles {
        for index in snapshot.streams.indices { snapshot.streams[index].role = .other }
      }
      ducking[user] = snapshot.streams.filter {
        $0.instance != nil && ($0.role == .notification || $0.role == .accessibility)
      }
      return .session(.audio(user, snapshot))
    case .audioLost: return canary == .dropAudioLoss ? nothing : .session(event)
    case .recordingChosen, .remoteCommand, .callAnswered: return .session(event)
    case .modemCalls: return canary == .dropModemCall ? nothing : .session(event)
    case .incomingCall: return canary == .dropIncomingCall ? nothing : .session(event)
    case .players: return canary == .dropPlayers ? nothing : .session(event)
    case .playerCalled: return canary == .dropPlayerCall ? nothing : .session(event)
    }
  }

  /// Returns the effects that the simulated daemon carries out in place of the given effect.
  mutating func mutate(_ effect: Effect) -> [Effect] {
    var mutated: [Effect] = []
    for one in changeLocation(effect) {
      for other in changeWakeUp(one) { mutated += change(other) }
    }
    return mutated
  }

  private mutating func change(_ effect: Effect) -> [Effect] {
    switch effect {
    case .kill: if canary == .dropKill, strikes() { return [] }
    case .resume: if canary == .dropResume, strikes() { return [] }
    case .release: if canary == .dropRelease, strikes() { return [] }
    case .checkTracer: if canary == .dropTracerCheck, strikes() { return [] }
    case .suspend: if canary == .suspendTwice, strikes() { return [effect, effect] }
    case .deliver(let id, let callback, _):
      if canary == .dropCallback, strikes() { return [] }
      if canary == .suspendForeground, callback.kind == .didBecomeActive, strikes() {
        return [effect, .suspend(id)]
      }
    case .reply(let request, let reply):
      if canary == .replyTwice, strikes() { return [effect, effect] }
      if canary == .forgetTask, case .registered(var registration) = reply {
        registration.tasks = registration.tasks.dropLast()
        return [.reply(request, .registered(registration))]
      }
    case .record(let record):
      if canary == .wrongReason, case .ended(var end) = record.change, strikes() {
        end.reason = .excessiveUse
        return [.record(with(record, .ended(end)))]
      }
      if canary == .losePicture, case .snapshotChanged(.picture(let id)) = record.change,
        strikes()
      {
        return [effect, .dropPicture(id)]
      }
      if canary == .wrongState, case .transition(let from, .background, _) = record.change,
        strikes()
      {
        return [.record(with(record, .transition(from: from, to: .suspended, cause: .sendAway)))]
      }
    case .expire, .notify, .socket, .notification, .spawn, .manage, .terminate, .memory,
      .resources, .dropPicture, .audio, .remote, .location:
      break
    }
    return [effect]
  }

  private mutating func changeWakeUp(_ effect: Effect) -> [Effect] {
    switch effect {
    case .socket(.watch(let id)):
      if canary == .dropWatch, strikes() { return [] }
      if canary == .wakeNeedlessly, strikes() { return [effect, .resume(id)] }
    case .notification(.fire):
      if canary == .dropFire, strikes() { return [] }
      if canary == .fireTwice, strikes() { return [effect, effect] }
    case .notification(.store(_, let transaction)):
      if canary == .dropStore, strikes() { return [] }
      if canary == .replyBeforeStored, let request, strikes() {
        return [effect, .reply(request, Self.reply(to: transaction))]
      }
    case .resources(.prioritize):
      if canary == .dropPriority, strikes() { return [] }
    case .resources(.sample(let id)):
      if canary == .dropSample, strikes() { return [] }
      if canary == .killUnused, strikes() { return [effect, .kill(id)] }
    case .resources(.throttle):
      if canary == .dropThrottle, strikes() { return [] }
    case .notify(let id, .systemChanges(let changes)):
      if canary == .forgetChange { return [.notify(id, .systemChanges(changes.dropLast()))] }
    case .audio(let order): return changed(order).map { [Effect.audio($0)] } ?? []
    case .remote(.command(_, _, let command)):
      let isPause = command == .pause || command == .play
      if canary == .dropCommand, strikes() { return [] }
      if canary == .dropPause, isPause, strikes() { return [] }
    case .notify(_, .remoteControl): if canary == .dropCommand, strikes() { return [] }
    case .notify(let id, .audioInterruption(let event, let change)):
      if canary == .dropInterruption, strikes() { return [] }
      if canary == .resumeAfterTakeover, change == .ended(shouldResume: false) {
        return [.notify(id, .audioInterruption(event, .ended(shouldResume: true)))]
      }
    case .notify(_, .call): if canary == .dropHold, strikes() { return [] }
    case .remote(.present): if canary == .dropPlayer, strikes() { return [] }
    case .memory(.measure):
      if canary == .dropChoice, strikes() { return [] }
    case .notify(_, .memoryWarning):
      if canary == .dropWarning, strikes() { return [] }
    case .dropPicture:
      if canary == .keepPicture, strikes() { return [] }
    case .socket, .notification, .resources, .notify, .memory, .reply, .deliver, .expire, .spawn,
      .manage, .suspend, .resume, .terminate, .kill, .release, .checkTracer, .record,
      .location:
      break
    }
    return [effect]
  }

  /// Returns the order that the session agent receives in place of the given order; nil if it
  /// receives none.
  private mutating func changed(_ order: AudioEffect) -> AudioEffect? {
    switch order {
    case .mute: if canary == .dropMute, strikes() { return nil }
    case .unmute: if canary == .dropUnmute, strikes() { return nil }
    case .measure: if canary == .dropMeasure, strikes() { return nil }
    case .showRecording: if canary == .dropNotice, strikes() { return nil }
    case .setVolume(let user, let changes): return changed(changes, of: user)
    case .confirm: if canary == .dropConfirm, strikes() { return nil }
    case .stopMeasuring, .hideRecording: break
    }
    return order
  }

  private mutating func changed(
    _ changes: [AudioVolumeChange], of user: UserID
  ) -> AudioEffect? {
    var changes = changes
    let isLowering = changes.contains { $0.to < $0.from }
    if canary == .dropLowered, isLowering, strikes() { return nil }
    if canary == .keepLowered, !isLowering, strikes() { return nil }
    if canary == .lowerTooFar, isLowering {
      for index in changes.indices { changes[index].to /= 2 }
    }
    if canary == .duckTheDucker, isLowering,
      let stream = ducking[user]?.first(where: { stream in
        stream.isRunning && !stream.isMuted && !changes.contains { $0.stream == stream.id }
      })
    {
      changes.append(AudioVolumeChange(stream.id, from: stream.volume, to: stream.volume / 5))
    }
    return .setVolume(user, changes)
  }

  private static func reply(to transaction: NotificationTransaction) -> Reply {
    switch transaction {
    case .schedule(let id, _, _): .scheduled(id)
    case .cancel(let ids, _): .cancelled(ids)
    case .setBadge, .fire: .done
    }
  }

  private func with(_ record: Record, _ change: Record.Change) -> Record {
    Record(application: record.application, leader: record.leader, change: change)
  }
}
