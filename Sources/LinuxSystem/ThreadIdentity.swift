import CLinux
import Glibc

/// Doing one thing as another user, so that the kernel tells others it was that user.
public enum ThreadIdentity {
  /// Calls `body` with the effective user id `uid` for this thread alone. Nothing in it may wait
  /// for another thread, or go on after it returns.
  ///
  /// - Returns: nil, with `body` not called, where we may not be that user (no CAP_SETUID).
  public static func with<Value>(effectiveUID uid: UInt32, _ body: () -> Value) -> Value? {
    let own = geteuid()
    guard clinux_set_thread_euid(uid) == 0 else { return nil }
    defer {
      let result = clinux_set_thread_euid(own)
      precondition(result == 0, "our own user id can always be taken again")
    }
    return body()
  }
}
