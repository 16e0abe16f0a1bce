import LinuxSystem
import Testing

@testable import TaskSchedulerDaemon

@Suite("§12: The list of the priorities that the daemon has lowered")
struct LoweredPrioritiesTests {
  private func thread(_ number: Int) -> ProcessIdentity {
    ProcessIdentity(pid: Int32(number), startTime: UInt64(number))
  }

  private func item(
    _ number: Int, _ kind: PriorityKind = .nice, before: Int = 0, after: Int = 15
  ) -> LoweredPriority {
    LoweredPriority(
      thread: thread(number), process: Int32(number), kind: kind, before: before, after: after)
  }

  @Test(
    "A lowered priority is noted once, with its first value as the one to restore",
    arguments: [1, 5, 16, 17, 100])
  func isNotedOnce(count: Int) {
    var state = LoweredPriorities()
    let all = (1...count).map { item($0, before: $0 % 7) }
    #expect(state.add(all) == all)
    #expect(state.add(all).isEmpty)
    let again = item(count, before: 15, after: 19)
    #expect(state.add([again, again]) == [again])
    for number in 1...count {
      #expect(state.isKnown(thread(number)))
      #expect(state.before(thread(number), .nice) == number % 7)
      #expect(state.before(thread(number), .ioPriority) == nil)
    }
    #expect(!state.isKnown(thread(count + 1)))
    let threads = count == 1 ? "1 thread" : "\(count) threads"
    #expect(state.words(.background).first == "nice value 19 of \(threads)")
  }

  @Test(
    "The list forgets a thread that has ended, among few threads or many", arguments: [3, 17, 40])
  func endedIsForgotten(count: Int) {
    var state = LoweredPriorities()
    _ = state.add((1...count).map { item($0) })
    state.forget([thread(2)])
    #expect(!state.isKnown(thread(2)) && state.before(thread(2), .nice) == nil)
    #expect(state.isKnown(thread(1)) && state.isKnown(thread(count)))
    #expect(state.add([item(2)]) == [item(2)])
    #expect(state.words(.background).first == "nice value 15 of \(count) threads")
  }
}
