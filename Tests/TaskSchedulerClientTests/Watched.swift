import Dispatch
import LinuxSystem
import TestSupport

@testable import TaskSchedulerClient

/// A value that several threads change, and that a test waits for.
final class Watched<Value: Sendable>: Sendable {
  struct NeverHappened: Error, CustomStringConvertible {
    let what: String
    let value: Value
    var description: String { "waited in vain for: \(what); the value is \(value)" }
  }

  private let value: Locked<Value>
  /// An event descriptor that is readable after a change.
  private let changed: FileDescriptor

  init(_ value: Value) {
    self.value = Locked(value)
    changed = try! FileDescriptor.event()
  }

  var current: Value { value.withLock { $0 } }

  @discardableResult
  func update<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
    let result = value.withLock { value in
      // This closure must be Sendable, so it captures only `body`.
      body(&value)
    }
    withUnsafeBytes(of: UInt64(1)) { _ = try? changed.write($0) }
    return result
  }

  /// Blocks until the value satisfies a condition, and returns the value. One thread at a time can
  /// wait.
  @discardableResult
  func wait(
    _ what: String, within limit: Duration = deadline, until isWanted: (Value) -> Bool
  ) throws -> Value {
    while true {
      let now = current
      if isWanted(now) { return now }
      do throws(SystemError) {
        try waitFor(1, on: changed.rawValue, within: limit)
      } catch {
        throw NeverHappened(what: what, value: current)
      }
      var count = UInt64(0)
      _ = withUnsafeMutableBytes(of: &count) { try? changed.read(into: $0) }
    }
  }

  /// Waits like `wait`, but on a thread outside the pool of Swift concurrency. The pool has one
  /// thread for each CPU, and the code that changes the value may need a thread of the pool. On a
  /// busy machine, other tests may block all of these threads for longer than `deadline`.
  @discardableResult
  func waitAsync(
    _ what: String, until isWanted: @escaping @Sendable (Value) -> Bool
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(
          with: Result { try self.wait(what, within: .seconds(300), until: isWanted) })
      }
    }
  }
}
