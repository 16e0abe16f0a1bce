import DequeModule

/// An application, running or not.
struct Application: Equatable, Sendable {
  let key: ApplicationKey
  var manifest: Manifest?
  var instance: InstanceID?
  /// The launch whose program does not run yet; nil if there is none.
  var launching: InstanceID?
  var lastEnd: End?
  /// The failure of the last launch; nil if the application has run since.
  var launchFailure: LaunchFailure?
  /// The number of the last activation, which orders the application switcher; 0 if the switcher
  /// does not contain the application.
  var activation: UInt64 = 0
  /// The state of automatic relaunches; nil if the scheduler has nothing to remember about them.
  var relaunch: Relaunch?

  /// Whether the application has no process, no launch and no manifest.
  var isIdle: Bool { instance == nil && launching == nil && manifest == nil }
}

/// All known applications: those with a manifest, those that run, and the most recently ended of
/// the rest.
struct Applications: Sendable {
  private var byKey = BoxedDictionary<ApplicationKey, Application>()
  private var manifests: [ApplicationID: Manifest] = [:]
  /// The number of running or launching applications of each user.
  private var runningByOwner: [UserID: Int] = [:]
  /// The number of outstanding background tasks of each user.
  private var tasksByOwner: [UserID: Int] = [:]
  /// For each user, the ended applications without a manifest, in the order in which they ended. A
  /// list may contain applications that run again.
  private var endedByOwner: [UserID: Deque<ApplicationKey>] = [:]
  private(set) var activationLast: UInt64 = 0

  subscript(key: ApplicationKey) -> Application? { byKey[key] }

  /// All applications, ordered by their keys.
  var all: [Application] { byKey.keys.sorted().compactMap { byKey[$0] } }
  /// All applications, in no particular order.
  var unordered: BoxedDictionary<ApplicationKey, Application>.Values { byKey.values }
  /// The allocations of all applications. Reading a property of `box.value` does not copy the
  /// application.
  var boxes: Dictionary<ApplicationKey, BoxedDictionary<ApplicationKey, Application>.Box>.Values {
    byKey.boxes.values
  }
  var running: [ApplicationKey] { all.filter { $0.instance != nil }.map(\.key) }

  /// The manifests, ordered by their ids.
  var allManifests: [Manifest] { manifests.sortedByKey.map(\.value) }

  /// The ended applications without a manifest, ordered by owner, and then by the time at which
  /// they ended. Some of them may run again.
  var ended: [ApplicationKey] { endedByOwner.sortedKeys.flatMap { endedByOwner[$0] ?? [] } }

  func owners(of id: ApplicationID) -> [UserID] {
    byKey.keys.filter { $0.id == id }.map(\.owner).sorted()
  }

  func names(of owner: UserID) -> [String] {
    byKey.keys.lazy.filter { $0.owner == owner }.map(\.id.name).sorted()
  }

  func manifest(for key: ApplicationKey) -> Manifest? {
    manifests[key.id].flatMap { $0.applies(to: key) ? $0 : nil }
  }

  func runningCount(of owner: UserID) -> Int { runningByOwner[owner] ?? 0 }
  /// A check that compares the stored counts of background tasks with the outstanding tasks.
  var taskCounts: CountCheck<UserID> { CountCheck(tasksByOwner) }
  func taskCount(of owner: UserID) -> Int { tasksByOwner[owner] ?? 0 }

  mutating func taskCountChanged(by change: Int, of owner: UserID) {
    guard change != 0 else { return }
    let count = taskCount(of: owner) + change
    tasksByOwner[owner] = count == 0 ? nil : count
  }

  mutating func change(_ key: ApplicationKey, _ change: (inout Application) -> Void) {
    guard let index = byKey.index(forKey: key) else { return }
    change(&byKey.values[index])
  }

  /// Records that an instance of the application runs.
  mutating func started(_ key: ApplicationKey, _ instance: InstanceID) {
    var application = byKey[key] ?? Application(key: key, manifest: manifest(for: key))
    precondition(application.instance == nil, "an application has more than one instance")
    if application.launching == nil { runningByOwner[key.owner, default: 0] += 1 }
    application.instance = instance
    application.launching = nil
    application.launchFailure = nil
    byKey[key] = application
  }

  mutating func ended(_ key: ApplicationKey, _ end: End, keeping endedMax: Int) {
    guard byKey[key]?.instance != nil else { preconditionFailure("the application does not run") }
    byKey[key]?.instance = nil
    byKey[key]?.lastEnd = end
    leaveQuota(of: key.owner)
    keepIfEnded(key, keeping: endedMax)
  }

  /// Keeps an idle application if it has ever run; otherwise removes it. If the owner then has too
  /// many ended applications, removes the one that ended first.
  private mutating func keepIfEnded(_ key: ApplicationKey, keeping endedMax: Int) {
    guard let application = byKey[key], application.isIdle else { return }
    if application.lastEnd == nil {
      byKey[key] = nil
      return
    }
    endedByOwner[key.owner, default: []].removeAll { $0 == key }
    endedByOwner[key.owner, default: []].append(key)
    while let count = endedByOwner[key.owner]?.count, count > endedMax {
      guard let oldest = endedByOwner[key.owner]?.popFirst() else { return }
      forgetIfIdle(oldest)
    }
  }

  mutating func launching(_ key: ApplicationKey, _ instance: InstanceID) {
    precondition(byKey[key]?.launching == nil, "the application is already being launched")
    byKey[key]?.launching = instance
    runningByOwner[key.owner, default: 0] += 1
  }

  mutating func launchFailed(
    _ key: ApplicationKey, _ failure: LaunchFailure, keeping endedMax: Int
  ) {
    guard byKey[key]?.launching != nil else { preconditionFailure("no launch is under way") }
    byKey[key]?.launching = nil
    byKey[key]?.launchFailure = failure
    leaveQuota(of: key.owner)
    keepIfEnded(key, keeping: endedMax)
  }

  private mutating func leaveQuota(of owner: UserID) {
    let count = runningCount(of: owner) - 1
    runningByOwner[owner] = count == 0 ? nil : count
  }

  mutating func becameActive(_ key: ApplicationKey) {
    activationLast += 1
    byKey[key]?.activation = activationLast
  }

  /// The applications in the application switcher, the most recently active first.
  var switcher: [ApplicationKey] {
    byKey.values.filter { $0.activation > 0 }
      .sorted { $0.activation > $1.activation }.map(\.key)
  }

  /// Replaces the manifests. An application whose manifest is removed stays known while it runs,
  /// and while it is among the most recently ended ones.
  mutating func replaceManifests(_ fresh: [Manifest], keeping endedMax: Int) {
    let earlier = manifests
    manifests = [:]
    for manifest in fresh { manifests[manifest.id] = manifest }
    // A recovered daemon reads the same manifests again, which changes nothing.
    if manifests == earlier { return }
    for key in byKey.keys.sorted() {
      let hadManifest = byKey[key]?.manifest != nil
      let applying = manifest(for: key)
      byKey[key]?.manifest = applying
      if hadManifest { keepIfEnded(key, keeping: endedMax) }
    }
    for manifest in fresh where byKey[manifest.launchKey] == nil {
      byKey[manifest.launchKey] = Application(key: manifest.launchKey, manifest: manifest)
    }
  }

  private mutating func forgetIfIdle(_ key: ApplicationKey) {
    if byKey[key]?.isIdle == true { byKey[key] = nil }
  }

  func check() throws(InvariantViolation) {
    try require(
      activationLast < InvariantViolation.countMax, "the last activation number is too high")
    var running = CountCheck(runningByOwner)
    for (key, box) in byKey.boxes {
      let isRunning = box.value.instance != nil || box.value.launching != nil
      running.subtract(key.owner, count: isRunning ? 1 : 0)
      try require(key == box.value.key, "an application is stored under another key")
      try require(
        box.value.activation <= activationLast, "an application has an invalid activation number")
    }
    try require(running.isExact, "the count of running applications is wrong")
  }

  private func countRunning() -> [UserID: Int] {
    byKey.boxes.values.reduce(into: [:]) {
      let isRunning = $1.value.instance != nil || $1.value.launching != nil
      if isRunning { $0[$1.value.key.owner, default: 0] += 1 }
    }
  }
}

extension Applications {
  /// Creates the applications of a stored state. The initializer computes the manifest of each
  /// application and the counts of running applications. The scheduler adds the counts of tasks.
  init(
    _ applications: [Application], manifests: [Manifest], ended: [ApplicationKey],
    activationLast: UInt64
  ) throws(InvariantViolation) {
    for manifest in manifests { self.manifests[manifest.id] = manifest }
    byKey.reserveCapacity(applications.count)
    for var application in applications {
      application.manifest = manifest(for: application.key)
      let isFirst = byKey.updateValue(application, forKey: application.key) == nil
      try require(isFirst, "an application is stored twice")
    }
    for key in ended { endedByOwner[key.owner, default: []].append(key) }
    self.activationLast = activationLast
    runningByOwner = countRunning()
  }
}
