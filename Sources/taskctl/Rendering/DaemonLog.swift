import Glibc
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire

/// The log as the daemon keeps it for users who may not read the journal.
enum DaemonLog {
  /// The newest records that the caller may see, the oldest first.
  ///
  /// - Parameter lines: nil for all that are kept.
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

  /// `2026-11-21 14:03:22 warning: org.example.mail was killed: …`
  static func line(
    _ record: ControlInterface.LogRecord, _ clock: ClockReading = .now()
  ) -> String {
    let level = ["error", "warning"].contains(record.level) ? record.level + ": " : ""
    return "\(LocalTime(wallUSec: clock.wallUSec(ofBoot: record.atUSec)).dateAndTime) \(level)"
      + PrintableText.of(record.message) + "\n"
  }
}

/// What of the journal the caller may read. journald keeps the records of the system's services in
/// one file, which groups such as systemd-journal may read, and those of each user's own processes
/// in a file which that user may read (journald.conf(5), SplitMode=).
enum JournalAccess {
  /// - Parameter ofUserDaemon: of the caller's own daemon; else of the system's.
  static func mayRead(
    ofUserDaemon: Bool, uid: UInt32 = Users.effectiveUID,
    folders: [String] = ["/var/log/journal", "/run/log/journal"]
  ) -> Bool {
    if uid == 0 { return true }
    let names = ["system.journal"] + (ofUserDaemon ? ["user-\(uid).journal"] : [])
    for folder in folders {
      for machine in (try? Folder.names(path: folder)) ?? [] {
        for name in names
        where faccessat(AT_FDCWD, "\(folder)/\(machine)/\(name)", R_OK, AT_EACCESS) == 0 {
          return true
        }
      }
    }
    return false
  }
}
