import Glibc

#if DEBUG
  /// Forces failures of system calls for one task, in debug builds only: a test names the call and
  /// the errno, and the real call is not made.
  public enum SyscallFaults {
    /// Returns the errno with which the named call is to fail, or nil to let it happen.
    @TaskLocal public static var errnoFor: (@Sendable (_ call: String) -> Int32?)?
  }
#endif

/// Makes a system call that returns -1 and sets errno when it fails. The one place that retries
/// EINTR. EBADF and EFAULT are mistakes of ours, after which nothing can be relied on: they trap.
@inline(__always)
func attempt<Value: SignedInteger>(
  _ call: String, _ body: () -> Value
) -> Result<Value, SystemError> {
  while true {
    #if DEBUG
      if let code = SyscallFaults.errnoFor?(call) {
        return .failure(SystemError(call: call, errno: code))
      }
    #endif
    let value = body()
    if value != -1 { return .success(value) }
    let code = errno
    if code == EINTR { continue }
    let error = SystemError(call: call, errno: code)
    precondition(code != EBADF && code != EFAULT, "a file descriptor or pointer of ours is wrong")
    return .failure(error)
  }
}

/// `attempt`, thrown.
@inline(__always)
@discardableResult
func check<Value: SignedInteger>(
  _ call: String, _ body: () -> Value
) throws(SystemError) -> Value {
  try attempt(call, body).get()
}

/// `attempt` with some errnos as an expected answer, which is nil.
@inline(__always)
@discardableResult
func check<Value: SignedInteger>(
  _ call: String, nilFor expected: Int32..., body: () -> Value
) throws(SystemError) -> Value? {
  switch attempt(call, body) {
  case .success(let value): return value
  case .failure(let error):
    if expected.contains(error.errno) { return nil }
    throw error
  }
}
