import Glibc

#if DEBUG
  /// Simulated failures of system calls, for one task of a test and in debug builds only. The test
  /// names the call and the errno. The process does not make the system call.
  public enum SyscallFaults {
    /// Returns the errno with which the named call fails. If it returns nil, the process makes the
    /// call.
    @TaskLocal public static var errnoFor: (@Sendable (_ call: String) -> Int32?)?
  }
#endif

/// Makes a system call that returns -1 and sets errno when it fails. Repeats the call after EINTR.
/// EBADF and EFAULT are programming errors and cause a trap.
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
  precondition(code != EBADF && code != EFAULT, "the descriptor or pointer is invalid")
    return .failure(error)
  }
}

/// Makes a system call and throws its error.
@inline(__always)
@discardableResult
func check<Value: SignedInteger>(
  _ call: String, _ body: () -> Value
) throws(SystemError) -> Value {
  try attempt(call, body).get()
}

/// Makes a system call. Returns nil if it fails with one of the `expected` errnos, and throws any
/// other error.
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
