import TaskSchedulerCore

/// The notifications on disk.
final class NotificationStore: WritableStore {
  private let file: StoreFile<NotificationSchema>
  var path: String { file.path }
  var database: Database { file.database }
  /// The new path of a damaged file, and the number of notifications recovered from it; nil if the
  /// file was not damaged.
  var setAside: (path: String, salvagedCount: Int)? { file.setAside }

  static let contents = NotificationSchema.contents
  /// The maximum number of past notifications of an application. A past notification has been
  /// presented and does not fire again. The store keeps the latest ones.
  static let pastMax = 128
  /// The maximum number of past notifications of all applications of a user.
  static let pastOfUserMax = 1024

  /// Opens the file. Creates the file and its directories if necessary.
  ///
  /// Renames a damaged file to `PATH.damaged`, and replaces an earlier file with that name.
  init(path: String) throws(StoreError) { file = try StoreFile(path: path) }

  // MARK: Writing

  /// Writes all changes or none. The changes are durable when this function returns.
  ///
  /// - Returns: The presented notifications that the store removed because of its limits.
  @discardableResult
  func apply(_ changes: [NotificationChange]) throws(StoreError) -> [NotificationID] {
    guard !changes.isEmpty else { return [] }
    return try file.write(isRemoval: changes.allSatisfy(\.isRemoval)) {
      database throws(DatabaseError) in
      var grown: Set<ApplicationKey> = []
      for change in changes {
        if let key = try NotificationSchema.apply(change, database) { grown.insert(key) }
      }
      var forgotten: [NotificationID] = []
      for key in grown {
        forgotten += try NotificationSchema.prune(key, to: Self.pastMax, database)
      }
      for user in Set(grown.map(\.owner)) {
        forgotten += try NotificationSchema.prune(user, to: Self.pastOfUserMax, database)
      }
      return forgotten
    }
  }

  /// Checkpoints the whole write-ahead log into the database.
  func checkpoint() throws(StoreError) { try file.checkpoint() }

  // MARK: Reading

  /// Returns the whole contents of the store.
  func contents() throws(StoreError) -> StoredNotifications {
    try file.read { database throws(DatabaseError) in
      StoredNotifications(
        try NotificationSchema.notifications(database, "TRUE"),
        badges: try NotificationSchema.badges(database))
    }
  }

  /// Returns the highest id that was ever assigned.
  func idLast() throws(StoreError) -> NotificationID {
    NotificationID(try file.read { database throws(DatabaseError) in
      try NotificationSchema.idLast(database)
    })
  }
}
