import TaskSchedulerCore
import TaskSchedulerWire

// Translates the scheduler's types to those of the interfaces.

extension ApplicationInterface.State {
  init(_ state: ApplicationState) {
    switch state {
    case .notRunning: self = .notRunning
    case .inactive: self = .inactive
    case .active: self = .active
    case .background: self = .background
    case .suspended: self = .suspended
    }
  }
}

extension ApplicationInterface.LaunchReason {
  init(_ reason: TaskSchedulerCore.LaunchReason) {
    switch reason {
    case .user: self = .user
    case .operator: self = .operator
    case .boot: self = .boot
    case .relaunch: self = .relaunch
    case .location: self = .location
    case .notification: self = .notification
    case .call: self = .call
    }
  }
}

extension ApplicationInterface.CallbackKind {
  init(_ kind: TaskSchedulerCore.CallbackKind) {
    switch kind {
    case .didFinishLaunching: self = .didFinishLaunching
    case .didBecomeActive: self = .didBecomeActive
    case .willResignActive: self = .willResignActive
    case .didEnterBackground: self = .didEnterBackground
    case .willEnterForeground: self = .willEnterForeground
    case .willTerminate: self = .willTerminate
    case .keepAlive: self = .keepAlive
    }
  }
}

extension ApplicationInterface.BackgroundTask {
  init(_ task: TaskSchedulerCore.BackgroundTask) {
    self.init(
      id: Int(clamping: task.id.number), name: task.name,
      beganAtUSec: task.beganAt.microseconds, expired: task.isExpired)
  }
}

extension ApplicationInterface.Registration {
  init(_ registration: TaskSchedulerCore.Registration) {
    self.init(
      application: registration.application.name,
      instance: Int(clamping: registration.instance.number),
      state: .init(registration.state), launchReason: .init(registration.launchReason),
      launchRegion: registration.launchRegion?.name,
      backgroundModes: registration.backgroundModes.map(\.rawValue),
      backgroundTimeRemainingUSec: registration.remaining?.microseconds,
      tasks: registration.tasks.map { .init($0) })
  }
}

extension ControlInterface.EndKind {
  init(_ reason: EndReason) {
    switch reason {
    case .exited: self = .exited
    case .crashed: self = .crashed
    case .unknown: self = .unknown
    case .terminatedByOperator: self = .terminatedByOperator
    case .terminatedByUser: self = .terminatedByUser
    case .callbackTimeout: self = .callbackTimeout
    case .backgroundTimeExpired: self = .backgroundTimeExpired
    case .keepAliveTimeout: self = .keepAliveTimeout
    case .memoryPressure: self = .memoryPressure
    case .gpuInBackground: self = .gpuInBackground
    case .sharedResourceHeld: self = .sharedResourceHeld
    case .excessiveUse: self = .excessiveUse
    case .optedOut: self = .optedOut
    case .schedulerStopped: self = .schedulerStopped
    case .released: self = .released
    }
  }
}

extension ControlInterface.End {
  init(_ end: TaskSchedulerCore.End) {
    self.init(reason: .init(end.reason), atUSec: end.at.microseconds)
    switch end.reason {
    case .exited(let code): self.code = Int(code)
    case .crashed(let signal): self.signal = Int(signal)
    case .unknown, .terminatedByOperator, .terminatedByUser, .callbackTimeout,
      .backgroundTimeExpired, .keepAliveTimeout, .memoryPressure, .gpuInBackground,
      .sharedResourceHeld, .excessiveUse, .optedOut, .schedulerStopped, .released:
      break
    }
    switch end.detail {
    case .callback(let kind): callback = .init(kind)
    case .task(let id, let name, let outstanding):
      (tasks, task, taskName) = (outstanding, Int(clamping: id.number), name)
    // `End` has no fields for these details. ``Explanation`` contains them.
    case .memory, .processor, .gpu, .sharedResource, .released, nil: break
    }
    stopSignal = end.forced?.signal.name
    stopLimitUSec = end.forced?.limit.microseconds
  }
}

extension ControlInterface.Entitlement {
  init(_ entitlement: TaskSchedulerCore.Entitlement) {
    switch entitlement {
    case .backgroundTask: self = .backgroundTask
    case .callback: self = .callback
    case .audio: self = .audio
    case .location: self = .location
    case .event: self = .event
    }
  }
}

extension ControlInterface.SnapshotKind {
  init(_ snapshot: Snapshot?) {
    switch snapshot {
    case .picture: self = .picture
    case .sensitive: self = .sensitive
    case nil: self = .none
    }
  }
}

extension ControlInterface.Application {
  /// - Parameters:
  ///   - location: The application's use of the location; nil if it does not use the location.
  ///   - unmanaged: The process of the application, if it runs without management.
  ///   - lowered: Descriptions of the lowered priorities.
  ///   - unit: The systemd unit of the application's leader.
  ///   - isVisible: Returns whether the caller may see the applications of a user.
  init(
    _ status: ApplicationStatus, badge: Int?, location: LocationStatus.Use?,
    problem: String?, unmanaged: Leader?, lowered: [String], unit: String?,
    isVisible: (UserID) -> Bool
  ) {
    self.init(
      application: status.key.id.name, owner: Int(status.key.owner.uid),
      displayName: status.displayName, state: .init(status.state),
      stateSinceUSec: status.stateSince.microseconds, seat: status.seat?.name ?? "",
      backgroundModes: status.backgroundModes.map(\.rawValue), multitasking: status.multitasking,
      launchable: status.isLaunchable, location: location?.services.map { .init($0) } ?? [],
      locationAuthorization: location.map { .init($0.authorization) },
      locationDenial: location?.denial.map { .init($0) },
      switcherPosition: status.switcherPosition,
      snapshot: .init(status.snapshot),
      instance: status.instance.map {
        .init($0, lowered: lowered, unit: unit, isVisible: isVisible)
      },
      lastEnd: status.lastEnd.map { .init($0) },
      launchFailure: status.launchFailure.map {
        .init(reason: $0.reason, atUSec: $0.at.microseconds)
      },
      nextLaunch: status.nextLaunch.map {
        .init(
          atUSec: $0.at.microseconds, delayUSec: $0.delay.microseconds,
          awaitsMemory: $0.awaitsMemory)
      },
      unmanagedPID: status.instance == nil ? unmanaged.map { Int($0.pid) } : nil,
      scheduledNotifications: status.scheduledNotifications, badge: badge, problem: problem)
  }
}

extension ControlInterface.Instance {
  init(
    _ status: InstanceStatus, lowered: [String], unit: String?, isVisible: (UserID) -> Bool
  ) {
    let displacedBy = status.displacedBy.flatMap { isVisible($0.owner) ? $0.id.name : nil }
    self.init(
      id: Int(clamping: status.id.number), pid: Int(status.leader.pid),
      startTime: Int(clamping: status.leader.startTime), aware: status.isAware,
      launchReason: .init(status.launchReason), startedAtUSec: status.startedAt.microseconds,
      ending: status.ending.map { .init($0) }, suspending: status.isSuspending,
      displacedBy: displacedBy,
      entitlements: status.entitlements.map { .init($0) },
      callbacksPending: status.callbacksPending,
      backgroundTimeRemainingUSec: status.timeRemaining?.microseconds,
      tasks: status.tasks.map { .init($0) },
      keepAlive: status.keepAlive.map { .init($0) }, managedSockets: status.managedSockets,
      heldChanges: status.heldChanges, audio: ControlInterface.AudioUse.all(status.audio),
      interruptedBy: status.audio.interrupter?.application?.name,
      duckedBy: status.audio.ducker?.name,
      resources: !status.priority.isLowered && lowered.isEmpty && status.throttledTo == nil
        ? nil
        : .init(
          lowered: lowered, throttledPercent: status.throttledTo,
          listening: status.listening.addresses, listeningCount: status.listening.count,
          descriptorsExamined: status.listening.isComplete),
      unit: unit)
  }
}

extension AudioInterrupter {
  /// The interrupting application, which has the same owner as the interrupted application; nil for
  /// a phone call.
  fileprivate var application: ApplicationID? {
    switch self {
    case .application(let id): id
    case .phoneCall: nil
    }
  }
}

extension ControlInterface.AudioUse {
  fileprivate static func all(_ use: TaskSchedulerCore.AudioUse) -> [Self] {
    (use.isAudible ? [.playing] : []) + (use.isRecording ? [.recording] : [])
      + (use.isMuted ? [.muted] : []) + (use.isDucked ? [.ducked] : [])
      + (use.interrupter == nil ? [] : [.interrupted]) + (use.isInCall ? [.calling] : [])
      + (use.isOnHold ? [.onHold] : [])
  }
}

extension ControlInterface.KeepAlive {
  init(_ status: KeepAliveStatus) {
    self.init(
      intervalUSec: status.keepAlive.interval.microseconds,
      lastRunUSec: status.keepAlive.lastRun?.microseconds,
      deadlineUSec: status.keepAlive.deadline.microseconds,
      plannedUSec: status.planned.microseconds)
  }
}

extension ApplicationInterface.SocketEvent {
  init(_ id: CallbackID, _ ready: [SocketReadiness]) {
    self.init(
      id: Int(clamping: id.number),
      sockets: ready.map {
        .init(
          socket: Int(clamping: $0.socket.number), data: $0.conditions.contains(.data),
          urgentData: $0.conditions.contains(.urgentData), hangUp: $0.conditions.contains(.hangUp),
          error: $0.conditions.contains(.error), unwatched: $0.conditions.contains(.unwatched))
      })
  }
}

extension ApplicationInterface.SystemChange {
  init(_ change: TaskSchedulerCore.SystemChange) {
    self.init(kind: .custom, value: change.value)
    switch change.kind {
    case .timeZone: kind = .timeZone
    case .clock: kind = .clock
    case .day: kind = .day
    case .locale: kind = .locale
    case .network: kind = .network
    case .powerSource: kind = .powerSource
    case .custom(let name): self.name = name
    }
  }
}

extension ApplicationInterface.Notification {
  init(_ stored: StoredNotification) {
    let content = stored.content
    let time = stored.firesAt ?? stored.firedAt ?? stored.presentedAt
    self.init(
      id: Int(clamping: stored.id.number),
      content: .init(
        title: content.title, body: content.body.isEmpty ? nil : content.body,
        sound: content.sound, badge: content.badge, userData: content.userData),
      schedule: stored.schedule.map {
        .init(
          date: $0.date, timeZone: $0.timeZone,
          repeats: $0.repeats.flatMap { .init(rawValue: $0.rawValue) })
      },
      state: .init(rawValue: stored.state.rawValue) ?? .scheduled,
      firesAtUSec: Int(clamping: (time?.nanoseconds ?? 0) / 1000))
  }
}

extension RemoteCommand {
  /// Creates a command from its parameters in a call.
  ///
  /// - Parameters:
  ///   - offset: The time span of a seek; nil for all other commands.
  ///   - parameter: The name of the parameter with the time span, for errors.
  init(
    _ command: ControlInterface.RemoteCommand, offset: Duration?, parameter: String
  ) throws(ParameterError) {
    if command != .seek, offset != nil {
      throw ParameterError(parameter: parameter, problem: "it requires the command seek")
    }
    switch command {
    case .play: self = .play
    case .pause: self = .pause
    case .playPause: self = .playPause
    case .next: self = .next
    case .previous: self = .previous
    case .stop: self = .stop
    case .seek:
      guard let offset else {
        throw ParameterError(parameter: parameter, problem: "it is required for the command 'seek'")
      }
      self = .seek(offset)
    }
  }

  /// The time span of a seek; nil for all other commands.
  var offset: Duration? { if case .seek(let offset) = self { offset } else { nil } }
}

extension ControlInterface.RemoteCommand {
  init(_ command: TaskSchedulerCore.RemoteCommand) {
    switch command {
    case .play: self = .play
    case .pause: self = .pause
    case .playPause: self = .playPause
    case .next: self = .next
    case .previous: self = .previous
    case .stop: self = .stop
    case .seek: self = .seek
    }
  }
}

extension ApplicationInterface.RemoteCommand {
  init(_ id: CallbackID, _ command: TaskSchedulerCore.RemoteCommand) {
    self.init(
      id: Int(clamping: id.number), kind: .init(command),
      offsetUSec: command.offset?.microseconds)
  }
}

extension AudioSession {
  init(_ input: ApplicationInterface.SetAudioSession.Input) {
    self.init(
      AudioCategory(input.category), mixesWithOthers: input.mixWithOthers ?? false,
      ducksOthers: input.duckOthers ?? false)
  }
}

extension AudioCategory {
  fileprivate init(_ category: ApplicationInterface.AudioCategory) {
    switch category {
    case .ambient: self = .ambient
    case .soloAmbient: self = .soloAmbient
    case .playback: self = .playback
    case .record: self = .record
    case .playAndRecord: self = .playAndRecord
    }
  }
}

extension AudioRole {
  init(_ role: SessionInterface.AudioRole) {
    switch role {
    case .phone: self = .phone
    case .event: self = .event
    case .notification: self = .notification
    case .accessibility: self = .accessibility
    case .other: self = .other
    }
  }
}

extension ApplicationInterface.AudioInterruption {
  init(_ id: CallbackID, _ interruption: TaskSchedulerCore.AudioInterruption) {
    switch interruption {
    case .began: self.init(id: Int(clamping: id.number), began: true)
    case .ended(let shouldResume):
      self.init(id: Int(clamping: id.number), began: false, shouldResume: shouldResume)
    }
  }
}

extension ApplicationInterface.RemoteCommandKind {
  fileprivate init(_ command: TaskSchedulerCore.RemoteCommand) {
    switch command {
    case .play: self = .play
    case .pause: self = .pause
    case .playPause: self = .playPause
    case .next: self = .next
    case .previous: self = .previous
    case .stop: self = .stop
    case .seek: self = .seek
    }
  }
}
