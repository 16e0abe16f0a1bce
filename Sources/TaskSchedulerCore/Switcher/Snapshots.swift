// The application switcher (contract §19): the applications in the order in which they were last
// active, and the picture of each application. ``Applications`` keeps the order. The daemon keeps
// the pictures; the scheduler knows which application has one.

/// The snapshot that an application has set for the application switcher.
public enum Snapshot: Equatable, Sendable {
  /// The picture that the daemon keeps under this id.
  case picture(SnapshotID)
  /// The application has private content on its screen. The daemon keeps no picture, and the
  /// switcher shows the icon.
  case sensitive

  /// The picture; nil if the snapshot is sensitive.
  public var picture: SnapshotID? { if case .picture(let id) = self { id } else { nil } }
}

/// An event of the application switcher.
public enum SwitcherEvent: Equatable, Sendable {
  /// The application sets its snapshot; nil removes it. The daemon already keeps the picture.
  case setSnapshot(RequestID, InstanceID, Snapshot?)
  /// A user or an operator removes the application from the switcher. This also terminates the
  /// application.
  case remove(RequestID, ApplicationKey, byUser: Bool)
  /// The daemon no longer has these pictures, because no service manager kept them when a daemon
  /// died.
  case lost([SnapshotID])

  var request: RequestID? {
    switch self {
    case .setSnapshot(let request, _, _), .remove(let request, _, _): request
    case .lost: nil
    }
  }
}

/// The snapshots of all applications.
struct Snapshots: Equatable, Sendable {
  private(set) var byApplication: [ApplicationKey: Snapshot] = [:]
  /// The number of pictures of each user.
  private var pictureCounts: [UserID: Int] = [:]

  subscript(key: ApplicationKey) -> Snapshot? { byApplication[key] }

  /// The applications with a snapshot, ordered by their keys.
  var applications: [ApplicationKey] { byApplication.sortedKeys }

  /// The pictures of all applications, ordered by their ids.
  var pictures: [SnapshotID] { byApplication.values.compactMap(\.picture).sorted() }

  func pictureCount(of owner: UserID) -> Int { pictureCounts[owner] ?? 0 }

  /// Returns a user's applications that have a picture, ordered by their keys.
  func applicationsWithPicture(of owner: UserID) -> [ApplicationKey] {
    byApplication.filter { $0.key.owner == owner && $0.value.picture != nil }.sortedKeys
  }

  /// Sets the snapshot of an application.
  ///
  /// - Returns: The previous picture, if the switcher no longer shows it; otherwise nil.
  mutating func set(_ key: ApplicationKey, to snapshot: Snapshot?) -> SnapshotID? {
    let former = byApplication[key]?.picture
    byApplication[key] = snapshot
    let change = (snapshot?.picture == nil ? 0 : 1) - (former == nil ? 0 : 1)
    let count = pictureCount(of: key.owner) + change
    pictureCounts[key.owner] = count == 0 ? nil : count
    return former == snapshot?.picture ? nil : former
  }

  func check() throws(InvariantViolation) {
    try require(Set(pictures).count == pictures.count, "two applications have the same picture")
  }
}

extension Snapshots {
  /// Restores stored snapshots. The counts follow from them.
  init(_ byApplication: [ApplicationKey: Snapshot]) {
    self.init()
    for (key, snapshot) in byApplication { _ = set(key, to: snapshot) }
  }
}
