import Glibc

@testable import TaskSchedulerClient

// A check of the thread sanitizer. The sanitizer must report a race in `race-canary unlocked`, and
// none in `race-canary locked`, which uses the lock of the client library.

/// A number that threads increment, with the lock of the client library or without a lock.
final class Tally: @unchecked Sendable {
  private var unlocked = 0
  private let locked = Locked(0)

  func add(locking: Bool) {
    if locking { locked.withLock { $0 += 1 } } else { unlocked += 1 }
  }

  func run(locking: Bool) -> UnsafeMutableRawPointer? {
    for _ in 0..<1000 { add(locking: locking) }
    return nil
  }

  static func of(_ context: UnsafeMutableRawPointer?) -> Tally {
    guard let context else { preconditionFailure("a thread without its tally") }
    return Unmanaged<Tally>.fromOpaque(context).takeUnretainedValue()
  }

  var sum: Int { unlocked + locked.withLock { $0 } }
}

/// Increments a number a thousand times in each of two threads, and returns the result.
func addUp(locking: Bool) -> Int {
  let tally = Tally()
  let add: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? =
    locking ? { Tally.of($0).run(locking: true) } : { Tally.of($0).run(locking: false) }
  var threads: [pthread_t] = []
  for _ in 0..<2 {
    var thread = pthread_t()
    let code = pthread_create(&thread, nil, add, Unmanaged.passUnretained(tally).toOpaque())
    precondition(code == 0, "pthread_create: errno \(code)")
    threads.append(thread)
  }
  for thread in threads { pthread_join(thread, nil) }
  return tally.sum
}

let words = CommandLine.arguments.dropFirst()
guard words == ["locked"] || words == ["unlocked"] else {
  print("usage: race-canary locked|unlocked")
  exit(2)
}
print("added up to \(addUp(locking: words == ["locked"]))")
