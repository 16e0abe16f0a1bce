import CSQLite
import Glibc
import LinuxSystem

/// A statement that SQLite did not carry out.
struct DatabaseError: Error, Hashable, CustomStringConvertible {
  /// SQLite's extended result code, such as SQLITE_IOERR_FSYNC.
  let code: Int32
  /// What SQLite says of it.
  let message: String
  /// What failed: a path, or the text of a statement.
  let tried: String
  /// Why the system refused SQLite's call; 0 where no call of the system failed.
  let errno: Int32

  /// What a caller can tell apart.
  enum Kind: Hashable {
    /// No room is left on the file system, or in the user's quota of it.
    case full
    /// The file or its directory may not be written, or is not there.
    case unwritable
    /// Another connection has locked the file.
    case inUse
    /// The file is none of a database, or is damaged.
    case damaged
    /// The statement does not fit the tables.
    case unfit
    /// Anything else, such as a disk that fails.
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

  /// `database or disk is full (SQLite's code 13), at: COMMIT`.
  var description: String {
    let cause = errno == 0 ? "" : ", for \(SystemError.describe(errno))"
    return "\(message) (SQLite's code \(code)\(cause)), at: \(tried)"
  }

  init(code: Int32, message: String, tried: String, errno: Int32 = 0) {
    (self.code, self.message, self.tried, self.errno) = (code, message, tried, errno)
  }

  /// The latest error of a connection.
  ///
  /// - Parameter connection: nil where SQLite had no memory for one.
  init(code: Int32, of connection: OpaquePointer?, tried: String) {
    let primaryCode = code & 0xff
    // After other errors SQLite says what an earlier call has left.
    let isOfSystem = primaryCode == SQLITE_IOERR || primaryCode == SQLITE_CANTOPEN
    self.init(
      code: code,
      message: String(cString: connection.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)),
      tried: tried, errno: isOfSystem ? connection.map { sqlite3_system_errno($0) } ?? 0 : 0)
  }
}
