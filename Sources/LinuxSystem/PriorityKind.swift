import CLinux
import Glibc

/// A setting of the kernel's schedulers that gives processes more or less of a resource. Its value
/// is a number.
public enum PriorityKind: String, Hashable, Sendable, CaseIterable {
  // Settings of a thread. The children of the thread inherit them, except those that
  // SCHED_RESET_ON_FORK resets.

  /// The nice value, -20 to 19.
  case nice
  /// The value of ioprio_set(2), with the class in the bits from 13 on.
  case ioPriority
  /// The policy, with SCHED_RESET_ON_FORK as 256 and the real-time priority from bit 16 on.
  case policy

  // Settings of a process.

  /// oom_score_adj, -1000 to 1000.
  case outOfMemoryScore
  /// The nice value of the session's autogroup. The kernel uses it to divide CPU time between
  /// sessions.
  case autogroup

  // Settings of a control group.

  /// cpu.weight, 1 to 10000.
  case processorWeight
  /// The default of io.weight, 1 to 10000.
  case ioWeight
  /// cpu.max: the quota in microseconds from bit 32 on, `UInt32.max` for no limit, and the period
  /// in the low bits.
  case processorLimit

  public static let ofThreads: [PriorityKind] = [.nice, .ioPriority, .policy]
}

/// A priority that the daemon lowered, with its values before and after.
public struct LoweredPriority: Hashable, Sendable {
  /// The id and the start time of the thread, or of the process for a setting of a process.
  public var thread: ProcessIdentity
  /// The process of the thread.
  public var process: Int32
  public var kind: PriorityKind
  /// The control group, for a setting of a control group.
  public var group: ControlGroup?
  public var before: Int
  public var after: Int

  public init(
    thread: ProcessIdentity, process: Int32, group: ControlGroup? = nil, kind: PriorityKind,
    before: Int, after: Int
  ) {
    self.thread = thread
    self.process = process
    self.group = group
    self.kind = kind
    self.before = before
    self.after = after
  }
}

/// The scheduling of a thread.
public struct ThreadPriority: Hashable, Sendable {
  public var nice: Int
  public var ioPriority: Int
  /// The policy, in the form of ``PriorityKind/policy``.
  public var policy: Int

  /// Returns the value of a setting; nil if it is not a setting of threads.
  public subscript(kind: PriorityKind) -> Int? {
    switch kind {
    case .nice: nice
    case .ioPriority: ioPriority
    case .policy: policy
    case .outOfMemoryScore, .autogroup, .processorWeight, .ioWeight, .processorLimit: nil
    }
  }

  /// Reads the scheduling of a thread; nil if the thread does not exist.
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

  /// Returns whether a policy is SCHED_FIFO or SCHED_RR.
  public static func isRealTime(policy: Int) -> Bool { [1, 2].contains(policy & 0xff) }

  /// Returns the policy SCHED_OTHER, with SCHED_RESET_ON_FORK if `policy` has this flag.
  public static func ordinary(policy: Int) -> Int { policy & 0x100 }

  /// The lowest priority of the class best effort.
  public static let ioPriorityLast = 2 << 13 | 7

  /// Returns whether an I/O priority is higher than ``ioPriorityLast``. The class idle (3) is
  /// lower.
  public static func isAboveLast(ioPriority: Int) -> Bool {
    ioPriority >> 13 != 3 && ioPriority != ioPriorityLast
  }
}

/// The priorities that a process may set without privileges (setrlimit(2)).
public struct PriorityLimits: Hashable, Sendable {
  public var niceMin: Int
  public var realTimeMax: Int

  public init(niceMin: Int, realTimeMax: Int) {
    self.niceMin = niceMin
    self.realTimeMax = realTimeMax
  }

  /// Reads the limits of a process; nil if the process does not exist, or if the caller has no
  /// permission to read them.
  public init?(of process: Int32) {
    var (nice, realTime): (UInt64, UInt64) = (0, 0)
    guard clinux_priority_limits(process, &nice, &realTime) == 0 else { return nil }
    niceMin = 20 - Int(clamping: min(nice, 40))
    realTimeMax = Int(clamping: min(realTime, 99))
  }
}

extension ProcFS {
  /// Reads a setting; nil if the thread, process or control group does not exist or lacks the
  /// setting.
  public func value(
    of kind: PriorityKind, thread: Int32, process: Int32, group: ControlGroup?
  ) throws(SystemError) -> Int? {
    switch kind {
    case .nice, .ioPriority, .policy: return try ThreadPriority(of: thread)?[kind]
    case .outOfMemoryScore: return try text("\(process)/oom_score_adj").flatMap { Int($0) }
    case .autogroup:
      // The file contains a line such as `/autogroup-12 nice 0`.
      return try text("\(process)/autogroup")?.split(separator: " ").last.flatMap { Int($0) }
    case .processorWeight: return try group?.weight("cpu.weight")
    case .ioWeight: return try group?.weight("io.weight")
    case .processorLimit: return try group?.processorLimit()
    }
  }

  /// Sets a value. Does nothing if the thread, process or control group does not exist.
  ///
  /// - Throws: EPERM or EACCES without the permission. EAGAIN for an autogroup: without
  ///   CAP_SYS_ADMIN, the kernel accepts one change in 100 ms.
  public func set(
    _ kind: PriorityKind, to value: Int, thread: Int32, process: Int32, group: ControlGroup?
  ) throws(SystemError) {
    let number = Int32(truncatingIfNeeded: value)
    switch kind {
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

  /// Whether the kernel divides CPU time between sessions first, and then between the threads of
  /// each session (sched(7)).
  public var usesAutogroups: Bool {
    ((try? text("sys/kernel/sched_autogroup_enabled")) ?? nil) == "1"
  }
}

extension ControlGroup {
  /// Returns a weight; nil if the controller is missing or this process has no permission to set
  /// the weight.
  fileprivate func weight(_ file: String) throws(SystemError) -> Int? {
    guard faccessat(AT_FDCWD, "\(path)/\(file)", W_OK, AT_EACCESS) == 0 else { return nil }
    let bytes = try FileDescriptor.open(reading: "\(path)/\(file)").readToEnd()
    // The file contains `default 100` and then a line for each device, or only the number.
    let line = bytes.split(separator: UInt8(ascii: "\n")).first ?? []
    return line.split(separator: UInt8(ascii: " ")).last.flatMap {
      Int(String(decoding: $0, as: UTF8.self))
    }
  }

  fileprivate func setWeight(_ file: String, _ text: String) throws(SystemError) {
    if exists { try write(text, to: file) }
  }

  /// Returns cpu.max; nil if the controller is missing or this process has no permission to set it.
  fileprivate func processorLimit() throws(SystemError) -> Int? {
    guard faccessat(AT_FDCWD, "\(path)/cpu.max", W_OK, AT_EACCESS) == 0 else { return nil }
    let bytes = try FileDescriptor.open(reading: "\(path)/cpu.max").readToEnd()
    let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: { " \n".contains($0) })
    guard words.count == 2, let period = UInt32(words[1]) else { return nil }
    guard let quota = words[0] == "max" ? .max : UInt32(words[0]) else { return nil }
    return Int(quota) << 32 | Int(period)
  }
}

extension PriorityKind {
  /// Returns the value of ``processorLimit`` that allows this percentage of one CPU.
  public static func limit(percent: Int) -> Int { percent * 1000 << 32 | 100_000 }
}

extension ProcFS {
  /// Whether this process has CAP_SYS_NICE, with which it may raise every priority again.
  public var mayRaisePriorities: Bool { has(capability: 23) }

  /// Whether this process has CAP_SYS_RESOURCE, with which it may exceed limits of the kernel.
  public var mayExceedLimits: Bool { has(capability: 24) }

  /// Returns whether this process has a capability, by its number (capabilities(7)).
  private func has(capability: Int) -> Bool {
    guard let status = (try? text("self/status")) ?? nil,
      let set = KeyValueLines(Array(status.utf8)).value("CapEff").flatMap({ UInt64($0, radix: 16) })
    else { return false }
    return set & 1 << capability != 0
  }
}
