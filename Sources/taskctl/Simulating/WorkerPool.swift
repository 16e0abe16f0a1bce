import Glibc
import LinuxSystem
import TaskSchedulerSimulation

/// The combined results of all workers.
struct SeedTally {
  var hashes: [UInt64: UInt64] = [:]
  var events = 0
  var recoveries = 0
  var violated: [UInt64] = []
  /// The seeds at which a worker died.
  var trapped: [UInt64] = []

  /// A hash of all trace hashes, independent of the order in which they arrived.
  var combinedHash: UInt64 {
    hashes.keys.sorted().reduce(into: UInt64(0xCBF2_9CE4_8422_2325)) { hash, seed in
      hash = (hash ^ (hashes[seed] ?? 0)) &* 0x0000_0100_0000_01B3
      hash ^= hash >> 29
    }
  }

  mutating func add(_ report: WorkerReport) {
    guard case .ended(let seed, let events, let recoveries, let hash, let isViolated) = report
    else { return }
    hashes[seed] = hash
    self.events += events
    self.recoveries += recoveries
    if isViolated { violated.append(seed) }
  }
}

/// Worker processes of this program, each with a share of the seeds.
struct WorkerPool {
  let plan: SeedPlan
  let jobs: Int
  let canary: Canary?

  private final class Worker {
    let share: WorkerShare
    let child: PIDFD
    let output: FileDescriptor
    var text = ""
    var current: UInt64?

    init(share: WorkerShare, child: consuming PIDFD, output: consuming FileDescriptor) {
      self.share = share
      self.child = child
      self.output = output
    }
  }

  /// Runs all workers until they exit.
  func run() throws -> SeedTally {
    // The parent process may have set SIGCHLD to be ignored, which would discard the exit status.
    signal(SIGCHLD, SIG_DFL)
    var tally = SeedTally()
    var workers = try (0..<UInt64(jobs)).map {
      try start(WorkerShare(index: $0, count: UInt64(jobs)))
    }
    while !workers.isEmpty {
      for index in try ready(workers).reversed() {
        let worker = workers[index]
        if try read(worker, into: &tally) { continue }
        workers.remove(at: index)
        _ = try worker.child.wait()
        if let seed = worker.current { tally.trapped.append(seed) }
      }
    }
    return tally
  }

  private func start(_ share: WorkerShare) throws -> Worker {
    let (reading, writing) = try FileDescriptor.pipe().ends()
    let output = FileDescriptor(taking: reading)
    let theirs = FileDescriptor(taking: writing)
    var request = SpawnRequest(
      path: "/proc/self/exe", arguments: ["taskctl"] + plan.arguments(share, canary: canary),
      environment: [])
    request.stdio.output = theirs.rawValue
    let child = try HeldChild.spawn(request)
    theirs.close()
    return Worker(share: share, child: try child.releaseAndWaitForExec(), output: output)
  }

  private func ready(_ workers: [Worker]) throws -> [Int] {
    var polls = workers.map { pollfd(fd: $0.output.rawValue, events: Int16(POLLIN), revents: 0) }
    while poll(&polls, nfds_t(polls.count), -1) < 0 {
      guard errno == EINTR else { throw SystemError(call: "poll", errno: errno) }
    }
    return polls.indices.filter { polls[$0].revents != 0 }
  }

  /// Reads a worker's reports; returns false at the end of its output.
  private func read(_ worker: Worker, into tally: inout SeedTally) throws -> Bool {
    let count = try withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { bytes in
      let count = try worker.output.read(into: bytes) ?? 0
      worker.text += String(decoding: bytes[..<count], as: UTF8.self)
      return count
    }
    while let end = worker.text.firstIndex(of: "\n") {
      if let report = WorkerReport(line: worker.text[..<end]) {
        if case .began(let seed) = report { worker.current = seed } else { worker.current = nil }
        tally.add(report)
      }
      worker.text.removeSubrange(...end)
    }
    return count > 0
  }
}
