import TaskSchedulerCore

/// The tables of the store, and the statements that write and read them.
enum NotificationSchema: StoreSchema {
  static let contents = "notifications"
  static let version: Int64 = 1
  static let signature: Int64 = 0x5453_4e00
  static let reserveBytesMax = 4 << 20

  /// The definitions of the tables and the index. With AUTOINCREMENT, SQLite keeps the highest
  /// assigned id in sqlite_sequence. Pruning reads only the index, not the rows with their texts.
  static let tables = """
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
      isDue INTEGER NOT NULL,
      shownAs INTEGER,
      shownBy TEXT
    ) STRICT;
    CREATE TABLE badge (
      application TEXT NOT NULL,
      owner INTEGER NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY (application, owner)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX notificationPast ON notification (owner, application, presentedAt)
      WHERE firesAt IS NULL AND NOT isDue;
    """

  // MARK: Writing

  /// Writes a change to the tables.
  ///
  /// - Returns: The application of the notification if the change is `presented` and the
  ///   notification does not fire again; otherwise nil.
  static func apply(
    _ change: NotificationChange, _ database: Database
  ) throws(DatabaseError) -> ApplicationKey? {
    switch change {
    case .schedule(let id, let key, let draft):
      try insert(StoredNotification(id, of: key, draft), database)
    case .fired(let id, let at, let next):
      try database.run(
        """
        UPDATE notification SET firedAt = ?1, isDue = 1, firesAt = ?2
        WHERE id = ?3 AND firedAt IS NOT ?1
        """, [.time(at), .time(next), .id(id)])
    case .presented(let id, let at):
      // If a desktop shows the notification again without a new firing, `presentedAt` does not
      // change.
      try database.run(
        """
        UPDATE notification
        SET presentedAt = CASE WHEN isDue THEN ? ELSE presentedAt END, isDue = 0 WHERE id = ?
        """, [.time(at), .id(id)])
      return try notifications(database, "id = ? AND firesAt IS NULL", [.id(id)]).first?.application
    case .shown(let id, let name):
      try database.run(
        "UPDATE notification SET shownAs = ?, shownBy = ? WHERE id = ?",
        [.integer(name.map { Int64($0.number) }), .text(name?.service), .id(id)])
    case .moved(let id, let time):
      try database.run(
        "UPDATE notification SET firesAt = ? WHERE id = ? AND firesAt IS NOT NULL",
        [.time(time), .id(id)])
    case .removed(let id):
      try database.run("DELETE FROM notification WHERE id = ?", [.id(id)])
    case .badge(let key, 0):
      try database.run("DELETE FROM badge WHERE application = ? AND owner = ?", key.values)
    case .badge(let key, let count):
      try database.run(
        "INSERT OR REPLACE INTO badge (application, owner, count) VALUES (?, ?, ?)",
        key.values + [.count(count)])
    }
    return nil
  }

  static func insert(
    _ stored: StoredNotification, _ database: Database
  ) throws(DatabaseError) {
    let (content, schedule) = (stored.content, stored.schedule)
    try database.run(
      """
      INSERT OR IGNORE INTO notification (id, application, owner, title, body, sound, badge,
        userData, date, timeZone, repeats, firesAt, firedAt, presentedAt, isDue)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [.id(stored.id)] + stored.application.values + [
        .text(content.title), .text(content.body), .text(content.sound), .count(content.badge),
        .text(content.userData), .text(schedule?.date), .text(schedule?.timeZone),
        .text(schedule?.repeats?.rawValue), .time(stored.firesAt), .time(stored.firedAt),
        .time(stored.presentedAt), .integer(stored.isDue ? 1 : 0),
      ])
  }

  /// Removes the past notifications of an application except the latest `count`. A past
  /// notification has been presented and does not fire again.
  ///
  /// - Returns: The removed notifications.
  static func prune(
    _ key: ApplicationKey, to count: Int, _ database: Database
  ) throws(DatabaseError) -> [NotificationID] {
    try prune(where: "application = ? AND owner = ?", key.values, to: count, database)
  }

  /// Removes the past notifications of all applications of a user except the latest `count`.
  ///
  /// - Returns: The removed notifications.
  static func prune(
    _ user: UserID, to count: Int, _ database: Database
  ) throws(DatabaseError) -> [NotificationID] {
    try prune(where: "owner = ?", [.user(user)], to: count, database)
  }

  private static func prune(
    where condition: String, _ values: [SQLValue], to count: Int, _ database: Database
  ) throws(DatabaseError) -> [NotificationID] {
    try database.rows(
      """
      DELETE FROM notification WHERE id IN (
        SELECT id FROM notification
        WHERE \(condition) AND firesAt IS NULL AND NOT isDue
        ORDER BY presentedAt DESC, id DESC LIMIT -1 OFFSET ?)
      RETURNING id
      """, values + [.count(count)]
    ) { NotificationID($0, at: 0) }
  }

  /// Sets the last assigned id. All new ids are higher.
  static func setIDLast(_ id: UInt64, _ database: Database) throws(DatabaseError) {
    try database.run("DELETE FROM sqlite_sequence WHERE name = 'notification'")
    try database.run(
      "INSERT INTO sqlite_sequence (name, seq) VALUES ('notification', ?)",
      [.id(NotificationID(id))])
  }

  // MARK: Reading

  static func idLast(_ database: Database) throws(DatabaseError) -> UInt64 {
    let last = try database.integer("SELECT seq FROM sqlite_sequence WHERE name = 'notification'")
    return UInt64(clamping: last ?? 0)
  }

  static func notification(
    _ id: NotificationID, _ database: Database
  ) throws(DatabaseError) -> StoredNotification? {
    try notifications(database, "id = ?", [.id(id)]).first
  }

  /// Returns the notifications that match a condition, in the order of their ids. Skips invalid
  /// rows, which only another program can have written.
  static func notifications(
    _ database: Database, _ condition: String, _ values: [SQLValue] = []
  ) throws(DatabaseError) -> [StoredNotification] {
    var found: [StoredNotification] = []
    try eachNotification(database, condition, values, order: "id") {
      found.append($0)
      return true
    }
    return found
  }

  /// Reads the notifications that match a condition. If a row cannot be read, throws after passing
  /// all earlier rows to `body`.
  ///
  /// - Parameter body: Called for each notification. Returns false to stop.
  static func eachNotification(
    _ database: Database, _ condition: String, _ values: [SQLValue] = [], order: String,
    _ body: (StoredNotification) -> Bool
  ) throws(DatabaseError) {
    try database.eachRow(
      """
      SELECT id, application, owner, title, body, sound, badge, userData, date, timeZone, repeats,
        firesAt, firedAt, presentedAt, isDue, shownAs, shownBy
      FROM notification WHERE \(condition) ORDER BY \(order)
      """, values
    ) { row in StoredNotification(row).map(body) ?? true }
  }

  static func badges(_ database: Database) throws(DatabaseError) -> [ApplicationKey: Int] {
    let badges = try database.rows("SELECT application, owner, count FROM badge") { row in
      ApplicationKey(row, at: 0).flatMap { key in row.integer(2).map { (key, Int($0)) } }
    }
    return Dictionary(badges) { first, _ in first }
  }

  static func check(_ database: Database) throws(DatabaseError) {
    _ = try notifications(database, "application = '' AND owner = 0")
    _ = try badges(database)
    _ = try idLast(database)
  }

  static func salvage(from path: String, into database: Database) throws(DatabaseError) -> Int {
    let salvage = NotificationSalvage(path: path)
    try salvage.store(in: database)
    return salvage.rows.count
  }
}

// MARK: Values of the tables

extension StoredNotification {
  /// Returns nil for a row that no daemon can have written.
  fileprivate init?(_ row: borrowing Row) {
    guard let application = ApplicationKey(row, at: 1), let id = NotificationID(row, at: 0),
      let title = row.text(3), let body = row.text(4), let isDue = row.integer(14)
    else { return nil }
    self.application = application
    self.id = id
    content = NotificationContent(
      title: title, body: body, sound: row.text(5), badge: row.integer(6).map(Int.init),
      userData: row.text(7))
    let (date, timeZone, repeats) = (row.text(8), row.text(9), row.text(10))
    if let date, let timeZone {
      schedule = NotificationSchedule(
        date: date, timeZone: timeZone, repeats: repeats.flatMap(RepeatInterval.init))
    }
    guard schedule?.repeats?.rawValue == repeats else { return nil }
    firesAt = row.integer(11).map(WallTime.init(nanoseconds:))
    firedAt = row.integer(12).map(WallTime.init(nanoseconds:))
    presentedAt = row.integer(13).map(WallTime.init(nanoseconds:))
    self.isDue = isDue != 0
    if let name = row.integer(15).flatMap(UInt32.init(exactly:)), let service = row.text(16) {
      shownAs = DesktopName(number: name, service: service)
    }
  }
}

extension NotificationID {
  fileprivate init?(_ row: borrowing Row, at column: Int32) {
    guard let number = row.integer(column), number > 0 else { return nil }
    self.init(UInt64(number))
  }
}

extension SQLValue {
  fileprivate static func id(_ id: NotificationID) -> Self { .integer(Int64(clamping: id.number)) }
  fileprivate static func time(_ time: WallTime?) -> Self { .integer(time?.nanoseconds) }
  fileprivate static func count(_ count: Int?) -> Self { .integer(count.map(Int64.init)) }
}
