import CSystemd
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// Determines the seats of processes from their control groups and from logind's files.
///
/// The service manager of a user runs outside of every login session. The processes that it starts
/// count as processes of the user's graphical session.
struct ProcessSeats {
  let proc: ProcFS
  private let names = DefaultSeats()

  init(proc: ProcFS) { self.proc = proc }

  /// Returns the seat of a process's login session.
  func session(of pid: Int32, uid: UInt32) throws(SystemError) -> SeatID {
    if let id = try loginSession(of: pid), !Self.isDesktop(id, of: uid) {
      return names.ofOtherSession(id)
    }
    return names.ofUser(uid)
  }

  /// Returns the seat of a process's controlling terminal; nil if the process has no terminal.
  func terminal(of pid: Int32, uid: UInt32) throws(SystemError) -> SeatID? {
    guard let process = try proc.stat(pid), process.terminal != nil else { return nil }
    return names.ofTerminal(process, in: try session(of: pid, uid: uid))
  }

  /// Returns the seat of a process's controlling terminal. If the process has no terminal, returns
  /// a seat that only this application has.
  func terminalOrAlone(
    of pid: Int32, _ application: ApplicationKey
  ) throws(SystemError) -> SeatID {
    let uid = application.owner.uid
    if let terminal = try terminal(of: pid, uid: uid) { return terminal }
    return names.alone(application, in: try session(of: pid, uid: uid))
  }

  /// Returns logind's id of the session whose scope contains a process; nil if there is no such
  /// session.
  private func loginSession(of pid: Int32) throws(SystemError) -> String? {
    guard let path = try proc.cgroup(pid) else { return nil }
    return SystemdUnit(cgroup: path)?.loginSession
  }

  /// Returns whether a session counts as graphical. A text session does if it is at a seat and is
  /// the user's main session, according to logind. A session that logind does not know does too.
  private static func isDesktop(_ id: String, of uid: UInt32) -> Bool {
    guard let type = text({ sd_session_get_type(id, $0) }) else { return true }
    if ["wayland", "x11", "mir"].contains(type) { return true }
    return text { sd_session_get_seat(id, $0) } != nil
      && text { sd_uid_get_display(uid, $0) } == id
  }

  private static func text(
    _ read: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32
  ) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard read(&text) >= 0, let text else { return nil }
    defer { free(text) }
    return String(cString: text)
  }
}
