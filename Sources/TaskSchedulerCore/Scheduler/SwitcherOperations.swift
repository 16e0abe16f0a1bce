// The application switcher (contract §19): which applications it contains, and their snapshots.

extension Application {
  /// Whether the switcher can bring the application to the screen: it runs, is being launched, or
  /// its manifest says how to launch it.
  var canReturn: Bool {
    instance != nil || launching != nil || isLaunchable
  }

  /// Whether the application's manifest says how to launch it.
  var isLaunchable: Bool { manifest.map { $0.isLaunchable && $0.launchKey == key } ?? false }
}

extension Scheduler {
  mutating func handle(_ event: SwitcherEvent, in turn: inout Turn) {
    switch event {
    case .setSnapshot(let request, let id, let snapshot):
      setSnapshot(request, id, snapshot, in: &turn)
    case .remove(let request, let key, let byUser):
      removeFromSwitcher(request, key, byUser: byUser, in: &turn)
    case .lost(let pictures):
      let lost = Set(pictures)
      for key in snapshots.applications {
        guard let picture = snapshots[key]?.picture, lost.contains(picture) else { continue }
        _ = snapshots.set(key, to: nil)
        recordSnapshot(of: key, in: &turn)
      }
    }
  }

  private mutating func setSnapshot(
    _ request: RequestID, _ id: InstanceID, _ snapshot: Snapshot?, in turn: inout Turn
  ) {
    guard let instance = instances[id], instance.termination == nil else {
      // The daemon stored the picture before it sent this event, and must now delete the picture.
      if let picture = snapshot?.picture { turn.emit(.dropPicture(picture)) }
      guard let key = instances[id]?.application else {
        return turn.reply(request, .refused(.invalidState(.notRunning)))
      }
      return refuse(request, key, .terminating, in: &turn)
    }
    let key = instance.application
    let former = snapshots[key]
    if let picture = snapshots.set(key, to: snapshot) { turn.emit(.dropPicture(picture)) }
    turn.reply(request, .done)
    if former != nil || snapshot != nil { recordSnapshot(of: key, in: &turn) }
    keepQuota(of: key.owner, sparing: key, in: &turn)
  }

  /// If a user has more pictures than the quota allows, drops the pictures of the least recently
  /// active applications. Keeps the picture of `key`, which has just been set.
  private mutating func keepQuota(
    of owner: UserID, sparing key: ApplicationKey, in turn: inout Turn
  ) {
    let surplus = snapshots.pictureCount(of: owner) - policy.snapshotsPerUserMax
    guard surplus > 0 else { return }
    let others = snapshots.applicationsWithPicture(of: owner).filter { $0 != key }
      .map { (activation: applications[$0]?.activation ?? 0, key: $0) }
      .sorted { ($0.activation, $0.key) < ($1.activation, $1.key) }
    for other in others.prefix(surplus) { dropSnapshot(of: other.key, isRecorded: true, in: &turn) }
  }

  /// Terminates an application, and removes it from the switcher with its snapshot. The reply comes
  /// when the leader has exited, or at once if the application does not run. Refuses the request
  /// while the application is being launched.
  private mutating func removeFromSwitcher(
    _ request: RequestID, _ key: ApplicationKey, byUser: Bool, in turn: inout Turn
  ) {
    let isListed = (applications[key]?.activation ?? 0) > 0 || snapshots[key] != nil
    if isListed, applications[key]?.launching == nil {
      leaveSwitcher(key, in: &turn)
      let leader = applications[key]?.instance.flatMap { instances[$0]?.leader }
      turn.emit(.record(Record(application: key, leader: leader, change: .removedFromSwitcher)))
    }
    terminate(request, key, byUser: byUser, in: &turn)
  }

  /// Removes an application from the switcher if it does not run and the daemon cannot launch it.
  mutating func leaveSwitcherIfGone(_ key: ApplicationKey, in turn: inout Turn) {
    if applications[key]?.canReturn != true { leaveSwitcher(key, in: &turn) }
  }

  /// Removes ended applications from the switcher if the daemon cannot launch them any more.
  mutating func reconsiderSwitcher(in turn: inout Turn) {
    for key in applications.switcher { leaveSwitcherIfGone(key, in: &turn) }
    for key in snapshots.applications { leaveSwitcherIfGone(key, in: &turn) }
  }

  /// Drops all snapshots, because the scheduler stops.
  mutating func dropSnapshots(in turn: inout Turn) {
    for key in snapshots.applications { dropSnapshot(of: key, in: &turn) }
  }

  private mutating func leaveSwitcher(_ key: ApplicationKey, in turn: inout Turn) {
    applications.change(key) { $0.activation = 0 }
    dropSnapshot(of: key, in: &turn)
  }

  private mutating func dropSnapshot(
    of key: ApplicationKey, isRecorded: Bool = false, in turn: inout Turn
  ) {
    if snapshots[key] == nil { return }
    if let picture = snapshots.set(key, to: nil) { turn.emit(.dropPicture(picture)) }
    if isRecorded { recordSnapshot(of: key, in: &turn) }
  }

  private func recordSnapshot(of key: ApplicationKey, in turn: inout Turn) {
    let leader = applications[key]?.instance.flatMap { instances[$0]?.leader }
    let change = Record.Change.snapshotChanged(snapshots[key])
    turn.emit(.record(Record(application: key, leader: leader, change: change)))
  }

  /// The pictures that the daemon must keep, ordered by their ids.
  public var pictures: [SnapshotID] { snapshots.pictures }

  /// Returns the snapshot of an application; nil if it has none.
  public func snapshot(of key: ApplicationKey) -> Snapshot? { snapshots[key] }
}
