import Glibc
import LinuxSystem
import TaskSchedulerSession

/// The log of the session agent: lines on standard error. If the lines go to the journal, each
/// begins with its level (sd-daemon(3)).
enum AgentLog {
  /// The levels of syslog(3) that the agent uses.
  enum Level: Int32 {
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
  }

  /// Whether standard error is connected to the journal.
  private static let goesToJournal = JournalStream.isStandardError

  /// Writes a line. The text may come from other programs, so the function replaces control
  /// characters.
  static func write(_ level: Level, _ text: String) {
    var line = goesToJournal ? "<\(level.rawValue)>" : "taskschedd-session: "
    line += printable(text) + "\n"
    line.withUTF8 { _ = Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }

  private static func printable(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isControl = scalar.value < 0x20 || 0x7F..<0xA0 ~= scalar.value
      result.append(isControl ? "\u{FFFD}" : scalar)
    }
    return String(result)
  }
}

extension SessionAgent.Occurrence {
  /// The level of the event in the log.
  var level: AgentLog.Level {
    switch self {
    case .replaced: .error
    case .refused: .warning
    case .attached, .windowsUnknown, .windowsAbsent, .notificationsWait, .notificationsShown,
      .remoteControlLimited, .audioRolesManaged, .locationUnknown:
      .notice
    case .unreachable, .windowsKnown, .audioKnown, .audioUnknown, .locationKnown: .info
    }
  }
}
