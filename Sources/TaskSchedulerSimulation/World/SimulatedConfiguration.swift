import TaskSchedulerCore

/// The applications of a run, their manifests and the policy, drawn from the seed.
struct SimulatedConfiguration {
  let seats: [SeatID]
  let keys: [ApplicationKey]
  let seed: UInt64

  private static let names = [
    "org.example.mail", "org.example.music", "org.example.maps", "org.example.chat",
    "org.example.sync", "org.example.news",
  ]

  init(seed: UInt64) {
    self.seed = seed
    var chance = SeededGenerator(seed: seed, .policy)
    // The second seat follows from the seed without a random draw, which would change the later
    // draws of the same seed. The second seat is either a separate seat or a terminal within the
    // first seat.
    let second = SeatID(seed.isMultiple(of: 2) ? "seat1" : "seat0/pts/1:7")
    seats = Array([SeatID("seat0"), second].prefix(1 + chance.below(2)))
    let nameCount = 2 + chance.below(Self.names.count - 1)
    let userCount = 1 + chance.below(2)
    keys = (0..<userCount).flatMap { user in
      Self.names.prefix(nameCount).compactMap { name in
        ApplicationID(name).map { ApplicationKey($0, owner: UserID(UInt32(1000 * (user + 1)))) }
      }
    }
  }

  /// Returns the manifests after `index` changes during the run.
  func manifests(_ index: UInt64) -> [Manifest] {
    var chance = SeededGenerator(seed: seed, .policy, 1000 + index)
    var manifests: [Manifest] = []
    for key in keys where !manifests.contains(where: { $0.id == key.id }) && chance.happens(700) {
      let modes = BackgroundMode.allCases.filter { _ in chance.happens(500) }
      manifests.append(
        Manifest(
          id: key.id, owner: key.owner, namesUser: chance.happens(300), backgroundModes: modes,
          locationServices: locationServices(manifests.count, index),
          multitasking: !chance.happens(200), isLaunchable: !chance.happens(100),
          seat: chance.pick(seats), namesSeat: chance.happens(700),
          // The signal does not use a random draw, which would change the later draws of the same
          // seed.
          stopSignal: manifests.count % 3 == 2 ? Signal(2) : .terminate))
    }
    return manifests
  }

  /// Returns the policy after `index` changes during the run.
  func policy(_ index: UInt64) -> Policy {
    var chance = SeededGenerator(seed: seed, .policy, 2000 + index)
    var policy = Policy()
    if chance.happens(700) {
      policy.backgroundTime = .milliseconds(2000 + chance.below(60_000))
      policy.expirationLead = .milliseconds(100 + chance.below(1500))
    }
    if chance.happens(400) { policy.callbackTimeout = .milliseconds(500 + chance.below(9000)) }
    if chance.happens(400) { policy.terminateTimeout = .milliseconds(500 + chance.below(9000)) }
    if chance.happens(400) { policy.launchTime = .milliseconds(500 + chance.below(30_000)) }
    if chance.happens(400) {
      policy.suspendRetryInterval = .milliseconds(50 + chance.below(20_000))
    }
    if chance.happens(300) { policy.tracerCheckInterval = .milliseconds(50 + chance.below(5000)) }
    if chance.happens(300) { policy.tasksPerApplicationMax = 1 + chance.below(6) }
    if chance.happens(200) { policy.tasksPerUserMax = 1 + chance.below(10) }
    if chance.happens(200) { policy.applicationsPerUserMax = 1 + chance.below(4) }
    if chance.happens(300) { policy.queuedCallbacksMax = 4 + chance.below(8) }
    if chance.happens(300) { policy.endedApplicationsMax = chance.below(4) }
    setWakeUps(in: &policy, &chance)
    setMemory(in: &policy)
    setSessions(in: &policy)
    setSwitcher(in: &policy)
    setLocation(in: &policy)
    policy.multitaskingSupported = !chance.happens(80)
    setRules(in: &policy, &chance)
    return policy
  }

  /// Sets the memory settings, which stay the same for the whole run.
  private func setMemory(in policy: inout Policy) {
    var chance = SeededGenerator(seed: seed, .memory)
    policy.memoryWarningTime = .milliseconds(10 + chance.below(3000))
    policy.memoryQuietTime = policy.memoryPressureWindow + .milliseconds(1 + chance.below(9000))
    policy.memoryFloorPercent = chance.below(40)
    policy.memoryPageOut = chance.happens(500)
  }

  /// Whether the sessions of this run's users have session agents.
  var hasSessionAgents: Bool {
    var chance = SeededGenerator(seed: seed, .session)
    return chance.happens(500)
  }

  /// Sets the settings of the focus, which stay the same for the whole run.
  private func setSessions(in policy: inout Policy) {
    var chance = SeededGenerator(seed: seed, .session, 1)
    policy.focusSettleTime = .milliseconds(10 + chance.below(1500))
    policy.hiddenGraceTime = .milliseconds(10 + chance.below(20_000))
    policy.sessionGraceTime = .milliseconds(10 + chance.below(12_000))
    policy.audioGraceTime = .milliseconds(10 + chance.below(8000))
    policy.audioSilenceTime = .milliseconds(1000 + chance.below(20_000))
    policy.audioMuteTime = .milliseconds(1 + chance.below(300))
    policy.duckLevel = chance.pick([20, 20, 20, 1, 60, 100])
  }

  /// Returns whether an audio server itself lowers or pauses streams by their roles.
  ///
  /// Most servers never do so, and some always do so. For the others, this may change when the
  /// server restarts.
  func managesRoles(ofServer number: UInt64) -> Bool {
    var chance = SeededGenerator(seed: seed, .audioSessions, UInt64.max)
    switch chance.below(10) {
    case 0..<7: return false
    case 7: return true
    case _:
      var restart = SeededGenerator(seed: seed, .audioSessions, UInt64.max - number)
      return restart.happens(500)
    }
  }

  /// Sets the quota of pictures, which stays the same for the whole run.
  private func setSwitcher(in policy: inout Policy) {
    var chance = SeededGenerator(seed: seed, .session, 2)
    policy.snapshotsPerUserMax = 1 + chance.below(3)
  }

  private func setRules(in policy: inout Policy, _ chance: inout SeededGenerator) {
    if chance.happens(700) {
      policy.backgroundUseWindow = .milliseconds(100 + chance.below(10_000))
    }
    if chance.happens(300) { policy.backgroundProcessorShare = 30 + chance.below(200) }
    if chance.happens(300) { policy.throttledProcessorShare = 1 + chance.below(29) }
    if chance.happens(300) { policy.backgroundGPUTime = .milliseconds(1 + chance.below(1000)) }
  }

  private func setWakeUps(in policy: inout Policy, _ chance: inout SeededGenerator) {
    if chance.happens(800) {
      policy.keepAliveMinimum = .milliseconds(3000 + chance.below(60_000))
      policy.keepAliveHandlerTime = .milliseconds(500 + chance.below(2400))
    }
    if chance.happens(300) { policy.eventTime = .milliseconds(100 + chance.below(15_000)) }
    if chance.happens(300) {
      policy.relaunchDelay = .milliseconds(50 + chance.below(3000))
      policy.relaunchDelayMax = policy.relaunchDelay * (1 + chance.below(20))
    }
    if chance.happens(300) { policy.relaunchResetTime = .milliseconds(500 + chance.below(9000)) }
    if chance.happens(300) { policy.socketsPerApplicationMax = 1 + chance.below(3) }
    if chance.happens(300) { policy.notificationsPerApplicationMax = 1 + chance.below(4) }
    if chance.happens(300) { policy.notificationsPerUserMax = 2 + chance.below(8) }
    if chance.happens(200) { policy.customChangesMax = 1 + chance.below(3) }
  }
}
