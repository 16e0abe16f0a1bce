import EventLoop
import LinuxSystem
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("§15: After an attack, the daemon returns memory to the system")
struct HeapTrimmingTests {
  private final class Count {
    var value = 0
  }

  private func trimming(_ loop: EventLoop, _ trims: Count) throws -> HeapTrimming {
    try HeapTrimming(loop: loop, delay: .milliseconds(1)) { trims.value += 1 }
  }

  @Test("The heap is trimmed some time after much work, and again after later work")
  func busy() throws {
    let (loop, trims) = (try EventLoop(), Count())
    let trimming = try trimming(loop, trims)
    trimming.worked(HeapTrimming.workMin)
    trimming.worked(HeapTrimming.restMin)
    while trims.value < 2 { try loop.turn(within: deadline) }
    try loop.turn(within: .milliseconds(20))
    #expect(trims.value == 2, "an idle daemon is not woken")
  }

  @Test("Little work does not trim the heap")
  func calm() throws {
    let (loop, trims) = (try EventLoop(), Count())
    let trimming = try trimming(loop, trims)
    trimming.worked(HeapTrimming.workMin - 1)
    try loop.turn(within: .milliseconds(20))
    #expect(trims.value == 0)
  }
}
