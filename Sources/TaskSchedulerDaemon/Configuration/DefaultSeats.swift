import LinuxSystem
import TaskSchedulerCore

/// The seats of applications whose manifest names none (contract §1).
///
/// The system's daemon puts the user into the name of each, so that no user's application can send
/// another user's away. A user's own daemon serves one user, whose graphical session is seat0.
struct DefaultSeats {
  let isUserDaemon: Bool

  /// The seat of an application that the daemon launches, or that registers by itself away from a
  /// terminal: one for each user.
  func ofUser(_ uid: UInt32) -> SeatID { SeatID(isUserDaemon ? "seat0" : "user-\(uid)") }

  /// The seat of a process that has a controlling terminal; nil for any other process.
  ///
  /// The session belongs to the name: the kernel gives the number of a terminal that was closed to
  /// the next one that is opened, and what still runs of the first is at another seat.
  func ofTerminal(_ process: ProcessStat, uid: UInt32) -> SeatID? {
    process.terminal.map { named("\($0.name):\(process.session)", uid) }
  }

  /// The seat of an application that was taken over away from a terminal: its own, where it
  /// displaces no other.
  func alone(_ application: ApplicationKey) -> SeatID {
    named(application.id.name, application.owner.uid)
  }

  private func named(_ name: String, _ uid: UInt32) -> SeatID {
    SeatID(isUserDaemon ? name : "user-\(uid)/\(name)")
  }
}
