/// The location services (contract §17).
struct LocationServices: Equatable, Sendable {
  /// A change that the store has not answered.
  struct Pending: Equatable {
    var id: TransactionID
    var application: ApplicationKey
    var change: LocationChange
    /// The request that waits for the answer; nil if there is none.
    var request: RequestID?
  }

  var rules = LocationRules()
  /// The available sources, in no particular order.
  var sources: [LocationSource] = []
  /// The continuous updates of instances.
  var updates: [InstanceID: LocationUpdates] = [:]
  private(set) var applications: [ApplicationKey: ApplicationLocation] = [:]
  var users: [UserID: UserLocation] = [:]
  /// The instant at which the location posted for all users expires. Until then, this location
  /// replaces the locations of the sources.
  var postedUntil: Instant?
  /// What the sources were last told to do.
  var needs = LocationNeeds()
  private(set) var pending: [TransactionID: Pending] = [:]
  private(set) var transactionLast: UInt64 = 0

  /// Whether no application uses the location, the scheduler remembers nothing about applications
  /// and users, and the sources have nothing to do.
  var isIdle: Bool {
    updates.isEmpty && applications.isEmpty && users.isEmpty && needs == LocationNeeds()
  }

  /// Whether there is a radio source, which reports that the machine has moved.
  var hasRadio: Bool { sources.contains(where: \.isRadio) }

  init() {}

  init(
    rules: LocationRules, sources: [LocationSource], updates: [InstanceID: LocationUpdates],
    applications: [ApplicationKey: ApplicationLocation], users: [UserID: UserLocation],
    postedUntil: Instant?, needs: LocationNeeds, pending: [TransactionID: Pending],
    transactionLast: UInt64
  ) {
    self.rules = rules
    self.sources = sources
    self.updates = updates
    self.applications = applications
    self.users = users
    self.postedUntil = postedUntil
    self.needs = needs
    self.pending = pending
    self.transactionLast = transactionLast
  }

  /// Changes what is known about an application. Forgets the application if the change leaves
  /// nothing to remember.
  mutating func change(
    _ key: ApplicationKey, _ change: (inout ApplicationLocation) -> Void
  ) {
    change(&applications[key, default: ApplicationLocation()])
    if applications[key]?.isEmpty == true { applications[key] = nil }
  }

  /// Returns whether the location of a user can be determined.
  func canLocate(_ user: UserID, at now: Instant) -> Bool {
    sources.contains(.gpsd) || sources.contains(.geoClue(user)) || isPosted(for: user, at: now)
  }

  /// Returns whether, for a user, a posted location replaces the locations of the sources.
  func isPosted(for user: UserID, at now: Instant) -> Bool {
    [postedUntil, users[user]?.postedUntil].contains { $0.map { now < $0 } ?? false }
  }

  // MARK: The store

  mutating func begin(
    _ change: LocationChange, of key: ApplicationKey, request: RequestID?
  ) -> TransactionID {
    transactionLast += 1
    let id = TransactionID(transactionLast)
    pending[id] = Pending(id: id, application: key, change: change, request: request)
    return id
  }

  mutating func takePending(_ id: TransactionID) -> Pending? { pending.removeValue(forKey: id) }

  /// Returns the ids of the regions that an application monitors or is about to monitor.
  func regionIDs(of key: ApplicationKey) -> Set<RegionID> {
    var ids = Set(applications[key]?.regions.keys.map { $0 } ?? [])
    for one in pending.values where one.application == key {
      if case .monitor(let region) = one.change { ids.insert(region.id) }
    }
    return ids
  }

  /// Returns whether something is known about an application, or is about to be stored.
  func knows(_ key: ApplicationKey) -> Bool {
    applications[key] != nil || pending.values.contains { $0.application == key }
  }

  /// Returns the number of a user's applications about which something is known, or is about to be
  /// stored.
  func applicationCount(of user: UserID) -> Int { keys(of: user).count }

  /// Returns the number of regions that all applications of a user monitor or are about to monitor.
  func regionCount(of user: UserID) -> Int {
    keys(of: user).reduce(0) { $0 + regionIDs(of: $1).count }
  }

  private func keys(of user: UserID) -> Set<ApplicationKey> {
    Set(applications.keys).union(pending.values.map(\.application)).filter { $0.owner == user }
  }
}
