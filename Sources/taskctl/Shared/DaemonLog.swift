import Glibc
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire

/// The log that the daemon itself keeps, for users without permission to read the system journal.
enum DaemonLog {
  /// Returns the newest records that the caller may see, the oldest first.
  ///
  /// - Parameter lines: The number of records; nil for all that the daemon keeps.
  static func records(
    application: String?, lines: Int?, from connection: Connection
  ) throws -> [ControlInterface.LogRecord] {
    var records: [ControlInterface.LogRecord] = []
    while records.count < lines ?? .max {
      let page = try connection.call(
        ControlInterface.GetLog.self,
        .init(
          application: application, before: records.first?.number,
          lines: lines.map { $0 - records.count }),
        timeout: answerTimeout
      ).records
      if page.isEmpty { break }
      records = page + records
    }
    return records
  }

  /// Returns `2026-11-21 14:03:22 warning: org.example.mail was killed: …`
  static func line(
    _ record: ControlInterface.LogRecord, _ clock: ClockReading = .now()
  ) -> String {
    let level = ["error", "warning"].contains(record.level) ? record.level + ": " : ""
    return "\(LocalTime(wallUSec: clock.wallUSec(ofBoot: record.atUSec)).dateAndTime) \(level)"
      + PrintableText.of(record.message) + "\n"
  }
}

/// The caller's access to the system journal.
///
/// journald keeps the records of system services in one file, which groups such as systemd-journal
/// may read. It keeps the records of a user's processes in a file that the user may read. See
/// SplitMode= in journald.conf(5).
enum JournalAccess {
  /// Returns whether the caller may read the records of a daemon.
  ///
  /// - Parameter ofUserDaemon: Whether the daemon is the caller's own rather than the system's.
  static func mayRead(
    ofUserDaemon: Bool, uid: UInt32 = Users.effectiveUID,
    directories: [String] = ["/var/log/journal", "/run/log/journal"]
  ) -> Bool {
    if uid == 0 { return true }
    let names = ["system.journal"] + (ofUserDaemon ? ["user-\(uid).journal"] : [])
    for directory in directories {
      for machine in (try? Directory.names(path: directory)) ?? [] {
        for name in names
        where faccessat(AT_FDCWD, "\(directory)/\(machine)/\(name)", R_OK, AT_EACCESS) == 0 {
          return true
        }
      }
    }
    return false
  }
}
