import FoundationEssentials
import GRDB
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// Notifications on disk: what has been written is there after kill -9, a reboot and a loss of
/// power.
///
/// A write-ahead log that is synced with each transaction (`synchronous=FULL`): one fdatasync for
/// all changes of a transaction, where a rollback journal takes three to five. The log is put into
/// the database now and then, and when the daemon stops. SQLite syncs the folder when it makes the
/// log.
///
/// The file is this process's alone while it is open, so that two daemons cannot both fire what is
/// in it; the kernel gives it up when the process ends, however it does.
final class NotificationStore {
  let path: String
  let queue: DatabaseQueue
  /// Where a damaged file was found: where it lies now, and how many notifications were read from
  /// it.
  let setAside: (path: String, salvagedCount: Int)?
  /// Space for removals on a full disk.
  private let reserve: StoreReserve

  /// How many notifications that were presented and fire no more are kept for an application: the
  /// latest. What was presented to nobody is kept until it is.
  static let pastMax = 128
  /// The same for all applications of a user.
  static let pastOfUserMax = 1024

  /// Opens the file, or makes it with the folders to it.
  ///
  /// A damaged one is set aside as `PATH.damaged`, in place of one that lies there.
  init(path: String) throws(StoreError) {
    self.path = path
    reserve = StoreReserve(path: path + "-reserve")
    try Self.makeFile(path)
    do throws(StoreError) {
      queue = try Self.open(path)
      setAside = nil
    } catch {
      guard error.kind == .damaged else { throw error }
      let aside = try Self.setAside(path)
      try Self.makeFile(path)
      queue = try Self.open(path)
      setAside = (aside, try Self.salvage(from: aside, into: queue, path: path))
    }
    reserve.take()
    try boundLog()
  }

  /// What of the log is not in the database yet fits into a quarter of the reserve, but for one
  /// transaction.
  private func boundLog() throws(StoreError) {
    let pages = min(256, max(4, reserve.bytes / 4 / 4096))
    do {
      try queue.inDatabase { try $0.execute(sql: "PRAGMA wal_autocheckpoint = \(pages)") }
    } catch {
      throw StoreError(error, path)
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

  private static func open(_ path: String) throws(StoreError) -> DatabaseQueue {
    var configuration = GRDB.Configuration()
    configuration.prepareDatabase(prepare)
    do {
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      try queue.inDatabase { database in
        if try NotificationSchema.migrator.hasBeenSuperseded(database) {
          throw StoreError.newer(path)
        }
        let problem = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
        guard problem == "ok" else { throw StoreError.damaged(path, problem ?? "no answer") }
      }
      try NotificationSchema.migrator.migrate(queue)
      // Whatever is read later can be read.
      try queue.read(NotificationSchema.check)
      return queue
    } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
      // Our own statements are right: the tables are not what they were.
      throw .damaged(path, error.message ?? "it has other tables")
    } catch {
      throw StoreError(error, path)
    }
  }

  @Sendable private static func prepare(_ database: Database) throws {
    // First, so that the log needs no memory shared with other processes.
    try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
    let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL")
    guard mode == "wal" else { throw DatabaseError(resultCode: .SQLITE_READONLY) }
    try database.execute(
      sql: """
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
    from aside: String, into queue: DatabaseQueue, path: String
  ) throws(StoreError) -> Int {
    let salvage = NotificationSalvage(path: aside)
    do {
      try queue.write { try salvage.store(in: $0) }
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
    do {
      return try queue.write { database in
        var grown: Set<ApplicationKey> = []
        for change in changes {
          if let key = try NotificationSchema.apply(change, database) { grown.insert(key) }
        }
        let forgotten = try grown.flatMap {
          try NotificationSchema.prune($0, to: Self.pastMax, database)
        }
        return try forgotten
          + Set(grown.map(\.owner)).flatMap {
            try NotificationSchema.prune($0, to: Self.pastOfUserMax, database)
          }
      }
    } catch {
      throw StoreError(error, path)
    }
  }

  /// The log gives back more space than its pages take in the database, so that the reserve fits
  /// again, unless another program has taken that space.
  private func reclaimReserve() {
    try? putLogIntoDatabase()
    reserve.take()
  }

  /// What an earlier boot was to present at once, and has not, counts as fired from now on.
  func fireUnfired(at time: WallTime) throws(StoreError) {
    do {
      try queue.write { try NotificationSchema.fireUnfired(at: time, $0) }
    } catch {
      throw StoreError(error, path)
    }
  }

  /// Leaves nothing in the log: of what is damaged there SQLite says nothing, it reads up to there.
  func putLogIntoDatabase() throws(StoreError) {
    do {
      _ = try queue.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    } catch {
      throw StoreError(error, path)
    }
  }

  // MARK: Reading

  /// What waits for its time, by id, and the highest id that ever was.
  func load() throws(StoreError) -> (scheduled: [ScheduledNotification], idLast: UInt64) {
    try read { database in
      let scheduled = try NotificationSchema.notifications(database, "firesAt IS NOT NULL")
      return (
        scheduled.compactMap { stored in
          stored.firesAt.map {
            ScheduledNotification(
              id: stored.id, application: stored.application, firesAt: $0,
              repeats: stored.schedule?.repeats != nil)
          }
        }, try NotificationSchema.idLast(database)
      )
    }
  }

  func notification(_ id: NotificationID) throws(StoreError) -> StoredNotification? {
    try read {
      try NotificationSchema.notifications($0, "id = ?", [Int64(id.number)]).first
    }
  }

  /// How many notifications a page has at most, and how many bytes of text; one is always there.
  static let pageCountMax = 256
  static let pageBytesMax = 256 << 10

  /// A page of a list, by id.
  ///
  /// - Parameter id: the page begins after it; nil begins with the first.
  func page(
    of scope: NotificationScope, after id: NotificationID? = nil
  ) throws(StoreError) -> NotificationPage {
    try read { database in
      var page = NotificationPage()
      var bytes = 0
      try NotificationSchema.eachNotification(database, of: scope, after: id) { stored in
        let size = stored.content.bytesCount
        let fits = page.notifications.count < Self.pageCountMax && bytes + size <= Self.pageBytesMax
        guard page.notifications.isEmpty || fits else {
          page.next = page.notifications.last?.id
          return false
        }
        bytes += size
        page.notifications.append(stored)
        return true
      }
      return page
    }
  }

  /// The ids of an application's notifications, or the one that is named if it is the
  /// application's, and whether each waits for its time.
  func states(
    of key: ApplicationKey, _ id: NotificationID?
  ) throws(StoreError) -> [(id: NotificationID, isScheduled: Bool)] {
    try read { try NotificationSchema.states(of: key, id, $0) }
  }

  /// The users whose applications of an id have notifications.
  func owners(of id: ApplicationID) throws(StoreError) -> [UserID] {
    try read { try NotificationSchema.owners(of: id, $0) }
  }

  /// The notifications that a desktop showed when that was written last.
  func shown() throws(StoreError) -> [StoredNotification] {
    try read { try NotificationSchema.notifications($0, "shownAs IS NOT NULL") }
  }

  /// The ids of all.
  func ids() throws(StoreError) -> Set<NotificationID> {
    Set(try read(NotificationSchema.ids))
  }

  /// How many of a user's have fired, fire no more and were not shown.
  func unshownCount(of user: UserID) throws(StoreError) -> Int {
    try read { try NotificationSchema.unshownCount(user, $0) }
  }

  /// What has fired and was shown to nobody, in the order in which it fired.
  func unpresented() throws(StoreError) -> [StoredNotification] {
    try read { try NotificationSchema.notifications($0, "isDue") }.sorted {
      ($0.firedAt?.nanoseconds ?? .max, $0.id) < ($1.firedAt?.nanoseconds ?? .max, $1.id)
    }
  }

  /// The numbers at the applications' icons that are not 0.
  func badges() throws(StoreError) -> [ApplicationKey: Int] {
    try read(NotificationSchema.badges)
  }

  private func read<Value>(_ body: (Database) throws -> Value) throws(StoreError) -> Value {
    do {
      return try queue.read(body)
    } catch {
      throw StoreError(error, path)
    }
  }
}

extension StoreError {
  /// - Parameter error: of GRDB, of the system, or one of ours.
  init(_ error: any Error, _ path: String) {
    switch error {
    case let error as StoreError: self = error
    case let error as DatabaseError: self.init(error, path)
    case let error as SystemError:
      let isFull = error.errno == ENOSPC || error.errno == EDQUOT
      self.init(
        kind: isFull ? .full : .unwritable,
        message: "notifications cannot be kept in \(path): \(error)")
    case _:
      self.init(kind: .failed, message: "notifications cannot be kept in \(path): \(error)")
    }
  }

  private init(_ error: DatabaseError, _ path: String) {
    let code = error.extendedResultCode.rawValue
    let detail = "\(error.message ?? "no more is known") (SQLite's code \(code))"
    switch error.resultCode {
    case .SQLITE_FULL:
      self.init(
        kind: .full,
        message: "notifications cannot be written to \(path): no room is left there")
    case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM:
      self.init(
        kind: .unwritable,
        message: "notifications cannot be written to \(path): the file and its folder must be the "
          + "daemon's to write: \(detail)")
    case .SQLITE_BUSY, .SQLITE_LOCKED:
      self.init(
        kind: .inUse,
        message: "another process uses \(path): a second taskschedd, or a program that looks into "
          + "the file")
    case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = .damaged(path, detail)
    case _:
      self.init(kind: .failed, message: "notifications cannot be kept in \(path): \(detail)")
    }
  }

  fileprivate static func damaged(_ path: String, _ detail: String) -> StoreError {
    StoreError(
      kind: .damaged, message: "\(path) is damaged: \(detail). The next start sets it aside")
  }

  /// - Parameter what: what stands there, such as "a folder".
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
