import FoundationEssentials
import GRDB
import TaskSchedulerCore

/// The tables of the store, and what is written to and read from them.
enum NotificationSchema {
  /// What ever was changed in the tables, in order. One that has been released is never edited:
  /// files that were made with it are there.
  static let migrator: DatabaseMigrator = {
    var migrator = DatabaseMigrator().disablingDeferredForeignKeyChecks()
    migrator.registerMigration("1 notifications and badges") { database in
      // AUTOINCREMENT: SQLite remembers the highest id that ever was, in sqlite_sequence.
      try database.execute(
        sql: """
          CREATE TABLE notification (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            application TEXT NOT NULL,
            owner INTEGER NOT NULL,
            title TEXT NOT NULL,
            body TEXT NOT NULL,
            sound TEXT,
            badge INTEGER,
            userData TEXT,
            date TEXT,
            timeZone TEXT,
            repeats TEXT,
            firesAt INTEGER,
            firedAt INTEGER,
            presentedAt INTEGER,
            isDue INTEGER NOT NULL
          ) STRICT;
          CREATE INDEX notificationOfApplication ON notification (application, owner);
          CREATE TABLE badge (
            application TEXT NOT NULL,
            owner INTEGER NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (application, owner)
          ) STRICT, WITHOUT ROWID;
          """)
    }
    migrator.registerMigration("2 desktops, quotas and pages") { database in
      // The third and fourth are all that is read to count and prune: no text is.
      try database.execute(
        sql: """
          ALTER TABLE notification ADD COLUMN shownAs INTEGER;
          ALTER TABLE notification ADD COLUMN shownBy TEXT;
          CREATE INDEX notificationOfUser ON notification (owner);
          CREATE INDEX notificationUnshown ON notification (owner, firedAt)
            WHERE firesAt IS NULL AND isDue;
          CREATE INDEX notificationPast ON notification (owner, application, presentedAt)
            WHERE firesAt IS NULL AND NOT isDue;
          """)
    }
    return migrator
  }()

  // MARK: Writing

  /// - Returns: the application of which one more was presented and fires no more.
  static func apply(_ change: NotificationChange, _ database: Database) throws -> ApplicationKey? {
    switch change {
    case .schedule(let id, let key, let draft):
      try insert(id, key, draft, database)
    case .fired(let id, let at, let next):
      try run(
        """
        UPDATE notification SET firedAt = ?1, isDue = 1, firesAt = ?2
        WHERE id = ?3 AND firedAt IS NOT ?1
        """, [at.nanoseconds, next?.nanoseconds, id.row], database)
    case .presented(let id, let at):
      // What was shown anew is presented since it was shown first.
      try run(
        """
        UPDATE notification
        SET presentedAt = CASE WHEN isDue THEN ? ELSE presentedAt END, isDue = 0 WHERE id = ?
        """, [at.nanoseconds, id.row], database)
      return try notifications(database, "id = ? AND firesAt IS NULL", [id.row]).first?.application
    case .shown(let id, let name):
      try run(
        "UPDATE notification SET shownAs = ?, shownBy = ? WHERE id = ?",
        [name.map { Int64($0.number) }, name?.service, id.row], database)
    case .moved(let id, let time):
      try run(
        "UPDATE notification SET firesAt = ? WHERE id = ? AND firesAt IS NOT NULL",
        [time.nanoseconds, id.row], database)
    case .removed(let id):
      try run("DELETE FROM notification WHERE id = ?", [id.row], database)
    case .badge(let key, 0):
      try run("DELETE FROM badge WHERE application = ? AND owner = ?", key.row, database)
    case .badge(let key, let count):
      try run(
        "INSERT OR REPLACE INTO badge (application, owner, count) VALUES (?, ?, ?)",
        key.row + [count], database)
    }
    return nil
  }

  private static func insert(
    _ id: NotificationID, _ key: ApplicationKey, _ draft: NotificationDraft, _ database: Database
  ) throws {
    let isScheduled = draft.schedule != nil
    try insert(
      StoredNotification(
        id: id, application: key, content: draft.content, schedule: draft.schedule,
        firesAt: isScheduled ? draft.firesAt : nil, isDue: !isScheduled), database)
  }

  /// Texts are handed over as bytes: GRDB, like C, ends a string at a NUL.
  static func insert(_ stored: StoredNotification, _ database: Database) throws {
    let (content, schedule) = (stored.content, stored.schedule)
    try run(
      """
      INSERT OR IGNORE INTO notification (id, application, owner, title, body, sound, badge,
        userData, date, timeZone, repeats, firesAt, firedAt, presentedAt, isDue)
      VALUES (?, ?, ?, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), ?, CAST(? AS TEXT), ?, ?,
        ?, ?, ?, ?, ?)
      """,
      [stored.id.row] + stored.application.row + [
        Data(content.title.utf8), Data(content.body.utf8), content.sound.map { Data($0.utf8) },
        content.badge, content.userData.map { Data($0.utf8) }, schedule?.date, schedule?.timeZone,
        schedule?.repeats?.rawValue, stored.firesAt?.nanoseconds, stored.firedAt?.nanoseconds,
        stored.presentedAt?.nanoseconds, stored.isDue,
      ], database)
  }

  /// Keeps `count` of those that were presented and fire no more: the latest.
  ///
  /// - Returns: those that are kept no longer.
  static func prune(
    _ key: ApplicationKey, to count: Int, _ database: Database
  ) throws -> [NotificationID] {
    let statement = try database.cachedStatement(
      sql: """
        DELETE FROM notification WHERE id IN (
          SELECT id FROM notification
          WHERE application = ? AND owner = ? AND firesAt IS NULL AND NOT isDue
          ORDER BY presentedAt DESC, id DESC LIMIT -1 OFFSET ?)
        RETURNING id
        """)
    return try ids(statement, key.row + [count])
  }

  /// The same for all applications of a user.
  static func prune(
    _ user: UserID, to count: Int, _ database: Database
  ) throws -> [NotificationID] {
    let statement = try database.cachedStatement(
      sql: """
        DELETE FROM notification WHERE id IN (
          SELECT id FROM notification
          WHERE owner = ? AND firesAt IS NULL AND NOT isDue
          ORDER BY presentedAt DESC, id DESC LIMIT -1 OFFSET ?)
        RETURNING id
        """)
    return try ids(statement, [Int64(user.uid), count])
  }

  /// Ids go on after this one.
  static func setIDLast(_ id: UInt64, _ database: Database) throws {
    try run("DELETE FROM sqlite_sequence WHERE name = 'notification'", [], database)
    try run(
      "INSERT INTO sqlite_sequence (name, seq) VALUES ('notification', ?)", [Int64(id)], database)
  }

  private static func run(
    _ sql: String, _ arguments: [(any DatabaseValueConvertible)?], _ database: Database
  ) throws {
    try database.cachedStatement(sql: sql).execute(arguments: StatementArguments(arguments))
  }

  // MARK: Reading

  /// How many of a user's have fired, fire no more and were not presented.
  static func unshownCount(_ user: UserID, _ database: Database) throws -> Int {
    let statement = try database.cachedStatement(
      sql: """
        SELECT count(*) FROM notification
        WHERE owner = ? AND firesAt IS NULL AND isDue AND firedAt IS NOT NULL
        """)
    return try Int.fetchOne(statement, arguments: [Int64(user.uid)]) ?? 0
  }

  /// What was to be presented at once and has not fired has fired now.
  static func fireUnfired(at time: WallTime, _ database: Database) throws {
    try run(
      "UPDATE notification SET firedAt = ? WHERE firesAt IS NULL AND isDue AND firedAt IS NULL",
      [time.nanoseconds], database)
  }

  static func states(
    of key: ApplicationKey, _ id: NotificationID?, _ database: Database
  ) throws -> [(id: NotificationID, isScheduled: Bool)] {
    let statement = try database.cachedStatement(
      sql: """
        SELECT id, firesAt IS NOT NULL AND NOT isDue FROM notification
        WHERE application = ? AND owner = ? AND (?3 IS NULL OR id = ?3) ORDER BY id
        """)
    let rows = try Row.fetchAll(statement, arguments: StatementArguments(key.row + [id?.row]))
    return rows.compactMap { row in
      Int64.fromDatabaseValue(row[0]).map {
        (NotificationID(UInt64(clamping: $0)), Bool.fromDatabaseValue(row[1]) ?? false)
      }
    }
  }

  static func owners(of id: ApplicationID, _ database: Database) throws -> [UserID] {
    let statement = try database.cachedStatement(
      sql: "SELECT DISTINCT owner FROM notification WHERE application = ?")
    return try Int64.fetchAll(statement, arguments: [id.name])
      .compactMap { UInt32(exactly: $0).map { UserID($0) } }
  }

  static func ids(_ database: Database) throws -> [NotificationID] {
    try ids(database.cachedStatement(sql: "SELECT id FROM notification"), [])
  }

  private static func ids(
    _ statement: Statement, _ arguments: [(any DatabaseValueConvertible)?]
  ) throws -> [NotificationID] {
    try Int64.fetchAll(statement, arguments: StatementArguments(arguments))
      .map { NotificationID(UInt64(clamping: $0)) }
  }

  static func idLast(_ database: Database) throws -> UInt64 {
    let last = try Int64.fetchOne(
      database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'notification'")
    return UInt64(last ?? 0)
  }

  /// Those of a condition, by id. What is no notification is passed over: somebody edited the file.
  static func notifications(
    _ database: Database, _ condition: String, _ arguments: [(any DatabaseValueConvertible)?] = [],
    order: String = "id"
  ) throws -> [StoredNotification] {
    var found: [StoredNotification] = []
    try eachNotification(database, condition, arguments, order: order) {
      found.append($0)
      return true
    }
    return found
  }

  /// Those of a list, by id.
  static func eachNotification(
    _ database: Database, of scope: NotificationScope, after id: NotificationID?,
    _ body: (StoredNotification) -> Bool
  ) throws {
    let after = id?.row ?? 0
    switch scope {
    case .all: try eachNotification(database, "id > ?", [after], order: "id", body)
    case .user(let user):
      try eachNotification(
        database, "owner = ? AND id > ?", [Int64(user.uid), after], order: "id", body)
    case .application(let key):
      try eachNotification(
        database, "application = ? AND owner = ? AND id > ?", key.row + [after], order: "id", body)
    }
  }

  /// - Parameter body: is given those that come before an error; false ends it.
  static func eachNotification(
    _ database: Database, _ condition: String, _ arguments: [(any DatabaseValueConvertible)?] = [],
    order: String, _ body: (StoredNotification) -> Bool
  ) throws {
    let statement = try database.cachedStatement(
      sql: """
        SELECT id, application, owner, CAST(title AS BLOB), CAST(body AS BLOB),
          CAST(sound AS BLOB), badge, CAST(userData AS BLOB), date, timeZone, repeats, firesAt,
          firedAt, presentedAt, isDue, shownAs, shownBy
        FROM notification WHERE \(condition) ORDER BY \(order)
        """)
    let rows = try Row.fetchCursor(statement, arguments: StatementArguments(arguments))
    while let row = try rows.next() {
      if let stored = StoredNotification(row), !body(stored) { return }
    }
  }

  /// Fails where the tables are not those of the migrations.
  static func check(_ database: Database) throws {
    _ = try notifications(database, "application = '' AND owner = 0")
    _ = try badges(database)
    _ = try idLast(database)
  }

  static func badges(_ database: Database) throws -> [ApplicationKey: Int] {
    var badges: [ApplicationKey: Int] = [:]
    let rows = try Row.fetchCursor(database, sql: "SELECT application, owner, count FROM badge")
    while let row = try rows.next() {
      if let key = ApplicationKey(row, at: 0) { badges[key] = Int.fromDatabaseValue(row[2]) }
    }
    return badges
  }
}

// Row's own subscripts trap where a value is of another type: in a damaged file it may be.

extension StoredNotification {
  /// nil for what no daemon has written.
  fileprivate init?(_ row: Row) {
    let number = { (index: Int) in Int64.fromDatabaseValue(row[index]) }
    let text = { (index: Int) in
      Data.fromDatabaseValue(row[index]).map { String(decoding: $0, as: UTF8.self) }
    }
    let time = { (index: Int) in number(index).map(WallTime.init(nanoseconds:)) }
    guard let application = ApplicationKey(row, at: 1), let id = number(0), id > 0,
      let title = text(3), let body = text(4), let isDue = number(14)
    else { return nil }
    self.application = application
    self.id = NotificationID(UInt64(id))
    content = NotificationContent(
      title: title, body: body, sound: text(5), badge: number(6).map(Int.init),
      userData: text(7))
    let (date, timeZone, repeats) = (text(8), text(9), text(10))
    if let date, let timeZone {
      schedule = NotificationSchedule(
        date: date, timeZone: timeZone, repeats: repeats.flatMap(RepeatInterval.init))
    }
    guard schedule?.repeats?.rawValue == repeats else { return nil }
    (firesAt, firedAt, presentedAt, self.isDue) = (time(11), time(12), time(13), isDue != 0)
    if let name = number(15).flatMap(UInt32.init(exactly:)), let service = text(16) {
      shownAs = DesktopName(number: name, service: service)
    }
  }
}

extension ApplicationKey {
  fileprivate init?(_ row: Row, at index: Int) {
    guard let name = String.fromDatabaseValue(row[index]), let id = ApplicationID(name),
      let uid = Int64.fromDatabaseValue(row[index + 1]), let owner = UInt32(exactly: uid)
    else { return nil }
    self.init(id, owner: UserID(owner))
  }

  fileprivate var row: [(any DatabaseValueConvertible)?] { [id.name, Int64(owner.uid)] }
}

extension NotificationID {
  fileprivate var row: Int64 { Int64(clamping: number) }
}
