import CSQLite

/// A connection to an SQLite database.
///
/// One thread uses it. Each statement is prepared when it is run first and kept until the
/// connection closes; so a statement's text must be one of a few, and what varies is bound.
final class Database {
  private let connection: OpaquePointer
  private var statements: [String: Statement] = [:]

  /// Opens a file that exists. SQLite reads it only for the first statement.
  init(path: String) throws(DatabaseError) {
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(path, &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      // Also one that could not be opened has memory.
      defer { sqlite3_close_v2(opened) }
      throw DatabaseError(code: code, of: opened, tried: path)
    }
    connection = opened
  }

  deinit {
    statements = [:]
    sqlite3_close_v2(connection)
  }

  // MARK: Statements

  /// Runs the statements of a text, which yield nothing that is needed, and keeps none.
  func execute(_ script: String) throws(DatabaseError) {
    let code = sqlite3_exec(connection, script, nil, nil, nil)
    if code != SQLITE_OK { throw DatabaseError(code: code, of: connection, tried: script) }
  }

  /// Runs a statement to its end.
  func run(_ sql: String, _ values: [SQLValue] = []) throws(DatabaseError) {
    try eachRow(sql, values) { _ in true }
  }

  /// Runs a statement until it has no more rows.
  ///
  /// - Parameter body: gets each row; where it returns false, the rest is left.
  func eachRow(
    _ sql: String, _ values: [SQLValue] = [], _ body: (borrowing Row) -> Bool
  ) throws(DatabaseError) {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(values)
    while try statement.step(), body(Row(statement)) {}
  }

  /// What a closure makes of each row; rows of which it makes nil are left out.
  func rows<Value>(
    _ sql: String, _ values: [SQLValue] = [], _ body: (borrowing Row) -> Value?
  ) throws(DatabaseError) -> [Value] {
    var all: [Value] = []
    try eachRow(sql, values) { row in
      if let value = body(row) { all.append(value) }
      return true
    }
    return all
  }

  /// The integer in the first column of the first row; nil where there is none.
  func integer(_ sql: String, _ values: [SQLValue] = []) throws(DatabaseError) -> Int64? {
    try rows(sql, values) { $0.integer(0) }.first
  }

  /// The text in the first column of the first row; nil where there is none.
  func text(_ sql: String, _ values: [SQLValue] = []) throws(DatabaseError) -> String? {
    try rows(sql, values) { $0.text(0) }.first
  }

  private func prepared(_ sql: String) throws(DatabaseError) -> Statement {
    if let statement = statements[sql] { return statement }
    let statement = try Statement(sql, connection)
    statements[sql] = statement
    return statement
  }

  // MARK: Transactions

  /// Makes all changes of a closure, or none where it throws or where they cannot be committed.
  func transaction<Value>(
    _ body: () throws(DatabaseError) -> Value
  ) throws(DatabaseError) -> Value {
    try run("BEGIN IMMEDIATE")
    do throws(DatabaseError) {
      let value = try body()
      try run("COMMIT")
      return value
    } catch {
      // After some errors, such as a full disk, SQLite has rolled back itself.
      if sqlite3_get_autocommit(connection) == 0 { try? run("ROLLBACK") }
      throw error
    }
  }

  /// Writes changes into a write-ahead log first, which is not read by other processes.
  ///
  /// SQLite keeps the mode in the file, where that can be written.
  func useWriteAheadLog() throws(DatabaseError) {
    // First, so that the log needs no memory shared with other processes.
    try execute("PRAGMA locking_mode = EXCLUSIVE")
    let change = "PRAGMA journal_mode = WAL"
    let mode = try text(change)
    guard mode == "wal" else {
      throw DatabaseError(
        code: SQLITE_READONLY, message: "the event log mode is \(mode ?? "not known")",
        tried: change)
    }
  }

  /// Puts the whole write-ahead log into the database, and cuts the log.
  func checkpoint() throws(DatabaseError) {
    let code = sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    if code != SQLITE_OK {
      throw DatabaseError(code: code, of: connection, tried: "checkpoint of the log")
    }
  }
}
