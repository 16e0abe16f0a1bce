import Glibc
import LinuxSystem

/// How long a test waits for what must happen, before it says that it never will: far longer than a
/// machine needs of which others take most (a hypervisor was seen to take three quarters of ours).
public let deadline: Duration = .seconds(120)

/// Waits until a file descriptor is ready.
///
/// - Throws: ETIMEDOUT when the deadline passes first.
@discardableResult
public func waitFor(
  _ events: Int32, on number: Int32, within limit: Duration = deadline
) throws(SystemError) -> Int16 {
  let happened = try Readiness.wait(for: Int16(events), on: number, timeout: limit)
  if happened == 0 { throw SystemError(call: "waiting for a file descriptor", errno: ETIMEDOUT) }
  return happened
}

/// The value, or an error where there is none: `#require` for what cannot be copied.
public func unwrap<Value: ~Copyable>(_ value: consuming Value?) throws(SystemError) -> Value {
  guard let value else { throw SystemError(call: "unwrapping a value", errno: ENOENT) }
  return value
}
