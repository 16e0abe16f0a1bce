import LinuxSystem
import TaskSchedulerCore

/// The seats of applications whose manifests name no seat (contract §1).
///
/// In the system's daemon, the name of a seat contains the user, so that no application sends
/// another user's application to the background. A user's own daemon serves one user, and the
/// user's graphical session is seat0.
struct DefaultSeats {
  let isUserDaemon: Bool

  /// Returns the default seat of a user: the seat of an application that the daemon launches, or
  /// that registers by itself without a terminal.
  func ofUser(_ uid: UInt32) -> SeatID { SeatID(isUserDaemon ? "seat0" : "user-\(uid)") }

  /// Returns the seat of a process that has a controlling terminal; nil for any other process.
  ///
  /// The name contains the session, because the kernel reuses the number of a closed terminal.
  /// Processes of the closed terminal thus have another seat than those of the new one.
  func ofTerminal(_ process: ProcessStat, uid: UInt32) -> SeatID? {
    process.terminal.map { named("\($0.name):\(process.session)", uid) }
  }

  /// Returns the seat of an adopted application that has no terminal. Such an application sends no
  /// other application to the background.
  func alone(_ application: ApplicationKey) -> SeatID {
    named(application.id.name, application.owner.uid)
  }

  private func named(_ name: String, _ uid: UInt32) -> SeatID {
    SeatID(isUserDaemon ? name : "user-\(uid)/\(name)")
  }
}
