import Dispatch
import LinuxSystem
import TestSupport

@testable import TaskSchedulerClient

/// A value that several threads change, and that a test waits for to become as it should be.
final class Watched<Value: Sendable>: Sendable {
  struct NeverHappened: Error, CustomStringConvertible {
    let what: String
    let value: Value
    var description: String { "never happened: \(what); the value is \(value)" }
  }

  private let value: Locked<Value>
  /// Readable after a change.
  private let changed: FileDescriptor

  init(_ value: Value) {
    self.value = Locked(value)
    changed = try! FileDescriptor.event()
  }

  var current: Value { value.withLock { $0 } }

  @discardableResult
  func update<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
    let result = value.withLock { value in
      // The closure is Sendable, so that nothing of the value is kept.
      body(&value)
    }
    withUnsafeBytes(of: UInt64(1)) { _ = try? changed.write($0) }
    return result
  }

  /// Blocks until the value is as wanted, and returns it. One thread at a time waits.
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

  /// `wait`, away from the threads of Swift's concurrency. What it waits for is done on those, of
  /// which there is one for each CPU, and by turns with every test that blocks one: with two CPUs
  /// that other work keeps busy, the turn comes after more than `deadline`.
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
