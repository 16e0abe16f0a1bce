/// The tables of a store: how they are created, checked and recovered.
protocol StoreSchema {
  /// The plural noun that messages to users use for the store's contents, such as `notifications`.
  static var contents: String { get }
  /// The version of ``tables``, from 1 to 255. A file with a higher version than this comes from a
  /// newer daemon.
  static var version: Int64 { get }
  /// The signature of the store: 24 bits, followed by 8 zeros.
  ///
  /// The header field `application_id` contains the signature, with ``version`` in place of the
  /// zeros. `user_version` repeats the version. By comparing both fields, the daemon can tell a
  /// damaged version from the version of a newer daemon. `PRAGMA quick_check` does not check these
  /// fields.
  static var signature: Int64 { get }
  /// The statements that create the tables.
  static var tables: String { get }
  /// The maximum size of the store's ``DiskSpaceReserve``, in bytes: enough for the largest removal
  /// with its write-ahead log.
  static var reserveBytesMax: Int { get }

  /// Checks the tables. Throws if the file does not have the tables of this version.
  static func check(_ database: Database) throws(DatabaseError)

  /// Copies the readable contents of a damaged file into an empty store.
  ///
  /// - Returns: The number of recovered items, such as notifications, for a message to users.
  static func salvage(from path: String, into database: Database) throws(DatabaseError) -> Int
}

extension StoreSchema {
  /// The highest version that any daemon can write. A file with a higher version is damaged.
  private static var versionMax: Int64 { 0xff }

  /// Returns the version in the file's header: 0 for an empty file, nil if the header is damaged.
  static func version(of database: Database) throws(DatabaseError) -> Int64? {
    let version = try database.integer("PRAGMA user_version") ?? 0
    let id = try database.integer("PRAGMA application_id")
    if version == 0 { return id == 0 ? 0 : nil }
    return (1...versionMax).contains(version) && id == signature | version ? version : nil
  }

  /// Creates the tables in an empty file.
  static func make(in database: Database) throws(DatabaseError) {
    try database.transaction { () throws(DatabaseError) in
      try database.execute(
        """
        \(tables)
        PRAGMA application_id = \(signature | version);
        PRAGMA user_version = \(version);
        """)
    }
  }
}
