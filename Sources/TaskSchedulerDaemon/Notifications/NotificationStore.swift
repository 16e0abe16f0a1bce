import Glibc
import LinuxSystem
import TaskSchedulerCore

/// The notifications on disk. A committed change survives `kill -9`, a reboot and a loss of power.
///
/// The database has a write-ahead log (WAL), which SQLite syncs with each transaction
/// (`synchronous=FULL`). That takes one fdatasync; a rollback journal takes three to five. From
/// time to time, SQLite checkpoints the WAL into the database. The daemon does the same when it
/// stops. SQLite syncs the directory when it creates the WAL.
///
/// The process locks the file while the store is open, so that two daemons cannot both fire a
/// notification. The kernel releases the lock when the process exits.
final class NotificationStore {
  let path: String
  let database: Database
  /// The new path of a damaged file, and the number of notifications recovered from it; nil if the
  /// file was not damaged.
  let setAside: (path: String, salvagedCount: Int)?
  /// Disk space that makes removals possible on a full file system.
  private let reserve: DiskSpaceReserve

  /// The maximum number of past notifications of an application. A past notification has been
  /// presented and does not fire again. The store keeps the latest ones.
  static let pastMax = 128
  /// The maximum number of past notifications of all applications of a user.
  static let pastOfUserMax = 1024

  /// Opens the file. Creates the file and its directories if necessary.
  ///
  /// Renames a damaged file to `PATH.damaged`, and replaces an earlier file with that name.
  init(path: String) throws(StoreError) {
    self.path = path
    reserve = DiskSpaceReserve(path: path + "-reserve")
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
    reserve.allocate()
    try boundLog()
  }

  /// Limits the part of the WAL that is not checkpointed to a quarter of the reserve plus one
  /// transaction.
  private func boundLog() throws(StoreError) {
    let pages = min(256, max(4, reserve.bytes / 4 / 4096))
    try attempt { () throws(DatabaseError) in
      try database.execute("PRAGMA wal_autocheckpoint = \(pages)")
    }
  }

  // MARK: Opening

  private static func makeFile(_ path: String) throws(StoreError) {
    // SQLite would block when it opens a named pipe, for example as the -journal file.
    for file in ["", "-wal", "-journal"].map({ path + $0 }) {
      if let facts = FileStatus(path: file), !facts.isRegularFile {
        throw .noFile(path, facts.kindName, at: file)
      }
    }
    do {
      let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      try Directory.makeAll(path: folder.joined(separator: "/"))
      // SQLite itself would create a world-readable file. It copies the mode of this file to the
      // other files.
      try Directory.makeFile(path: path)
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
      // The daemon's statements are valid, so another program has changed the tables.
      if error.kind == .unfit { throw .damaged(path, error.message) }
      throw StoreError(error, path)
    }
    if let refusal { throw refusal }
    return database
  }

  /// Checks a file, and creates the tables in an empty file.
  ///
  /// - Returns: The reason why the file is not a valid store; nil if it is.
  private static func check(
    _ database: Database, _ path: String
  ) throws(DatabaseError) -> StoreError? {
    let version = try NotificationSchema.version(of: database)
    if let version, version > NotificationSchema.version { return .newer(path) }
    let problem = try database.text("PRAGMA quick_check(1)")
    guard problem == "ok" else { return .damaged(path, problem ?? "no answer") }
    guard let version else { return .damaged(path, "its header is invalid") }
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

  /// Renames the damaged file together with its WAL, which contains the latest changes.
  private static func setAside(_ path: String) throws(StoreError) -> String {
    let aside = "\(path).damaged"
    do {
      for suffix in ["-wal", "-shm", "-journal"] { try Directory.remove(path: aside + suffix) }
      try Directory.rename(path, to: aside)
      if FileStatus(path: path + "-wal") != nil {
        try Directory.rename(path + "-wal", to: aside + "-wal")
      }
      return aside
    } catch {
      throw StoreError(error, path)
    }
  }

  /// Copies the readable notifications of a damaged file. Returns their number.
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

  /// Writes all changes or none. The changes are durable when this function returns.
  ///
  /// - Returns: The presented notifications that the store removed because of its limits.
  @discardableResult
  func apply(_ changes: [NotificationChange]) throws(StoreError) -> [NotificationID] {
    guard !changes.isEmpty else { return [] }
    do throws(StoreError) {
      return try write(changes)
    } catch {
      guard error.kind == .full, changes.allSatisfy(\.isRemoval), reserve.release() else {
        throw error
      }
      defer { restoreReserve() }
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

  /// Checkpoints and truncates the WAL, and allocates the reserve again. Truncating the WAL frees
  /// more space than its pages take in the database. The allocation fails if another program has
  /// taken the space.
  private func restoreReserve() {
    try? checkpoint()
    reserve.allocate()
  }

  /// Checkpoints the whole WAL into the database. SQLite ignores a damaged WAL from the damaged
  /// frame on, without an error.
  func checkpoint() throws(StoreError) {
    try attempt { () throws(DatabaseError) in try database.checkpoint() }
  }

  // MARK: Reading

  /// Returns the whole contents of the store.
  func contents() throws(StoreError) -> StoredNotifications {
    try attempt { () throws(DatabaseError) in
      StoredNotifications(
        try NotificationSchema.notifications(database, "TRUE"),
        badges: try NotificationSchema.badges(database))
    }
  }

  /// Returns the highest id that was ever assigned.
  func idLast() throws(StoreError) -> NotificationID {
    NotificationID(try attempt { () throws(DatabaseError) in
      try NotificationSchema.idLast(database)
    })
  }

  /// Runs a closure, and converts its error to one with a message for users.
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
        message: "notifications cannot be written to \(path): no space is left on the file system")
    case .unwritable:
      self.init(
        kind: .unwritable,
        message: "notifications cannot be written to \(path): the daemon needs write access to the "
          + "file and its directory: \(error)")
    case .inUse:
      self.init(
        kind: .inUse,
        message: "another process uses \(path): a second taskschedd, or a program that reads "
          + "the file")
    case .damaged: self = .damaged(path, "\(error)")
    case .unfit, .failed:
      self.init(kind: .failed, message: "notifications cannot be kept in \(path): \(error)")
    }
  }

  fileprivate static func damaged(_ path: String, _ detail: String) -> StoreError {
    StoreError(
      kind: .damaged, message: "\(path) is damaged: \(detail). The next start renames it")
  }

  /// - Parameter what: What exists at the path, such as "a directory".
  fileprivate static func noFile(_ path: String, _ what: String, at place: String) -> StoreError {
    StoreError(
      kind: .unwritable,
      message:
        "notifications cannot be kept in \(path): \(place) is \(what), and must be a regular "
        + "file or absent; remove it")
  }

  fileprivate static func newer(_ path: String) -> StoreError {
    StoreError(
      kind: .newer,
      message: "\(path) was written by a newer taskschedd, which this one does not understand: "
        + "install that version again, or move the file away to begin without its notifications")
  }
}
