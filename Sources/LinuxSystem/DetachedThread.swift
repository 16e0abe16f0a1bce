import Glibc

/// Threads that the caller does not wait for.
public enum DetachedThread {
  /// Runs the body on a thread of its own with all signals blocked.
  ///
  /// - Throws: EAGAIN if the limit on threads is reached.
  public static func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
    var all = sigset_t()
    var previous = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &previous)
    defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
    let box = Unmanaged.passRetained(Box(body))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { raw in
        Unmanaged<Box>.fromOpaque(raw!).takeRetainedValue().body()
        return nil
      }, box.toOpaque())
    if code != 0 {
      box.release()
      throw SystemError(call: "pthread_create", errno: code)
    }
    pthread_detach(thread)
  }

  private final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
