import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("A burst of messages")
struct DebouncedWatchTests {
  private final class Counts {
    var taken = 0
    var becameQuiet = 0
  }

  private let watcher: ChangeWatcher
  private let counts = Counts()

  init() throws { watcher = try ChangeWatcher() }

  /// Watches a descriptor for messages. If `takesAll` is false, the watch leaves the messages
  /// unread, to simulate that new messages arrive all the time.
  private func watch(
    _ messages: borrowing FileDescriptor, matter: Bool = true, takesAll: Bool = true
  ) throws -> DebouncedWatch {
    let number = messages.rawValue
    return try DebouncedWatch(
      number, loop: watcher.loop,
      take: { [counts] in
        counts.taken += 1
        var count: UInt64 = 0
        let isThere = takesAll ? read(number, &count, 8) == 8 : true
        return isThere && matter
      },
      becameQuiet: { [counts] in counts.becameQuiet += 1 })
  }

  private func send(_ messages: borrowing FileDescriptor) throws {
    let one: UInt64 = 1
    #expect(try withUnsafeBytes(of: one) { try messages.write($0) } == 8)
  }

  @Test("A burst is reported once, after a quiet period without messages")
  func once() throws {
    let messages = try FileDescriptor.event(initialValue: 1)
    let burst = try watch(messages)
    let start = BootClock.now()
    try watcher.wait(for: "the first message") { counts.taken == 1 }
    #expect(counts.becameQuiet == 0)
    try send(messages)
    try watcher.wait(for: "the burst's end") { counts.becameQuiet == 1 }
    // A second quiet period follows the second message.
    #expect(.nanoseconds(Int64(BootClock.now() - start)) >= DebouncedWatch.quiet * 2)
    try send(messages)
    try watcher.wait(for: "another burst's end") { counts.becameQuiet == 2 }
    withExtendedLifetime(burst) {}
  }

  @Test(
    """
    An endless burst is reported after the maximum length, and does not wake the program for \
    each message
    """)
  func endless() throws {
    let messages = try FileDescriptor.event(initialValue: 1)
    let burst = try watch(messages, takesAll: false)
    let start = BootClock.now()
    try watcher.wait(for: "the burst's end") { counts.becameQuiet == 1 }
    #expect(.nanoseconds(Int64(BootClock.now() - start)) >= DebouncedWatch.lengthMax)
    let looksMax = Int(DebouncedWatch.lengthMax / DebouncedWatch.quiet) + 1
    #expect((2...looksMax).contains(counts.taken))
    withExtendedLifetime(burst) {}
  }

  @Test("Messages that do not matter are not a burst")
  func nothing() throws {
    let messages = try FileDescriptor.event(initialValue: 1)
    let burst = try watch(messages, matter: false)
    try watcher.wait(for: "the message") { counts.taken == 1 }
    try send(messages)
    try watcher.wait(for: "the message") { counts.taken == 2 }
    #expect(counts.becameQuiet == 0)
    withExtendedLifetime(burst) {}
  }
}
