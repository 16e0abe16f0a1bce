import CSystemd
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// The daemon's log: structured records for journald, or plain lines on standard error.
public final class Log {
  /// The destination of records.
  public enum Target: String, CaseIterable, Sendable {
    /// The journal if standard error is connected to the journal, else standard error.
    case auto
    case journal
    case stderr
  }

  /// The least severe level that the log writes.
  public var level: LogLevel
  /// Whether records go to journald with their fields, rather than to standard error.
  let goesToJournal: Bool
  var budget = RecordBudget()
  /// The newest records, for users who may not read the journal.
  var recent = RecentRecords()

  public init(target: Target, level: LogLevel) {
    self.level = level
    switch target {
    case .journal: goesToJournal = true
    case .stderr: goesToJournal = false
    case .auto: goesToJournal = JournalStream.isStandardError
    }
  }

  /// Returns whether the log writes records of this level.
  func isWritten(_ level: LogLevel) -> Bool {
    level.severity <= self.level.severity
  }

  /// Writes a record that has only the common fields.
  func write(_ level: LogLevel, _ message: String, id: MessageID? = nil) {
    write(level, message, rawID: id?.rawValue, fields: [])
  }

  /// Writes a record.
  ///
  /// - Parameter fields: Fields in addition to the common ones, with names that journald accepts.
  func write(
    _ level: LogLevel, _ message: String, rawID: String?, fields: [(name: String, value: String)]
  ) {
    guard isWritten(level) else { return }
    // The text may come from clients and files. This function escapes it for all callers.
    let message = PrintableText.of(message)
    let fields = fields.map { ($0.name, PrintableText.of($0.value)) }
    if goesToJournal {
      writeToJournal(level, message, rawID, fields)
    } else {
      writeLine(level, message)
    }
  }

  private func writeToJournal(
    _ level: LogLevel, _ message: String, _ id: String?,
    _ fields: [(name: String, value: String)]
  ) {
    var entries = [
      "MESSAGE=\(message)", "PRIORITY=\(level.severity)", "SYSLOG_IDENTIFIER=taskschedd",
    ]
    if let id { entries.append("MESSAGE_ID=\(id)") }
    entries += fields.map { "\($0.name)=\($0.value)" }
    // All fields are in one buffer, and each vector points to one field.
    var bytes: [UInt8] = []
    var ranges: [Range<Int>] = []
    for entry in entries {
      let start = bytes.count
      bytes.append(contentsOf: entry.utf8)
      ranges.append(start..<bytes.count)
    }
    bytes.withUnsafeMutableBytes { buffer in
      let vectors = ranges.map { range in
        iovec(iov_base: buffer.baseAddress.map { $0 + range.lowerBound }, iov_len: range.count)
      }
      // The log has no other destination, so it ignores a failure of journald.
      _ = sd_journal_sendv(vectors, Int32(vectors.count))
    }
  }

  /// Writes a line to standard error, without the level prefix of sd-daemon(3).
  private func writeLine(_ level: LogLevel, _ message: String) {
    var line = "taskschedd: "
    switch level {
    case .error, .warning: line += "\(level.rawValue): "
    case .notice, .info, .debug: break
    }
    line += message + "\n"
    line.withUTF8 { bytes in
      _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
    }
  }
}
