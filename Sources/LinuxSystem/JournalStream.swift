import Glibc

/// The journal's stream, to which systemd connects the output of a service.
///
/// systemd names the stream in the variable JOURNAL_STREAM (systemd.exec(5)). Every program that a
/// service starts inherits the variable, even if the output of that program leads elsewhere.
public enum JournalStream {
  /// Whether standard error is connected to the journal.
  public static var isStandardError: Bool {
    isJournal(STDERR_FILENO, named: getenv("JOURNAL_STREAM").map { String(cString: $0) })
  }

  /// Returns whether a descriptor is the stream that a value of JOURNAL_STREAM names.
  ///
  /// - Parameter value: The device and the inode number of the stream, as in `8:3456`; nil if the
  ///   variable is not set.
  public static func isJournal(_ number: Int32, named value: String?) -> Bool {
    var status = stat()
    guard let value, fstat(number, &status) == 0 else { return false }
    return value == "\(status.st_dev):\(status.st_ino)"
  }
}
