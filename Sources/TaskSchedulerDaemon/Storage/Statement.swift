import CSQLite

/// What a column of a database has.
enum SQLValue: Hashable {
  /// nil is NULL.
  case integer(Int64?)
  /// nil is NULL. Unlike a C string, it may have a NUL in it.
  case text(String?)
}

/// A statement that SQLite has compiled.
final class Statement {
  fileprivate let handle: OpaquePointer
  private let connection: OpaquePointer
  private let sql: String

  /// - Parameter sql: one statement.
  init(_ sql: String, _ connection: OpaquePointer) throws(DatabaseError) {
    var prepared: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    let code = sqlite3_prepare_v3(connection, sql, -1, flags, &prepared, nil)
    guard code == SQLITE_OK else {
      throw DatabaseError(code: code, of: connection, tried: sql)
    }
    guard let prepared else { preconditionFailure("'\(sql)' has no statement") }
    (handle, self.connection, self.sql) = (prepared, connection, sql)
  }

  deinit { sqlite3_finalize(handle) }

  /// Binds all of the statement's parameters, in their order.
  func bind(_ values: [SQLValue]) throws(DatabaseError) {
    precondition(sqlite3_stmt_busy(handle) == 0, "'\(sql)' is run while its rows are read")
    precondition(
      sqlite3_bind_parameter_count(handle) == values.count,
      "'\(sql)' is given \(values.count) values")
    for (index, value) in zip(Int32(1)..., values) {
      let code =
        switch value {
        case .integer(let number?): sqlite3_bind_int64(handle, index, number)
        case .text(let text?): Self.bind(text, handle, index)
        case .integer(nil), .text(nil): sqlite3_bind_null(handle, index)
        }
      guard code == SQLITE_OK else { throw error(code) }
    }
  }

  private static func bind(_ text: String, _ handle: OpaquePointer, _ index: Int32) -> Int32 {
    var text = text
    return text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        // Without an address SQLite would bind NULL.
        guard let start = $0.baseAddress else { return csqlite_bind_text(handle, index, "", 0) }
        return csqlite_bind_text(handle, index, start, UInt64($0.count))
      }
    }
  }

  /// Goes on to the next row.
  ///
  /// - Returns: false where there is none, and the statement is done.
  func step() throws(DatabaseError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw error(code)
    }
  }

  /// Ends the run, whatever is left of it, and lets the values go that were bound.
  func reset() {
    // The code is the last step's, which has been told.
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  private func error(_ code: Int32) -> DatabaseError {
    DatabaseError(code: code, of: connection, tried: sql)
  }
}

/// A row of a statement's result, there until the statement goes on.
///
/// Columns count from 0. One that holds another type is as good as NULL: in a damaged file it may.
struct Row: ~Copyable {
  private let statement: Statement

  init(_ statement: Statement) { self.statement = statement }

  func integer(_ column: Int32) -> Int64? {
    guard sqlite3_column_type(statement.handle, column) == SQLITE_INTEGER else { return nil }
    return sqlite3_column_int64(statement.handle, column)
  }

  /// What is not UTF-8 in it is replaced.
  func text(_ column: Int32) -> String? {
    guard sqlite3_column_type(statement.handle, column) == SQLITE_TEXT,
      let start = sqlite3_column_text(statement.handle, column)
    else { return nil }
    let count = Int(sqlite3_column_bytes(statement.handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }
}
