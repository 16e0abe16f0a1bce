import CSystemd
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// The daemon's one way of telling what happened: structured records to journald, or readable
/// lines on standard error where there is none.
public final class Log {
  /// Where records go.
  public enum Target: String, CaseIterable, Sendable {
    /// To the journal where systemd started us, else to standard error.
    case auto
    case journal
    case stderr
  }

  /// Records of this level and graver ones are written.
  public var level: LogLevel
  /// Whether records go to journald, with their fields; else to standard error.
  let goesToJournal: Bool
  var budget = RecordBudget()
  /// For users who may not read the journal.
  var recent = RecentRecords()

  public init(target: Target, level: LogLevel) {
    self.level = level
    switch target {
    case .journal: goesToJournal = true
    case .stderr: goesToJournal = false
    // systemd sets this where it has connected our output to the journal (systemd.exec(5)).
    case .auto: goesToJournal = getenv("JOURNAL_STREAM") != nil
    }
  }

  /// Whether a record of this level is written.
  func isWritten(_ level: LogLevel) -> Bool {
    level.severity <= self.level.severity
  }

  /// - Parameter fields: beside those that every record has; names as journald wants them.
  func write(
    _ level: LogLevel, _ message: String, id: MessageID? = nil,
    fields: [(name: String, value: String)] = []
  ) {
    guard isWritten(level) else { return }
    // What comes from clients and files is in it. Here it is escaped, for all who write.
    let message = PrintableText.of(message)
    let fields = fields.map { ($0.name, PrintableText.of($0.value)) }
    if goesToJournal {
      writeToJournal(level, message, id, fields)
    } else {
      writeLine(level, message)
    }
  }

  private func writeToJournal(
    _ level: LogLevel, _ message: String, _ id: MessageID?,
    _ fields: [(name: String, value: String)]
  ) {
    var entries = [
      "MESSAGE=\(message)", "PRIORITY=\(level.severity)", "SYSLOG_IDENTIFIER=taskschedd",
    ]
    if let id { entries.append("MESSAGE_ID=\(id.rawValue)") }
    entries += fields.map { "\($0.name)=\($0.value)" }
    // One buffer for all, and a vector that points into it.
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
      // A journal that cannot take it is no reason to fail; there is nobody to tell.
      _ = sd_journal_sendv(vectors, Int32(vectors.count))
    }
  }

  /// `<N>` is how journald and systemd-cat know the level of a line (sd-daemon(3)); for people it
  /// is left out.
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

extension LogLevel {
  /// The number in syslog(3).
  var severity: Int32 {
    switch self {
    case .error: LOG_ERR
    case .warning: LOG_WARNING
    case .notice: LOG_NOTICE
    case .info: LOG_INFO
    case .debug: LOG_DEBUG
    }
  }
}
