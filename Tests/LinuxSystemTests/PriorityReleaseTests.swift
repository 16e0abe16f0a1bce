import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("§12: Lowered priorities are restored exactly")
struct PriorityReleaseTests {
  private let proc: ProcFS

  init() throws { proc = try ProcFS() }

  @Test(
    """
    A process that was forked while its parent had lowered priorities gets the original \
    priorities
    """,
    .enabled(if: (try? ProcFS())?.mayRaisePriorities == true, "the test needs CAP_SYS_NICE"))
  func bornBetween() throws {
    let parent = try TestProcess.shell("sleep 1000 & echo $!; wait")
    let child = try #require(Int32(try parent.readLine() ?? ""))
    defer { kill(child, SIGKILL) }
    let stats = try [parent.pid, child].map { try #require(try proc.stat($0)) }
    func lowered(_ stat: ProcessStat, _ kind: PriorityKind, _ before: Int, _ after: Int)
      throws -> LoweredPriority {
      try proc.set(kind, to: after, thread: stat.pid, process: stat.pid, group: nil)
      return LoweredPriority(
        thread: stat.identity, process: stat.pid, kind: kind, before: before, after: after)
    }
    let last = ThreadPriority.ioPriorityLast
    var items: [LoweredPriority] = []
    let kinds = [(PriorityKind.nice, 15), (.ioPriority, last), (.outOfMemoryScore, 500)]
    for (kind, after) in kinds { items.append(try lowered(stats[0], kind, 0, after)) }
    // The items name only one of the child's three lowered priorities. The other two simulate
    // priorities that the child inherited at the fork.
    items.append(try lowered(stats[1], .nice, 0, 15))
    _ = try lowered(stats[1], .ioPriority, 0, last)
    _ = try lowered(stats[1], .outOfMemoryScore, 0, 500)
    var release = PriorityRelease(items, in: proc)
    release.run { stats }
    #expect(release.failures.isEmpty)
    for stat in stats {
      let priority = try ThreadPriority(of: stat.pid)
      #expect(priority?.nice == 0 && priority?.ioPriority == 0)
      let score = try proc.value(
        of: .outOfMemoryScore, thread: stat.pid, process: stat.pid, group: nil)
      #expect(score == 0)
    }
  }
}
