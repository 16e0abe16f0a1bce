import LinuxSystem
import TaskSchedulerCore

/// The readable part of a damaged store: the notifications before and after the damage, and the
/// applications' badges.
struct NotificationSalvage {
  private(set) var rows: [NotificationID: StoredNotification] = [:]
  private var badges: [ApplicationKey: Int] = [:]
  private var idLast: UInt64 = 0

  init(path: String) {
    guard let database = try? Database(path: path) else { return }
    for order in ["id", "id DESC"] {
      var found: [StoredNotification] = []
      // Reading stops with an error at the damage, so the loop reads once from each end.
      try? NotificationSchema.eachNotification(database, "TRUE", order: order) {
        found.append($0)
        return true
      }
      for stored in found { rows[stored.id] = stored }
    }
    badges = (try? NotificationSchema.badges(database)) ?? [:]
    idLast = (try? NotificationSchema.idLast(database)) ?? 0
  }

  /// Writes the recovered notifications and badges into a new store.
  func store(in database: Database) throws(DatabaseError) {
    for id in rows.sortedKeys {
      if let stored = rows[id] { try NotificationSchema.insert(stored, database) }
    }
    for (key, count) in badges {
      _ = try NotificationSchema.apply(.badge(key, count), database)
    }
    // New ids must be higher than all earlier ids, but the last earlier id may be unreadable. That
    // id is below the number of milliseconds since 1970, because the daemon assigns fewer than 1000
    // ids a second.
    let idsBefore = UInt64(WallClock.now() / 1_000)
    try NotificationSchema.setIDLast(max(idLast, idsBefore, rows.keys.max()?.number ?? 0), database)
  }
}
