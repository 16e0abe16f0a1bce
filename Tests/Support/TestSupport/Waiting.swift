import Glibc
import LinuxSystem

/// The time after which a test fails if an expected event has not occurred. It is generous for
/// machines whose hypervisor gives most CPU time to other guests (three quarters have been
/// observed).
public let deadline: Duration = .seconds(120)

/// Waits until a file descriptor is ready.
///
/// - Throws: ETIMEDOUT if `limit` expires first.
@discardableResult
public func waitFor(
  _ events: Int32, on number: Int32, within limit: Duration = deadline
) throws(SystemError) -> Int16 {
  let happened = try Readiness.wait(for: Int16(events), on: number, timeout: limit)
  if happened == 0 { throw SystemError(call: "waiting for a file descriptor", errno: ETIMEDOUT) }
  return happened
}

/// Returns the value, or throws if it is nil: `#require` for values that cannot be copied.
public func unwrap<Value: ~Copyable>(_ value: consuming Value?) throws(SystemError) -> Value {
  guard let value else { throw SystemError(call: "unwrapping a value", errno: ENOENT) }
  return value
}
