import LinuxSystem
import TaskSchedulerCore

/// The seats of applications whose manifests name no seat (contract §1).
///
/// The name of a seat contains the user or the login session. Applications of different users
/// therefore have different seats, and do not send each other to the background.
struct DefaultSeats {
  /// Returns the seat of a user's graphical session. This seat is the default for an application
  /// that the daemon launches, and for an application that registers by itself without a terminal.
  ///
  /// The seat is the same before the user logs in, after the user logs out, and if the user logs in
  /// at another seat of logind. All these applications of a user thus have one seat.
  func ofUser(_ uid: UInt32) -> SeatID { SeatID("user-\(uid)") }

  /// Returns the seat of a login session that is not the user's graphical session, such as a
  /// session of ssh or of a text console.
  func ofOtherSession(_ id: String) -> SeatID { SeatID("session-\(id)") }

  /// Returns the seat of a process that has a controlling terminal; nil for any other process.
  ///
  /// The name contains the process's session id (setsid(2)), because the kernel reuses the number
  /// of a closed terminal. Otherwise, processes of the closed terminal and of the new terminal
  /// would have the same seat.
  ///
  /// - Parameter session: the seat of the process's login session.
  func ofTerminal(_ process: ProcessStat, in session: SeatID) -> SeatID? {
    process.terminal.map { SeatID("\(session.name)/\($0.name):\(process.session)") }
  }

  /// Returns the seat of an adopted application that has no terminal. No other application has this
  /// seat, so the adopted application sends no application to the background.
  ///
  /// - Parameter session: the seat of the process's login session.
  func alone(_ application: ApplicationKey, in session: SeatID) -> SeatID {
    SeatID("\(session.name)/\(application.id.name)")
  }
}
