import LinuxSystem

/// The file of a store. A committed change survives `kill -9`, a reboot and a loss of power.
///
/// The database has a write-ahead log (WAL), which SQLite syncs with each transaction
/// (`synchronous=FULL`). Each transaction thus needs one fdatasync; with a rollback journal, it
/// would need three to five. From time to time, SQLite checkpoints the WAL into the database. The
/// daemon also checkpoints the WAL when it stops. SQLite syncs the directory when it creates the
/// WAL.
///
/// The process locks the file while the store is open, so that two daemons cannot both act on its
/// contents. The kernel releases the lock when the process exits.
final class StoreFile<Schema: StoreSchema> {
  let path: String
  let database: Database
  /// The new path of a damaged file, and the number of rows recovered from it; nil if the file was
  /// not damaged.
  let setAside: (path: String, salvagedCount: Int)?
  /// Disk space that makes removals possible on a full file system.
  private let reserve: DiskSpaceReserve

  /// Opens the file. Creates the file and its directories if necessary.
  ///
  /// Renames a damaged file to `PATH.damaged`, and replaces an earlier file with that name.
  init(path: String) throws(StoreError) {
    self.path = path
    reserve = DiskSpaceReserve(path: path + "-reserve", bytesMax: Schema.reserveBytesMax)
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

  /// Makes SQLite checkpoint the WAL when the WAL reaches a limit: a quarter of the reserve's size,
  /// at least 16 KiB and at most 1 MiB. The WAL exceeds this limit by at most one transaction.
  private func boundLog() throws(StoreError) {
    let pages = min(256, max(4, reserve.bytes / 4 / 4096))
    try attempt { () throws(DatabaseError) in
      try database.execute("PRAGMA wal_autocheckpoint = \(pages)")
    }
  }

  // MARK: Opening

  private static func makeFile(_ path: String) throws(StoreError) {
    // If one of these files is a named pipe, SQLite would block when it opens the file.
    for file in ["", "-wal", "-journal"].map({ path + $0 }) {
      if let facts = FileStatus(path: file), !facts.isRegularFile {
        throw .noFile(path, facts.kindName, at: file, contents: Schema.contents)
      }
    }
    do {
      let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      try Directory.makeAll(path: folder.joined(separator: "/"))
      // SQLite itself would create a world-readable file. SQLite gives its other files the same
      // mode as this file.
      try Directory.makeFile(path: path)
    } catch {
      throw StoreError(error, path, contents: Schema.contents)
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
      throw StoreError(error, path, contents: Schema.contents)
    }
    if let refusal { throw refusal }
    return database
  }

  /// Checks a file, and creates the tables in an empty file.
  ///
  /// - Returns: The reason why the file is not a valid store; nil if it is valid.
  private static func check(
    _ database: Database, _ path: String
  ) throws(DatabaseError) -> StoreError? {
    let version = try Schema.version(of: database)
    if let version, version > Schema.version { return .newer(path, contents: Schema.contents) }
    let problem = try database.text("PRAGMA quick_check(1)")
    guard problem == "ok" else { return .damaged(path, problem ?? "no answer") }
    guard let version else { return .damaged(path, "its header is invalid") }
    if version == 0 { try Schema.make(in: database) }
    try Schema.check(database)
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
      throw StoreError(error, path, contents: Schema.contents)
    }
  }

  /// Copies the readable rows of a damaged file. Returns their number.
  private static func salvage(
    from aside: String, into database: Database, path: String
  ) throws(StoreError) -> Int {
    do throws(DatabaseError) {
      return try database.transaction { () throws(DatabaseError) in
        try Schema.salvage(from: aside, into: database)
      }
    } catch {
      throw StoreError(error, path, contents: Schema.contents)
    }
  }

  // MARK: Writing

  /// Makes all changes of a closure, or none. The changes are durable when this function returns.
  ///
  /// - Parameter isRemoval: Whether all changes remove contents or withdraw permissions. Such
  ///   changes succeed even on a full file system, as long as there is a reserve.
  func write<Value>(
    isRemoval: Bool, _ body: (Database) throws(DatabaseError) -> Value
  ) throws(StoreError) -> Value {
    do throws(StoreError) {
      return try write(body)
    } catch {
      guard error.kind == .full, isRemoval, reserve.release() else { throw error }
      defer { restoreReserve() }
      return try write(body)
    }
  }

  private func write<Value>(
    _ body: (Database) throws(DatabaseError) -> Value
  ) throws(StoreError) -> Value {
    try attempt { () throws(DatabaseError) in
      try database.transaction { () throws(DatabaseError) in try body(database) }
    }
  }

  /// Checkpoints and truncates the WAL, and allocates the reserve again. This is possible because
  /// truncating the WAL frees more space than the checkpoint adds to the database. The allocation
  /// fails if another program has taken the space.
  private func restoreReserve() {
    try? checkpoint()
    reserve.allocate()
  }

  /// Checkpoints the whole WAL into the database. If a frame of the WAL is damaged, SQLite ignores
  /// this frame and all later frames without an error.
  func checkpoint() throws(StoreError) {
    try attempt { () throws(DatabaseError) in try database.checkpoint() }
  }

  // MARK: Reading

  /// Reads from the database.
  func read<Value>(
    _ body: (Database) throws(DatabaseError) -> Value
  ) throws(StoreError) -> Value {
    try attempt { () throws(DatabaseError) in try body(database) }
  }

  /// Runs a closure, and converts its error to an error with a message for users.
  private func attempt<Value>(
    _ body: () throws(DatabaseError) -> Value
  ) throws(StoreError) -> Value {
    do throws(DatabaseError) {
      return try body()
    } catch {
      throw StoreError(error, path, contents: Schema.contents)
    }
  }
}
