import Glibc
import TaskSchedulerCore

extension LogLevel {
  /// The syslog(3) priority of the level.
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
