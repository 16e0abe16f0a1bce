import TaskSchedulerCore

/// A hash of a trace that is the same in every process, as Swift's own hashing is not: FNV-1a's
/// step on whole words, with the high bits folded back.
public struct TraceHash: Hashable, Sendable {
  public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  public init() {}

  mutating func add(_ word: UInt64) {
    value = (value ^ word) &* 0x0000_0100_0000_01B3
    value ^= value >> 29
  }

  mutating func add(_ number: Int) { add(UInt64(bitPattern: Int64(number))) }

  mutating func add(_ flag: Bool) { add(flag ? 1 as UInt64 : 2) }

  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      add(bytes.count)
      var word: UInt64 = 0
      for (index, byte) in bytes.enumerated() {
        word = word << 8 | UInt64(byte)
        if index & 7 == 7 { add(word) }
      }
      add(word)
    }
  }

  mutating func add(_ name: some RawRepresentable<String>) { add(name.rawValue) }

  mutating func add(_ text: String?) {
    add(text != nil)
    if let text { add(text) }
  }

  mutating func add(_ duration: Duration?) {
    guard let duration else { return add(false) }
    let (seconds, attoseconds) = duration.components
    add(UInt64(bitPattern: seconds))
    add(UInt64(bitPattern: attoseconds))
  }

  mutating func add(_ key: ApplicationKey) {
    add(key.id.name)
    add(UInt64(key.owner.uid))
  }

  mutating func add(_ leader: Leader) {
    add(UInt64(UInt32(bitPattern: leader.pid)))
    add(leader.startTime)
  }

  mutating func add(tag: UInt64, _ numbers: UInt64...) {
    add(tag)
    for number in numbers { add(number) }
  }
}

extension TraceHash {
  mutating func add(_ event: Event, at now: Instant) {
    add(now.nanoseconds)
    switch event {
    case .register(let request, let key, let leader, let target, let seat):
      add(tag: 1, request.number)
      add(key)
      add(leader)
      add(target)
      add(seat.name)
    case .openStream(let request, let id, let name):
      add(tag: 2, request.number, id.number)
      add(name.name)
    case .streamClosed(let id): add(tag: 3, id.number)
    case .acknowledge(let request, let id, let callback):
      add(tag: 4, request.number, id.number, callback.number)
    case .beginBackgroundTask(let request, let id, let name):
      add(tag: 5, request.number, id.number)
      add(name)
    case .endBackgroundTask(let request, let id, let task):
      add(tag: 6, request.number, id.number, task.number)
    case .launch(let request, let key, let target, let reason):
      add(tag: 7, request?.number ?? 0)
      add(key)
      add(target)
      add(reason)
    case .adopt(let request, let adoption):
      add(tag: 8, request.number)
      add(adoption)
    case .activate(let request, let key): add(9, request, key)
    case .deactivate(let request, let key): add(10, request, key)
    case .sendToBackground(let request, let key): add(11, request, key)
    case .terminate(let request, let key, let byUser):
      add(12, request, key)
      add(byUser)
    case .setKeepAlive(let request, let id, let interval):
      add(tag: 13, request.number, id.number)
      add(interval)
    case .socket(let event): add(event)
    case .notification(let event): add(event)
    case .memory(let event): add(event)
    case .resources(let event): add(event)
    case .systemChanged(let request, let change, let owner):
      add(tag: 14, request?.number ?? 0, owner.map { UInt64($0.uid) } ?? .max)
      add(change)
    case .spawned, .spawnFailed, .leaderExited, .suspensionCompleted, .stillSuspended,
      .suspensionFailed, .suspensionLost, .signalFailed, .tracerChecked, .activityBegan,
      .activityEnded, .deadlineReached, .clockRead, .policyChanged, .manifestsChanged, .started,
      .recovered, .stop:
      addReport(event)
    }
  }

  private mutating func add(_ tag: UInt64, _ request: RequestID?, _ key: ApplicationKey) {
    add(tag: tag, request?.number ?? 0)
    add(key)
  }

  private mutating func add(_ adoption: Adoption) {
    add(adoption.application)
    add(adoption.leader)
    add(adoption.target)
    add(adoption.seat.name)
    add(adoption.backgroundTask)
    for mode in adoption.backgroundModes { add(mode) }
  }

  private mutating func addReport(_ event: Event) {
    switch event {
    case .spawned(let id, let leader):
      add(tag: 20, id.number)
      add(leader)
    case .spawnFailed(let id, let reason):
      add(tag: 21, id.number)
      add(reason)
    case .leaderExited(let id, let status):
      add(tag: 22, id.number)
      add(status)
    case .suspensionCompleted(let id): add(tag: 23, id.number)
    case .stillSuspended(let ids):
      add(tag: 37, UInt64(ids.count))
      for id in ids { add(id.number) }
    case .suspensionFailed(let id, let reason):
      add(tag: 24, id.number)
      add(reason)
    case .suspensionLost(let id, let reason):
      add(tag: 38, id.number)
      add(reason)
    case .signalFailed(let id, let reason):
      add(tag: 25, id.number)
      add(reason)
    case .tracerChecked(let id, let isTraced): add(tag: isTraced ? 26 : 27, id.number)
    case .activityBegan(let id, let activity):
      add(tag: 28, id.number)
      add(activity)
    case .activityEnded(let id, let activity):
      add(tag: 29, id.number)
      add(activity)
    case .deadlineReached: add(tag: 30)
    case .policyChanged(let policy):
      add(tag: 31)
      add(policy)
    case .manifestsChanged(let manifests):
      add(tag: 32)
      for manifest in manifests { add(manifest) }
    case .stop: add(tag: 33)
    case .recovered(let lastAlive): add(tag: 34, lastAlive.nanoseconds)
    case .clockRead(let wall): add(tag: 35, UInt64(bitPattern: wall.nanoseconds))
    case .started: add(tag: 36)
    case .register, .openStream, .streamClosed, .acknowledge, .beginBackgroundTask,
      .endBackgroundTask, .setKeepAlive, .socket, .notification, .systemChanged, .launch, .adopt,
      .activate, .deactivate, .sendToBackground, .terminate, .memory, .resources:
      preconditionFailure("no report")
    }
  }

  private mutating func add(_ status: ExitStatus) {
    switch status {
    case .exited(let code): add(tag: 1, UInt64(UInt32(bitPattern: code)))
    case .signaled(let signal): add(tag: 2, UInt64(UInt32(bitPattern: signal)))
    case .unknown: add(tag: 3)
    }
  }

  private mutating func add(_ policy: Policy) {
    for setting in PolicySetting.all {
      switch setting.kind {
      case .timeSpan(let property, _): add(policy[keyPath: property])
      case .count(let property, _): add(policy[keyPath: property])
      case .flag(let property): add(policy[keyPath: property])
      }
    }
  }

  private mutating func add(_ manifest: Manifest) {
    add(ApplicationKey(manifest.id, owner: manifest.owner))
    add(manifest.namesUser)
    for mode in manifest.backgroundModes { add(mode) }
    add(manifest.multitasking)
    add(manifest.isLaunchable)
    add(manifest.seat.name)
    add(manifest.namesSeat)
  }
}
