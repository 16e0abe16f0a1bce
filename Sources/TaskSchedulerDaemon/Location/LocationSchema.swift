import TaskSchedulerCore

/// The tables of the location store, and the statements that write and read them.
enum LocationSchema: StoreSchema {
  static let contents = "location data"
  static let version: Int64 = 1
  static let signature: Int64 = 0x5453_4c00
  static let reserveBytesMax = 1 << 20

  /// The definitions of the tables. An application has a row in the table `application` only if
  /// consent was decided, the user was asked for consent, or the application monitors significant
  /// changes.
  static let tables = """
    CREATE TABLE application (
      id TEXT NOT NULL,
      owner INTEGER NOT NULL,
      authorization TEXT NOT NULL DEFAULT 'notDetermined',
      wasAsked INTEGER NOT NULL DEFAULT 0,
      monitorsChanges INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (id, owner)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE region (
      application TEXT NOT NULL,
      owner INTEGER NOT NULL,
      id TEXT NOT NULL,
      latitude REAL NOT NULL,
      longitude REAL NOT NULL,
      radius REAL NOT NULL,
      notifiesOnEntry INTEGER NOT NULL,
      notifiesOnExit INTEGER NOT NULL,
      isInside INTEGER,
      PRIMARY KEY (application, owner, id)
    ) STRICT, WITHOUT ROWID;
    """

  // MARK: Writing

  static func apply(
    _ change: LocationChange, of key: ApplicationKey, _ database: Database
  ) throws(DatabaseError) {
    switch change {
    case .monitor(let region): try insert(.init(region, isInside: nil), of: key, database)
    case .stopMonitoring(let id):
      try database.run(
        "DELETE FROM region WHERE application = ? AND owner = ? AND id = ?",
        key.values + [.text(id.name)])
    case .report(let crossing):
      try database.run(
        "UPDATE region SET isInside = ? WHERE application = ? AND owner = ? AND id = ?",
        [.flag(crossing.isInside)] + key.values + [.text(crossing.region.name)])
    case .monitorSignificantChanges(let isOn):
      try database.run(
        """
        INSERT INTO application (id, owner, monitorsChanges) VALUES (?, ?, ?)
        ON CONFLICT (id, owner) DO UPDATE SET monitorsChanges = excluded.monitorsChanges
        """, key.values + [.flag(isOn)])
      try prune(key, database)
    case .authorize(let authorization, let wasAsked):
      try database.run(
        """
        INSERT INTO application (id, owner, authorization, wasAsked) VALUES (?, ?, ?, ?)
        ON CONFLICT (id, owner)
        DO UPDATE SET authorization = excluded.authorization, wasAsked = excluded.wasAsked
        """, key.values + [.text(authorization.rawValue), .flag(wasAsked)])
      try prune(key, database)
    }
  }

  /// Adds a region, or replaces the region with the same id.
  private static func insert(
    _ stored: StoredLocationServices.MonitoredRegion, of key: ApplicationKey,
    _ database: Database
  ) throws(DatabaseError) {
    let region = stored.region
    try database.run(
      """
      INSERT OR REPLACE INTO region (application, owner, id, latitude, longitude, radius,
        notifiesOnEntry, notifiesOnExit, isInside)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      key.values + [
        .text(region.id.name), .real(region.center.latitude), .real(region.center.longitude),
        .real(region.radius), .flag(region.notifiesOnEntry), .flag(region.notifiesOnExit),
        .flag(stored.isInside),
      ])
  }

  /// Removes the row of an application if the row contains only default values.
  private static func prune(_ key: ApplicationKey, _ database: Database) throws(DatabaseError) {
    try database.run(
      """
      DELETE FROM application WHERE id = ? AND owner = ?
        AND authorization = 'notDetermined' AND NOT wasAsked AND NOT monitorsChanges
      """, key.values)
  }

  // MARK: Reading

  /// Returns the contents of all tables, by application. Skips invalid rows, which only another
  /// program can have written.
  static func contents(
    of database: Database
  ) throws(DatabaseError) -> [StoredLocationServices] {
    var contents = Contents()
    try eachApplication(database, order: "id, owner") { contents.add($0) }
    try eachRegion(database, order: "application, owner, id") { contents.add($0, of: $1) }
    return contents.services
  }

  static func check(_ database: Database) throws(DatabaseError) {
    _ = try database.integer(
      """
      SELECT count(*) FROM application
      WHERE id = '' AND owner = 0 AND authorization = '' AND wasAsked AND monitorsChanges
      """)
    _ = try database.integer(
      """
      SELECT count(*) FROM region
      WHERE application = '' AND owner = 0 AND id = '' AND latitude = 0 AND longitude = 0
        AND radius = 0 AND notifiesOnEntry AND notifiesOnExit AND isInside
      """)
  }

  /// Reads the applications. If a row cannot be read, throws after passing all earlier rows to
  /// `body`.
  private static func eachApplication(
    _ database: Database, order: String, _ body: (StoredLocationServices) -> Void
  ) throws(DatabaseError) {
    try database.eachRow(
      """
      SELECT id, owner, authorization, wasAsked, monitorsChanges FROM application
      ORDER BY \(order)
      """
    ) { row in
      if let stored = StoredLocationServices(row) { body(stored) }
      return true
    }
  }

  private static func eachRegion(
    _ database: Database, order: String,
    _ body: (StoredLocationServices.MonitoredRegion, ApplicationKey) -> Void
  ) throws(DatabaseError) {
    try database.eachRow(
      """
      SELECT application, owner, id, latitude, longitude, radius, notifiesOnEntry, notifiesOnExit,
        isInside
      FROM region ORDER BY \(order)
      """
    ) { row in
      if let key = ApplicationKey(row, at: 0),
        let stored = StoredLocationServices.MonitoredRegion(row)
      {
        body(stored, key)
      }
      return true
    }
  }

  // MARK: Recovery

  /// - Returns: The number of recovered rows in both tables.
  static func salvage(from path: String, into database: Database) throws(DatabaseError) -> Int {
    guard let damaged = try? Database(path: path) else { return 0 }
    var contents = Contents()
    // Reading stops with an error at the damage, so the loop reads once from each end.
    for direction in ["ASC", "DESC"] {
      try? eachApplication(damaged, order: "id \(direction), owner \(direction)") {
        contents.add($0)
      }
      try? eachRegion(
        damaged, order: "application \(direction), owner \(direction), id \(direction)"
      ) { contents.add($0, of: $1) }
    }
    for stored in contents.services { try insert(stored, database) }
    return contents.rowCount
  }

  private static func insert(
    _ stored: StoredLocationServices, _ database: Database
  ) throws(DatabaseError) {
    let key = stored.application
    try apply(
      .authorize(stored.authorization, wasAsked: stored.wasAsked), of: key, database)
    try apply(.monitorSignificantChanges(stored.monitorsSignificantChanges), of: key, database)
    for region in stored.regions { try insert(region, of: key, database) }
  }

  /// The contents of the tables, without duplicates.
  private struct Contents {
    private var applications: [ApplicationKey: StoredLocationServices] = [:]
    private var regions: [ApplicationKey: [RegionID: StoredLocationServices.MonitoredRegion]] = [:]

    mutating func add(_ stored: StoredLocationServices) {
      applications[stored.application] = stored
    }

    mutating func add(
      _ stored: StoredLocationServices.MonitoredRegion, of key: ApplicationKey
    ) {
      regions[key, default: [:]][stored.region.id] = stored
    }

    /// The contents by application, with the regions in the order of their ids.
    var services: [StoredLocationServices] {
      Set(applications.keys).union(regions.keys).sorted().map { key in
        var services = applications[key] ?? StoredLocationServices(application: key)
        services.regions = (regions[key] ?? [:]).sortedByKey.map(\.value)
        return services
      }
    }

    var rowCount: Int { applications.count + regions.values.reduce(0) { $0 + $1.count } }
  }
}

// MARK: Values of the tables

extension StoredLocationServices {
  /// Returns nil for a row that no daemon can have written.
  fileprivate init?(_ row: borrowing Row) {
    guard let key = ApplicationKey(row, at: 0),
      let authorization = row.text(2).flatMap(LocationAuthorization.init),
      let wasAsked = row.integer(3), let monitors = row.integer(4)
    else { return nil }
    self.init(
      application: key, authorization: authorization, wasAsked: wasAsked != 0,
      monitorsSignificantChanges: monitors != 0)
  }
}

extension StoredLocationServices.MonitoredRegion {
  /// Returns nil for a row that no daemon can have written.
  fileprivate init?(_ row: borrowing Row) {
    guard let id = row.text(2).flatMap(RegionID.init), let latitude = row.real(3),
      let longitude = row.real(4), let radius = row.real(5), let onEntry = row.integer(6),
      let onExit = row.integer(7),
      let center = Coordinate(latitude: latitude, longitude: longitude),
      let region = Region(
        id, center: center, radius: radius, notifiesOnEntry: onEntry != 0,
        notifiesOnExit: onExit != 0)
    else { return nil }
    self.init(region, isInside: row.integer(8).map { $0 != 0 })
  }
}

extension SQLValue {
  fileprivate static func flag(_ flag: Bool?) -> Self { .integer(flag.map { $0 ? 1 : 0 }) }
}
