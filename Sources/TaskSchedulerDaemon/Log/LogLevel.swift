import Glibc

/// The importance of a record. The setting `log-level` is the lowest level that is logged.
public enum LogLevel: String, CaseIterable, Hashable, Sendable {
  case error, warning, notice, info, debug
}

extension LogLevel {
  /// The priority of the level in syslog(3).
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
