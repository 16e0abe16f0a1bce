import TaskSchedulerCore

/// An in-memory copy of the store. The daemon lists and shows notifications from this copy, without
/// waiting for the disk.
///
/// A requested change, such as a new notification, enters the copy when the change is durable. A
/// fact, such as the firing of a notification, enters the copy at once.
struct StoredNotifications: Equatable {
  private var byID: [NotificationID: StoredNotification] = [:]
  private var idsByUser: [UserID: Set<NotificationID>] = [:]
  /// The numbers on applications' icons, without zeros.
  private(set) var badges: [ApplicationKey: Int] = [:]

  init() {}

  init(_ rows: [StoredNotification], badges: [ApplicationKey: Int]) {
    self.badges = badges
    for row in rows { set(row) }
  }

  /// Applies changes in the same way as the store does.
  mutating func apply(_ changes: [NotificationChange]) {
    for change in changes { apply(change) }
  }

  private mutating func apply(_ change: NotificationChange) {
    switch change {
    case .schedule(let id, let key, let draft):
      if byID[id] == nil { set(StoredNotification(id, of: key, draft)) }
    case .fired(let id, let at, let next):
      guard byID[id]?.firedAt != at else { return }
      byID[id]?.firedAt = at
      byID[id]?.isDue = true
      byID[id]?.firesAt = next
    case .presented(let id, let at):
      // If a desktop shows the notification again without a new firing, `presentedAt` does not
      // change.
      if byID[id]?.isDue == true { byID[id]?.presentedAt = at }
      byID[id]?.isDue = false
    case .shown(let id, let name): byID[id]?.shownAs = name
    case .moved(let id, let time): if byID[id]?.firesAt != nil { byID[id]?.firesAt = time }
    case .removed(let id): remove(id)
    case .badge(let key, let badge): badges[key] = badge == 0 ? nil : badge
    }
  }

  mutating func remove(_ id: NotificationID) {
    guard let user = byID.removeValue(forKey: id)?.application.owner else { return }
    idsByUser[user]?.remove(id)
    if idsByUser[user]?.isEmpty == true { idsByUser[user] = nil }
  }

  private mutating func set(_ row: StoredNotification) {
    byID[row.id] = row
    idsByUser[row.application.owner, default: []].insert(row.id)
  }

  // MARK: Reading

  subscript(id: NotificationID) -> StoredNotification? { byID[id] }

  /// The ids of all notifications.
  var ids: Set<NotificationID> { Set(byID.keys) }

  /// Returns the notifications that match a condition, in the order of their ids.
  func rows(where condition: (StoredNotification) -> Bool) -> [StoredNotification] {
    byID.sortedByKey.map(\.value).filter(condition)
  }

  private func rows(of user: UserID) -> [StoredNotification] {
    (idsByUser[user] ?? []).compactMap { byID[$0] }
  }

  /// Returns the number of a user's notifications that have fired but have not been presented. Does
  /// not count notifications that will fire again.
  func unshownCount(of user: UserID) -> Int {
    rows(of: user).count { $0.firesAt == nil && $0.isDue && $0.firedAt != nil }
  }

  /// Returns the ids of an application's notifications.
  ///
  /// - Parameter id: If not nil, the function returns only this notification, and only if it
  ///   belongs to the application.
  func ids(of key: ApplicationKey, _ id: NotificationID?) -> [NotificationID] {
    if let id { return byID[id]?.application == key ? [id] : [] }
    return rows(of: key.owner).filter { $0.application == key }.map(\.id).sorted()
  }

  /// Returns the users that own notifications of applications with the given id.
  func owners(of id: ApplicationID) -> [UserID] {
    idsByUser.keys.filter { user in rows(of: user).contains { $0.application.id == id } }
      .sorted()
  }

  /// The notifications that have fired and have not been presented, in the order of their firing.
  var unpresented: [StoredNotification] {
    rows { $0.isDue && $0.firedAt != nil }.sorted {
      ($0.firedAt?.nanoseconds ?? .max, $0.id) < ($1.firedAt?.nanoseconds ?? .max, $1.id)
    }
  }

  /// The limits of a page: the number of notifications, and the bytes of their texts. A page has at
  /// least one notification, even if that notification exceeds the limit.
  static let pageCountMax = 256
  static let pageBytesMax = 256 << 10

  /// Returns a page of the notifications in a scope, in the order of their ids.
  ///
  /// - Parameter id: The id after which the page begins; nil for the first page.
  func page(of scope: NotificationScope, after id: NotificationID? = nil) -> NotificationPage {
    let after = id ?? NotificationID(0)
    let rows =
      switch scope {
      case .all: Array(byID.values)
      case .user(let user): self.rows(of: user)
      case .application(let key): self.rows(of: key.owner).filter { $0.application == key }
      }
    var page = NotificationPage()
    var bytes = 0
    let ids = rows.map(\.id).filter { $0 > after }.sorted()
    for row in ids.compactMap({ byID[$0] }) {
      let size = row.content.bytesCount
      let fits = page.notifications.count < Self.pageCountMax && bytes + size <= Self.pageBytesMax
      guard page.notifications.isEmpty || fits else {
        page.next = page.notifications.last?.id
        return page
      }
      bytes += size
      page.notifications.append(row)
    }
    return page
  }
}
