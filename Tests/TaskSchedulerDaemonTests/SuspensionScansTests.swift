import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("§12: Threads examine descriptors before the scheduler receives the suspension")
struct SuspensionScansTests {
  private let root = TemporaryDirectory()
  private let loop: EventLoop
  private let scans: DescriptorScans

  init() throws {
    for pid in [41, 42] {
      for folder in ["\(pid)", "\(pid)/fd"] { mkdir(root.file(folder), 0o755) }
      root.write("\(pid)/stat", "\(pid) (a) T 1 2 3 0 -1 0 0 0 0 0 10 5 0 0 20 0 1 0 7")
    }
    loop = try EventLoop()
    scans = try DescriptorScans(proc: ProcFS(root: root.path), loop: loop)
  }

  private func scan(_ pid: Int32) -> DescriptorScan {
    DescriptorScan(of: [ProcessIdentity(pid: pid, startTime: 7)])
  }

  /// Replaces the file `stat` of a process by a FIFO. A scan of the process blocks until the test
  /// writes to the FIFO.
  private func blockProcess(_ pid: Int) -> FileDescriptor {
    unlink(root.file("\(pid)/stat"))
    mkfifo(root.file("\(pid)/stat"), 0o600)
    // O_RDWR opens both ends, so that neither this open(2) nor that of the scan waits for the other
    // end.
    return FileDescriptor(taking: open(root.file("\(pid)/stat"), O_RDWR | O_CLOEXEC))
  }

  private func unblockProcess(_ pid: Int, _ pipe: borrowing FileDescriptor) {
    let stat = "\(pid) (a) T 1 2 3 0 -1 0 0 0 0 0 10 5 0 0 20 0 1 0 7"
    #expect(write(pipe.rawValue, stat, stat.utf8.count) == stat.utf8.count)
  }

  private func turn(until isReached: () -> Bool) throws {
    let end = ContinuousClock.now + deadline
    while !isReached(), ContinuousClock.now < end { try loop.turn(within: .milliseconds(100)) }
    #expect(isReached())
  }

  @Test("Findings are reported before the end of the scan, and after the call that adds the scan")
  func order() throws {
    for number in 3..<10 { symlink("/x", root.file("42/fd/\(number)")) }
    var told: [String] = []
    let suspensionScans = try SuspensionScans(scans: scans, loop: loop) { id, findings in
      told.append("\(id.number) found \(findings.examinedCount)")
    } ended: {
      told.append("ended \($0.map(\.number))")
    }
    suspensionScans.add(InstanceID(1), user: 1, scan(42))
    #expect(told.isEmpty)
    try turn { told.count == 2 }
    #expect(told == ["1 found 7", "ended [1]"])
  }

  @Test("A resume cancels the scan, which reports nothing; a later scan reports once")
  func cancel() throws {
    let pipe = blockProcess(42)
    var found: [InstanceID] = []
    var ended: [InstanceID] = []
    let suspensionScans = try SuspensionScans(scans: scans, loop: loop) { id, _ in
      found.append(id)
    } ended: {
      ended += $0
    }
    suspensionScans.add(InstanceID(1), user: 1, scan(42))
    suspensionScans.cancel(InstanceID(1))
    suspensionScans.add(InstanceID(1), user: 1, scan(41))
    unblockProcess(42, pipe)
    try turn { !ended.isEmpty }
    #expect(found == [InstanceID(1)] && ended == [InstanceID(1)])
  }

  @Test("While one user's scan is blocked, the event loop and other users' scans continue")
  func others() throws {
    let pipe = blockProcess(42)
    var ended: [UInt64] = []
    let suspensionScans = try SuspensionScans(scans: scans, loop: loop) { _, _ in
    } ended: {
      ended += $0.map(\.number)
    }
    suspensionScans.add(InstanceID(1), user: 1, scan(42))
    for number in 2...5 { suspensionScans.add(InstanceID(UInt64(number)), user: 2, scan(41)) }
    try turn { ended.count == 4 }
    #expect(ended == [2, 3, 4, 5])
    unblockProcess(42, pipe)
    try turn { ended.count == 5 }
  }

  @Test("The scans of instances without anything to examine end together")
  func unexamined() throws {
    var ended: [[UInt64]] = []
    let suspensionScans = try SuspensionScans(scans: scans, loop: loop) { _, _ in
      Issue.record("nothing is scanned")
    } ended: {
      ended.append($0.map(\.number))
    }
    for number in 1...3 { suspensionScans.add(InstanceID(UInt64(number))) }
    #expect(ended.isEmpty)
    try turn { !ended.isEmpty }
    #expect(ended == [[1, 2, 3]])
  }
}

@Suite("The users take turns in the queue of scans")
struct ScanQueueTests {
  private func job(_ number: UInt64, _ user: UInt32) -> ScanQueue.Job {
    ScanQueue.Job(number: number, user: user, scan: DescriptorScan(of: []))
  }

  @Test("One user's many scans do not delay another user's scan, and run one at a time")
  func turns() {
    var queue = ScanQueue()
    var threads = 0
    for number in 1...100 where queue.add(job(UInt64(number), 7), threadsMax: 4) { threads += 1 }
    #expect(threads == 1)
    let needsThread = queue.add(job(200, 8), threadsMax: 4)
    #expect(needsThread)
    let first = queue.take()
    let second = queue.take()
    let third = queue.take()
    #expect(first?.number == 1 && second?.number == 200)
    #expect(third == nil, "each user has one scan in progress")
    queue.finish(first!, .init())
    let next = queue.take()
    #expect(next?.number == 2)
  }

  @Test("A cancelled scan does not start, or has no result if it has started")
  func cancelled() {
    var queue = ScanQueue()
    for number in 1...3 { _ = queue.add(job(UInt64(number), 7), threadsMax: 4) }
    let first = queue.take()
    queue.cancel(1)
    queue.cancel(2)
    #expect(queue.isCancelled(1))
    queue.finish(first!, nil)
    let third = queue.take()
    #expect(third?.number == 3)
    queue.finish(third!, .init())
    let results = queue.takeResults(max: 10).results
    #expect(results.map(\.0) == [3])
  }

  @Test("Without a free thread, a scan ends and says that it is not complete")
  func noThread() {
    var queue = ScanQueue()
    _ = queue.add(job(1, 7), threadsMax: 4)
    queue.giveUp()
    let results = queue.takeResults(max: 10).results
    #expect(results.map(\.0) == [1] && results.allSatisfy { !$0.1.isComplete })
  }
}
