import CLinux
import Glibc

/// By what the kernel is told whom to favour. Each has a value that is a number.
public enum PriorityLever: String, Hashable, Sendable, CaseIterable {
  // Of one thread, inherited by what it makes.

  /// -20 to 19.
  case nice
  /// As ioprio_set(2) has it: the class in the bits from 13 on.
  case ioPriority
  /// The policy, with SCHED_RESET_ON_FORK as 256 and the real-time priority from bit 16 on.
  case policy

  // Of one process.

  /// oom_score_adj, -1000 to 1000.
  case outOfMemoryScore
  /// The nice value of the session's autogroup, in which its threads compete with other sessions.
  case autogroup

  // Of one control group.

  /// cpu.weight, 1 to 10000.
  case processorWeight
  /// The default of io.weight, 1 to 10000.
  case ioWeight
  /// cpu.max: the microseconds in each period from bit 32 on, `UInt32.max` for as many as there
  /// are, and the period.
  case processorLimit

  public static let ofThreads: [PriorityLever] = [.nice, .ioPriority, .policy]
}

/// One priority that was lowered.
public struct LoweredPriority: Hashable, Sendable {
  /// The id of the thread and when that began; of a lever of processes, the process.
  public var thread: ProcessIdentity
  /// The thread's process.
  public var process: Int32
  /// The control group that is concerned instead.
  public var group: ControlGroup?
  public var lever: PriorityLever
  public var before: Int
  public var after: Int

  public init(
    thread: ProcessIdentity, process: Int32, group: ControlGroup? = nil, lever: PriorityLever,
    before: Int, after: Int
  ) {
    self.thread = thread
    self.process = process
    self.group = group
    self.lever = lever
    self.before = before
    self.after = after
  }
}

/// How one thread is scheduled.
public struct ThreadPriority: Hashable, Sendable {
  public var nice: Int
  public var ioPriority: Int
  /// As ``PriorityLever/policy`` has it.
  public var policy: Int

  /// The value of a lever of threads.
  public subscript(lever: PriorityLever) -> Int? {
    switch lever {
    case .nice: nice
    case .ioPriority: ioPriority
    case .policy: policy
    case .outOfMemoryScore, .autogroup, .processorWeight, .ioWeight, .processorLimit: nil
    }
  }

  /// - Returns: nil where there is no such thread.
  public init?(of thread: Int32) throws(SystemError) {
    var priority = clinux_priority()
    guard try check("getpriority", nilFor: ESRCH, body: { clinux_get_priority(thread, &priority) })
      != nil
    else { return nil }
    nice = Int(priority.nice)
    ioPriority = Int(priority.io)
    policy = Int(priority.policy) | Int(priority.resets_on_fork) << 8
      | Int(priority.real_time) << 16
  }

  /// Whether a policy is SCHED_FIFO or SCHED_RR.
  public static func isRealTime(policy: Int) -> Bool { [1, 2].contains(policy & 0xff) }

  /// SCHED_OTHER in place of a policy of real time.
  public static func ordinary(policy: Int) -> Int { policy & 0x100 }

  /// Best effort, and there the last.
  public static let ioPriorityLast = 2 << 13 | 7

  /// Whether an I/O priority comes before that; the class idle (3) does not.
  public static func isAboveLast(ioPriority: Int) -> Bool {
    ioPriority >> 13 != 3 && ioPriority != ioPriorityLast
  }
}

/// What a process may raise its priorities to without privileges (setrlimit(2)).
public struct PriorityLimits: Hashable, Sendable {
  public var niceMin: Int
  public var realTimeMax: Int

  public init(niceMin: Int, realTimeMax: Int) {
    self.niceMin = niceMin
    self.realTimeMax = realTimeMax
  }

  /// - Returns: nil where there is no such process, or it may not be asked.
  public init?(of process: Int32) {
    var (nice, realTime): (UInt64, UInt64) = (0, 0)
    guard clinux_priority_limits(process, &nice, &realTime) == 0 else { return nil }
    niceMin = 20 - Int(clamping: min(nice, 40))
    realTimeMax = Int(clamping: min(realTime, 99))
  }
}

extension ProcFS {
  /// Reads a lever; nil where what it is of is gone, or has no such lever.
  public func value(
    of lever: PriorityLever, thread: Int32, process: Int32, group: ControlGroup?
  ) throws(SystemError) -> Int? {
    switch lever {
    case .nice, .ioPriority, .policy: return try ThreadPriority(of: thread)?[lever]
    case .outOfMemoryScore: return try text("\(process)/oom_score_adj").flatMap { Int($0) }
    case .autogroup:
      // `/autogroup-12 nice 0`.
      return try text("\(process)/autogroup")?.split(separator: " ").last.flatMap { Int($0) }
    case .processorWeight: return try group?.weight("cpu.weight")
    case .ioWeight: return try group?.weight("io.weight")
    case .processorLimit: return try group?.processorLimit()
    }
  }

  /// Sets a lever; whoever is gone is left alone.
  ///
  /// - Throws: EPERM or EACCES without the right; EAGAIN for an autogroup, of which without
  ///   CAP_SYS_ADMIN one may be set in 100 ms.
  public func set(
    _ lever: PriorityLever, to value: Int, thread: Int32, process: Int32, group: ControlGroup?
  ) throws(SystemError) {
    let number = Int32(truncatingIfNeeded: value)
    switch lever {
    case .nice:
      try check("setpriority", nilFor: ESRCH) { clinux_set_nice(thread, number) }
    case .ioPriority:
      try check("ioprio_set", nilFor: ESRCH) { clinux_set_io_priority(thread, number) }
    case .policy:
      try check("sched_setattr", nilFor: ESRCH) {
        clinux_set_policy(thread, number & 0xff, number & 0x100, number >> 16)
      }
    case .outOfMemoryScore: try write("\(value)", to: "\(process)/oom_score_adj")
    case .autogroup: try write("\(value)", to: "\(process)/autogroup")
    case .processorWeight: try group?.setWeight("cpu.weight", "\(value)")
    case .ioWeight: try group?.setWeight("io.weight", "default \(value)")
    case .processorLimit:
      let quota = value >> 32
      try group?.setWeight(
        "cpu.max", "\(quota == UInt32.max ? "max" : "\(quota)") \(value & 0xffff_ffff)")
    }
  }

  /// Whether sessions compete with one another before their threads do (sched(7)).
  public var usesAutogroups: Bool {
    ((try? text("sys/kernel/sched_autogroup_enabled")) ?? nil) == "1"
  }
}

extension ControlGroup {
  /// A weight, where the controller is there and we may set it.
  fileprivate func weight(_ file: String) throws(SystemError) -> Int? {
    guard faccessat(AT_FDCWD, "\(path)/\(file)", W_OK, AT_EACCESS) == 0 else { return nil }
    let bytes = try FileDescriptor.open(reading: "\(path)/\(file)").readToEnd()
    // `default 100` and then lines of devices, or the number alone.
    let line = bytes.split(separator: UInt8(ascii: "\n")).first ?? []
    return line.split(separator: UInt8(ascii: " ")).last.flatMap {
      Int(String(decoding: $0, as: UTF8.self))
    }
  }

  fileprivate func setWeight(_ file: String, _ text: String) throws(SystemError) {
    if exists { try write(text, to: file) }
  }

  /// cpu.max, where we may set it.
  fileprivate func processorLimit() throws(SystemError) -> Int? {
    guard faccessat(AT_FDCWD, "\(path)/cpu.max", W_OK, AT_EACCESS) == 0 else { return nil }
    let bytes = try FileDescriptor.open(reading: "\(path)/cpu.max").readToEnd()
    let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: { " \n".contains($0) })
    guard words.count == 2, let period = UInt32(words[1]) else { return nil }
    guard let quota = words[0] == "max" ? .max : UInt32(words[0]) else { return nil }
    return Int(quota) << 32 | Int(period)
  }
}

extension PriorityLever {
  /// The value of ``processorLimit`` that leaves so many hundredths of one processor.
  public static func limit(percent: Int) -> Int { percent * 1000 << 32 | 100_000 }
}

extension ProcFS {
  /// Whether we have CAP_SYS_NICE, with which every priority may be raised again.
  public var mayRaisePriorities: Bool { has(capability: 23) }

  /// Whether we have CAP_SYS_RESOURCE, with which limits of the kernel's may be exceeded.
  public var mayExceedLimits: Bool { has(capability: 24) }

  /// Whether we have a capability, by its number (capabilities(7)).
  private func has(capability: Int) -> Bool {
    guard let status = (try? text("self/status")) ?? nil,
      let set = FieldLines(Array(status.utf8)).value("CapEff").flatMap({ UInt64($0, radix: 16) })
    else { return false }
    return set & 1 << capability != 0
  }
}
