import Glibc
import TaskSchedulerCore
import TestSupport
import Testing

@testable import LinuxSystem
@testable import TaskSchedulerDaemon

@Suite("§12: whoever stands still is looked at before the policy is told, and keeps nobody waiting")
struct LastLooksTests {
  private let root = TemporaryDirectory()

  init() {
    for folder in ["42", "42/net"] { mkdir(root.file(folder), 0o755) }
  }

  private func table(listening inodes: [Int]) {
    let lines = inodes.map { "0: 00000002 00000000 00010000 0001 01 \($0) /run/\($0)\n" }
    root.write("42/net/unix", "Num RefCount Protocol Flags Type St Inode Path\n" + lines.joined())
  }

  @Test("many at once, by one reading of the kernel's tables, with others' turns in between")
  func together() throws {
    let loop = try EventLoop()
    table(listening: [7])
    var order: [UInt64] = []
    var seen: [Bool] = []
    var told: [[UInt64]] = []
    let looks = try LastLooks(proc: ProcFS(root: root.path), loop: loop) { id, tables in
      order.append(id.number)
      seen.append(tables.find([7], of: 42)[7] == .some("/run/7"))
      // Whoever reads it anew finds nothing.
      table(listening: [])
    } looked: {
      told.append($0.map(\.number))
    }
    let ids = 1...100 as ClosedRange<UInt64>
    for id in ids { looks.add(InstanceID(id)) }
    #expect(order.isEmpty, "not from within a call of somebody else's")
    var batches: [Int] = []
    let end = ContinuousClock.now + deadline
    while order.count < ids.count, ContinuousClock.now < end {
      try loop.turn(within: .milliseconds(100))
      if order.count > batches.reduce(0, +) { batches.append(order.count - batches.reduce(0, +)) }
    }
    #expect(order == Array(ids))
    #expect(told.map(\.count) == batches && told.flatMap(\.self) == order)
    let first = try #require(batches.first)
    #expect(batches.count > 1 && seen[..<first].allSatisfy { $0 })
    #expect(seen[first...].allSatisfy { !$0 }, "what comes later is looked for anew")
  }
}
