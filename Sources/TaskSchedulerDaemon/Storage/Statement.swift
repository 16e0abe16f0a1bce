import CSQLite

/// The value of a column.
enum SQLValue: Hashable {
  /// An integer; nil is NULL.
  case integer(Int64?)
  /// A number with a fraction; nil is NULL. SQLite would store NaN as NULL.
  case real(Double?)
  /// A text; nil is NULL. Unlike a C string, it may contain NUL.
  case text(String?)
}

/// A statement that SQLite has compiled.
final class Statement {
  fileprivate let handle: OpaquePointer
  private let connection: OpaquePointer
  private let sql: String

  /// - Parameter sql: The text of one statement.
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

  /// Binds all parameters of the statement, in order.
  func bind(_ values: [SQLValue]) throws(DatabaseError) {
    precondition(sqlite3_stmt_busy(handle) == 0, "'\(sql)' is run while its rows are read")
    precondition(
      sqlite3_bind_parameter_count(handle) == values.count,
      "'\(sql)' is given \(values.count) values")
    for (index, value) in zip(Int32(1)..., values) {
      let code =
        switch value {
        case .integer(let number?): sqlite3_bind_int64(handle, index, number)
        case .real(let number?): sqlite3_bind_double(handle, index, number)
        case .text(let text?): Self.bind(text, handle, index)
        case .integer(nil), .real(nil), .text(nil): sqlite3_bind_null(handle, index)
        }
      guard code == SQLITE_OK else { throw error(code) }
    }
  }

  private static func bind(_ text: String, _ handle: OpaquePointer, _ index: Int32) -> Int32 {
    var text = text
    return text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        // The pointer of an empty text may be null, for which SQLite would bind NULL.
        guard let start = $0.baseAddress else { return csqlite_bind_text(handle, index, "", 0) }
        return csqlite_bind_text(handle, index, start, UInt64($0.count))
      }
    }
  }

  /// Advances to the next row.
  ///
  /// - Returns: false if there is no further row.
  func step() throws(DatabaseError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw error(code)
    }
  }

  /// Ends the current run of the statement, and releases the bound values.
  func reset() {
    // The result code repeats that of the last step, which the caller already knows.
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  private func error(_ code: Int32) -> DatabaseError {
    DatabaseError(code: code, of: connection, tried: sql)
  }
}

/// A row of a statement's result, valid until the statement advances.
///
/// Columns count from 0. A column whose type differs from the requested one reads as NULL, because
/// a damaged file may contain such a column.
struct Row: ~Copyable {
  private let statement: Statement

  init(_ statement: Statement) { self.statement = statement }

  func integer(_ column: Int32) -> Int64? {
    guard sqlite3_column_type(statement.handle, column) == SQLITE_INTEGER else { return nil }
    return sqlite3_column_int64(statement.handle, column)
  }

  func real(_ column: Int32) -> Double? {
    guard sqlite3_column_type(statement.handle, column) == SQLITE_FLOAT else { return nil }
    return sqlite3_column_double(statement.handle, column)
  }

  /// Returns a text. Replaces bytes that are not UTF-8.
  func text(_ column: Int32) -> String? {
    guard sqlite3_column_type(statement.handle, column) == SQLITE_TEXT,
      let start = sqlite3_column_text(statement.handle, column)
    else { return nil }
    let count = Int(sqlite3_column_bytes(statement.handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }
}
