import CLinux
import Glibc

/// Operations as another user, so that the kernel attributes the operations to that user.
public enum ThreadIdentity {
  /// Calls `body` with the effective user id `uid` in this thread only. `body` must not wait for
  /// another thread, and must have completed all its work when it returns.
  ///
  /// - Returns: nil, without a call of `body`, if this process may not act as that user (no
  ///   CAP_SETUID).
  public static func with<Value>(effectiveUID uid: UInt32, _ body: () -> Value) -> Value? {
    let own = geteuid()
    guard clinux_set_thread_euid(uid) == 0 else { return nil }
    defer {
      let result = clinux_set_thread_euid(own)
      precondition(result == 0, "a thread may always return to its previous user id")
    }
    return body()
  }
}
