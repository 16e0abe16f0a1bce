import Glibc
import LinuxSystem

extension CurrentSettings {
  /// Returns the reason why this daemon cannot manage a process; nil if it can.
  ///
  /// If the kernel does not permit the daemon to send signals to a process, the daemon cannot stop
  /// or kill the process. The daemon would report the process as suspended or terminated although
  /// it still runs. A user's daemon manages only that user's processes.
  func refusal(of process: ProcessHandle, uid: UInt32) throws(SystemError) -> String? {
    let own = Users.effectiveUID
    let maySignal = try process.maySignal()
    if maySignal, !isUserDaemon || uid == own { return nil }
    return "process \(process.identity.pid) runs as user \(uid); this daemon runs as user \(own) "
      + "and manages only processes that it may stop and kill"
      + (isUserDaemon ? " and that run as its own user" : "")
      + "; ask the system's daemon, or the daemon of user \(uid)"
  }
}

extension ProcessHandle {
  /// Returns whether the kernel permits this daemon to send signals to the process.
  fileprivate func maySignal() throws(SystemError) -> Bool {
    do throws(SystemError) {
      _ = try pidfd.send(signal: 0)
      return true
    } catch {
      guard error.errno == EPERM else { throw error }
      return false
    }
  }
}
