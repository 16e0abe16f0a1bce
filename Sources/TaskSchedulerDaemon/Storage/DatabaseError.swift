import CSQLite
import Glibc
import LinuxSystem

/// The failure of a statement in SQLite.
struct DatabaseError: Error, Hashable, CustomStringConvertible {
  /// SQLite's extended result code, such as SQLITE_IOERR_FSYNC.
  let code: Int32
  /// SQLite's message.
  let message: String
  /// The path or the statement that failed.
  let tried: String
  /// The errno of the failed system call in SQLite; 0 if no system call failed.
  let errno: Int32

  /// The failures that callers distinguish.
  enum Kind: Hashable {
    /// The file system or the user's quota is full.
    case full
    /// The file or its directory is not writable, or does not exist.
    case unwritable
    /// Another connection has locked the file.
    case inUse
    /// The file is not a database, or is damaged.
    case damaged
    /// The statement does not match the tables.
    case unfit
    /// Any other failure, such as an I/O error of the disk.
    case failed
  }

  var kind: Kind {
    switch code & 0xff {
    case SQLITE_FULL: .full
    case SQLITE_IOERR: errno == ENOSPC || errno == EDQUOT ? .full : .failed
    case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM: .unwritable
    case SQLITE_BUSY, SQLITE_LOCKED: .inUse
    case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
    case SQLITE_ERROR: .unfit
    case _: .failed
    }
  }

  /// A description such as `database or disk is full (SQLite's code 13), at: COMMIT`.
  var description: String {
    let cause = errno == 0 ? "" : ", for \(SystemError.describe(errno))"
    return "\(message) (SQLite's code \(code)\(cause)), at: \(tried)"
  }

  init(code: Int32, message: String, tried: String, errno: Int32 = 0) {
    (self.code, self.message, self.tried, self.errno) = (code, message, tried, errno)
  }

  /// Creates an error from the latest failure of a connection.
  ///
  /// - Parameter connection: The connection; nil if SQLite had no memory for one.
  init(code: Int32, of connection: OpaquePointer?, tried: String) {
    let primaryCode = code & 0xff
    // Only these errors set an errno. After other errors, SQLite returns the errno of an earlier
    // call.
    let isOfSystem = primaryCode == SQLITE_IOERR || primaryCode == SQLITE_CANTOPEN
    self.init(
      code: code,
      message: String(cString: connection.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)),
      tried: tried, errno: isOfSystem ? connection.map { sqlite3_system_errno($0) } ?? 0 : 0)
  }
}
