import Glibc
import LinuxSystem
import TaskSchedulerCore

/// The notifications on disk. A committed change outlives kill -9, a reboot and a loss of power.
///
/// The database has a write-ahead log, which is synced with each transaction (`synchronous=FULL`).
/// That takes one fdatasync, where a rollback journal takes three to five. SQLite moves the log
/// into the database now and then, and when the daemon stops. SQLite syncs the directory when it
/// creates the log.
///
/// The process locks the file while it is open, so that two daemons cannot both fire a
/// notification. The kernel releases the lock when the process ends.
final class NotificationStore {
  let path: String
  let database: Database
  /// Where a damaged file was found: where it lies now, and how many notifications were read from
  /// it.
  let setAside: (path: String, salvagedCount: Int)?
  /// Space for removals on a full disk.
  private let reserve: StoreReserve

  /// The maximum number of presented notifications without a further time that are kept for an
  /// application: the latest. A notification that was not presented is kept until it is.
  static let pastMax = 128
  /// The same for all applications of a user.
  static let pastOfUserMax = 1024

  /// Opens the file. Creates the file and its directories if necessary.
  ///
  /// Renames a damaged file to `PATH.damaged`, and replaces an earlier file with that name.
  init(path: String) throws(StoreError) {
    self.path = path
    reserve = StoreReserve(path: path + "-reserve")
    try Self.makeFile(path)
    do throws(StoreError) {
      database = try Self.open(path)
      setAside = nil
    } catch {
      guard error.kind == .damaged else { throw error }
      let aside = try Self.setAside(path)
      try Self.makeFile(path)
      database = try Self.open(path)
      setAside = (aside, try Self.salvage(from: aside, into: database, path: path))
    }
    reserve.take()
    try boundLog()
  }

  /// What of the log is not in the database yet fits into a quarter of the reserve, but for one
  /// transaction.
  private func boundLog() throws(StoreError) {
    let pages = min(256, max(4, reserve.bytes / 4 / 4096))
    try attempt { () throws(DatabaseError) in
      try database.execute("PRAGMA wal_autocheckpoint = \(pages)")
    }
  }

  // MARK: Opening

  private static func makeFile(_ path: String) throws(StoreError) {
    // SQLite would wait for ever for what a pipe in the place of its -journal brings.
    for file in ["", "-wal", "-journal"].map({ path + $0 }) {
      if let facts = FileFacts(path: file), !facts.isRegularFile {
        throw .noFile(path, facts.kindName, at: file)
      }
    }
    do {
      let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      try Folder.makeAll(path: folder.joined(separator: "/"))
      // SQLite would make it for everybody to read; its other files get the same permissions.
      try Folder.makeFile(path: path)
    } catch {
      throw StoreError(error, path)
    }
  }

  private static func open(_ path: String) throws(StoreError) -> Database {
    let database: Database
    let refusal: StoreError?
    do throws(DatabaseError) {
      database = try Database(path: path)
      try prepare(database)
      refusal = try check(database, path)
    } catch {
      // Our own statements are right: the tables are not what they were.
      if error.kind == .unfit { throw .damaged(path, error.message) }
      throw StoreError(error, path)
    }
    if let refusal { throw refusal }
    return database
  }

  /// Makes the tables where there are none.
  ///
  /// - Returns: why the file is no store; nil where whatever is read later can be read.
  private static func check(
    _ database: Database, _ path: String
  ) throws(DatabaseError) -> StoreError? {
    let version = try NotificationSchema.version(of: database)
    if let version, version > NotificationSchema.version { return .newer(path) }
    let problem = try database.text("PRAGMA quick_check(1)")
    guard problem == "ok" else { return .damaged(path, problem ?? "no answer") }
    guard let version else { return .damaged(path, "its header is none of a store") }
    if version == 0 { try NotificationSchema.make(in: database) }
    try NotificationSchema.check(database)
    return nil
  }

  private static func prepare(_ database: Database) throws(DatabaseError) {
    try database.useWriteAheadLog()
    try database.execute(
      """
      PRAGMA synchronous = FULL;
      PRAGMA journal_size_limit = 1048576;
      PRAGMA cache_size = -256;
      """)
  }

  /// With its log, without which it would be older than it is.
  private static func setAside(_ path: String) throws(StoreError) -> String {
    let aside = "\(path).damaged"
    do {
      for suffix in ["-wal", "-shm", "-journal"] { try Folder.remove(path: aside + suffix) }
      try Folder.rename(path, to: aside)
      if FileFacts(path: path + "-wal") != nil {
        try Folder.rename(path + "-wal", to: aside + "-wal")
      }
      return aside
    } catch {
      throw StoreError(error, path)
    }
  }

  /// Takes over what can still be read of a damaged file.
  private static func salvage(
    from aside: String, into database: Database, path: String
  ) throws(StoreError) -> Int {
    let salvage = NotificationSalvage(path: aside)
    do throws(DatabaseError) {
      try database.transaction { () throws(DatabaseError) in try salvage.store(in: database) }
    } catch {
      throw StoreError(error, path)
    }
    return salvage.rows.count
  }

  // MARK: Writing

  /// Writes changes, all of them or none. When this returns they are on the disk.
  ///
  /// - Returns: those that were presented long ago and are kept no longer.
  @discardableResult
  func apply(_ changes: [NotificationChange]) throws(StoreError) -> [NotificationID] {
    guard !changes.isEmpty else { return [] }
    do throws(StoreError) {
      return try write(changes)
    } catch {
      guard error.kind == .full, changes.allSatisfy(\.isRemoval), reserve.giveUp() else {
        throw error
      }
      defer { reclaimReserve() }
      return try write(changes)
    }
  }

  private func write(_ changes: [NotificationChange]) throws(StoreError) -> [NotificationID] {
    try attempt { () throws(DatabaseError) in
      try database.transaction { () throws(DatabaseError) in
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
  }

  /// The log gives back more space than its pages take in the database, so that the reserve fits
  /// again, unless another program has taken that space.
  private func reclaimReserve() {
    try? putLogIntoDatabase()
    reserve.take()
  }

  /// Leaves nothing in the log: of what is damaged there SQLite says nothing, it reads up to there.
  func putLogIntoDatabase() throws(StoreError) {
    try attempt { () throws(DatabaseError) in try database.checkpoint() }
  }

  // MARK: Reading

  /// All that it has.
  func contents() throws(StoreError) -> StoredNotifications {
    try attempt { () throws(DatabaseError) in
      StoredNotifications(
        try NotificationSchema.notifications(database, "TRUE"),
        badges: try NotificationSchema.badges(database))
    }
  }

  /// The highest id that ever was.
  func idLast() throws(StoreError) -> NotificationID {
    NotificationID(try attempt { () throws(DatabaseError) in
      try NotificationSchema.idLast(database)
    })
  }

  /// What a closure gives, with the failure as a person wants to read it.
  private func attempt<Value>(
    _ body: () throws(DatabaseError) -> Value
  ) throws(StoreError) -> Value {
    do throws(DatabaseError) {
      return try body()
    } catch {
      throw StoreError(error, path)
    }
  }
}

extension StoreError {
  fileprivate init(_ error: SystemError, _ path: String) {
    let isFull = error.errno == ENOSPC || error.errno == EDQUOT
    self.init(
      kind: isFull ? .full : .unwritable,
      message: "notifications cannot be kept in \(path): \(error)")
  }

  fileprivate init(_ error: DatabaseError, _ path: String) {
    switch error.kind {
    case .full:
      self.init(
        kind: .full,
        message: "notifications cannot be written to \(path): no room is left there")
    case .unwritable:
      self.init(
        kind: .unwritable,
        message: "notifications cannot be written to \(path): the file and its directory must be "
          + "the daemon's to write: \(error)")
    case .inUse:
      self.init(
        kind: .inUse,
        message: "another process uses \(path): a second taskschedd, or a program that looks into "
          + "the file")
    case .damaged: self = .damaged(path, "\(error)")
    case .unfit, .failed:
      self.init(kind: .failed, message: "notifications cannot be kept in \(path): \(error)")
    }
  }

  fileprivate static func damaged(_ path: String, _ detail: String) -> StoreError {
    StoreError(
      kind: .damaged, message: "\(path) is damaged: \(detail). The next start sets it aside")
  }

  /// - Parameter what: What exists at the path, such as "a directory".
  fileprivate static func noFile(_ path: String, _ what: String, at place: String) -> StoreError {
    StoreError(
      kind: .unwritable,
      message: "notifications cannot be kept in \(path): \(place) is \(what), where a regular file "
        + "must be, or nothing: remove it")
  }

  fileprivate static func newer(_ path: String) -> StoreError {
    StoreError(
      kind: .newer,
      message: "\(path) was written by a newer taskschedd, which this one does not understand: "
        + "install that version again, or move the file away to begin without its notifications")
  }
}
