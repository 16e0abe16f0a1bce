import CSQLite

/// A connection to an SQLite database.
///
/// Use a connection on one thread at a time. The connection prepares a statement for its first run,
/// and keeps the statement until the connection closes. Use few different statements, and bind the
/// values that vary.
final class Database {
  private let connection: OpaquePointer
  private var statements: [String: Statement] = [:]

  /// Opens a file that exists. SQLite reads the file when the first statement runs.
  init(path: String) throws(DatabaseError) {
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(path, &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      // Even a connection that could not be opened has memory to free.
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

  /// Runs the statements in a script, and discards their results. Unlike the other functions, it
  /// does not keep the compiled statements.
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
  /// - Parameter body: Receives each row. If it returns false, the remaining rows are skipped.
  func eachRow(
    _ sql: String, _ values: [SQLValue] = [], _ body: (borrowing Row) -> Bool
  ) throws(DatabaseError) {
    let statement = try prepared(sql)
    defer { statement.reset() }
    try statement.bind(values)
    while try statement.step(), body(Row(statement)) {}
  }

  /// Returns the values that a closure creates from the rows. Skips the rows for which the closure
  /// returns nil.
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

  /// Returns the first integer in the first column of the rows; nil if there is none.
  func integer(_ sql: String, _ values: [SQLValue] = []) throws(DatabaseError) -> Int64? {
    try rows(sql, values) { $0.integer(0) }.first
  }

  /// Returns the first text in the first column of the rows; nil if there is none.
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

  /// Makes all changes of a closure. Makes none if the closure throws or the commit fails.
  func transaction<Value>(
    _ body: () throws(DatabaseError) -> Value
  ) throws(DatabaseError) -> Value {
    try run("BEGIN IMMEDIATE")
    do throws(DatabaseError) {
      let value = try body()
      try run("COMMIT")
      return value
    } catch {
      // After some errors, such as a full disk, SQLite has already rolled back.
      if sqlite3_get_autocommit(connection) == 0 { try? run("ROLLBACK") }
      throw error
    }
  }

  /// Switches to a write-ahead log and to exclusive locking, so that no other process can use the
  /// database.
  ///
  /// Throws if SQLite cannot switch, for example because the file is read-only.
  func useWriteAheadLog() throws(DatabaseError) {
    // Exclusive locking must precede WAL mode. Otherwise SQLite creates an index in shared memory.
    try execute("PRAGMA locking_mode = EXCLUSIVE")
    let change = "PRAGMA journal_mode = WAL"
    let mode = try text(change)
    guard mode == "wal" else {
      throw DatabaseError(
        code: SQLITE_READONLY, message: "the journal mode is \(mode ?? "not known")",
        tried: change)
    }
  }

  /// Moves the whole write-ahead log into the database, and truncates the log.
  func checkpoint() throws(DatabaseError) {
    let code = sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    if code != SQLITE_OK {
      throw DatabaseError(code: code, of: connection, tried: "checkpoint of the log")
    }
  }
}
