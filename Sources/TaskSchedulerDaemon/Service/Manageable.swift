import Glibc
import LinuxSystem

extension CurrentSettings {
  /// Why this daemon does not take a process under management; nil where it does.
  ///
  /// What it could neither stop nor end it would report as suspended or terminated for ever. A
  /// user's own daemon takes that user's processes only.
  func refusal(of process: ProcessHandle, uid: UInt32) throws(SystemError) -> String? {
    let own = Users.effectiveUID
    let maySignal = try process.maySignal()
    if maySignal, !isUserDaemon || uid == own { return nil }
    return "process \(process.identity.pid) runs as user \(uid), and this daemon, which runs as "
      + "user \(own), manages only processes that it may stop and end"
      + (isUserDaemon ? " and that are its own user's" : "")
      + ": ask the system's daemon, or the daemon of user \(uid)"
  }
}

extension ProcessHandle {
  /// Whether the kernel lets this daemon send the process signals.
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
