import CLinux
import Glibc

/// A scan of the open files of processes, at a limited cost.
///
/// A process and each of its children may have a million descriptors, and the examination of one
/// descriptor takes microseconds. A scan therefore has a budget, and its findings report whether
/// the budget was sufficient. The scan does not wait for processes or file servers, and may run on
/// any thread.
///
/// The caller must run as the user of the processes or have CAP_SYS_PTRACE, as for ptrace(2).
public struct DescriptorScan: Sendable {
  /// The processes, in the order of their examination. A process that has ended is skipped.
  public var processes: [ProcessIdentity]
  /// The files on which the scan finds locks and leases.
  public var sharedPaths: [String] = []
  /// Whether the scan finds listening sockets.
  public var findsListeners = false
  /// Returns whether a server or a sound device is wanted. The argument is the name of the server's
  /// Unix socket, or the path of the sound device. If this property is set, the scan finds the
  /// wanted servers to which the processes are connected, and the wanted sound devices that the
  /// processes have open.
  public var isServer: (@Sendable (String) -> Bool)?
  /// Whether the scan finds only servers for which the kernel proves a connection. If false, the
  /// scan also finds servers that a process in another network namespace may be connected to.
  public var provesConnections = false
  /// Whether the scan finds the controlling terminals of the processes.
  public var findsTerminals = false
  /// Whether the scan finds GPU devices.
  public var findsGPUs = false
  /// Descriptors of GPU devices that an earlier scan found. This scan examines them first.
  public var knownGPUFiles: [GPUFile] = []
  public var budget = Budget()

  /// The budget of a scan.
  public struct Budget: Hashable, Sendable {
    /// The maximum number of descriptors.
    public var descriptors = 262_144
    /// The maximum CPU time of the scan. In addition, the search for listening sockets may use half
    /// of this time.
    public var processorTime: Duration = .milliseconds(500)

    public init() {}
  }

  /// The findings of a scan.
  public struct Findings: Sendable {
    /// The engines that each client of a GPU uses.
    public var gpus: [GPUClient: [String: GPUEngine]] = [:]
    /// The descriptors of GPU devices, at most 256.
    public var gpuFiles: [GPUFile] = []
    /// The first shared file on which a process has a lock or a lease.
    public var heldPath: String?
    /// The addresses of listening sockets, sorted: `127.0.0.1:80`, `[::1]:80`, `/run/x`, `@name`.
    public var listening: [String] = []
    /// The wanted servers to which the processes are connected, and the wanted sound devices that
    /// the processes have open, sorted.
    public var servers: [String] = []
    /// Whether `servers` contains all wanted servers.
    public var hasAllServers = true
    /// The controlling terminals of the processes.
    public var terminals: Set<TerminalDevice> = []
    /// The number of examined descriptors.
    public var examinedCount = 0
    /// Whether all descriptors of all processes were examined.
    public var isComplete = true
    /// The CPU time that the scan took.
    public var processorTime: Duration = .zero

    public init() {}
  }

  public init(of processes: [ProcessIdentity]) {
    self.processes = processes
  }

  /// Runs the scan.
  ///
  /// - Parameters:
  ///   - diagnosis: The kernel's report of sockets. Without this report, and for processes in
  ///     another network namespace, the scan reads tables in /proc. Programs can forge lines of
  ///     these tables.
  ///   - isCancelled: A function that the scan calls repeatedly. The scan ends when the function
  ///     returns true.
  /// - Returns: nil if the scan was cancelled.
  public func run(
    in proc: ProcFS, _ diagnosis: SocketDiagnosis? = nil,
    isCancelled: @escaping () -> Bool = { false }
  ) -> Findings? {
    let start = ThreadClock.now()
    let walk = DescriptorWalk(self, proc, isCancelled)
    for file in knownGPUFiles { walk.examine(file) }
    for process in processes where walk.end == nil { walk.examine(process) }
    if walk.end == .cancelled { return nil }
    var findings = walk.findings
    if findsListeners {
      var search = ListenerSearch(
        walk.sockets, in: proc, diagnosis,
        until: ThreadClock.now() + budget.processorTime.nanoseconds / 2)
      findings.listening = search.addresses()
      if !search.isComplete { findings.isComplete = false }
    }
    if let isServer {
      let search = ServerSearch(
        walk.sockets, in: proc, diagnosis, isStrict: provesConnections, isServer)
      findings.servers = walk.soundDevices.union(search.servers).sorted()
      findings.hasAllServers = search.isComplete && walk.findings.isComplete
    }
    findings.processorTime = .nanoseconds(Int64(clamping: ThreadClock.now() - start))
    return findings
  }
}

/// A scan in progress.
private final class DescriptorWalk {
  enum End { case budget, cancelled }

  private let scan: DescriptorScan
  private let proc: ProcFS
  private let isCancelled: () -> Bool
  private let shared: [FileIdentity: String]
  private let limit: UInt64
  private(set) var findings = DescriptorScan.Findings()
  private(set) var sockets = SocketsByNetwork()
  private(set) var soundDevices: Set<String> = []
  /// The reason why the scan ended early; nil if the scan still runs or has examined everything.
  private(set) var end: End?
  private var target = [UInt8](repeating: 0, count: 4096)

  /// The number of descriptors between two readings of the clock.
  private static let stride = 64
  private static let gpuFilesMax = 256

  init(_ scan: DescriptorScan, _ proc: ProcFS, _ isCancelled: @escaping () -> Bool) {
    self.scan = scan
    self.proc = proc
    self.isCancelled = isCancelled
    shared = scan.sharedPaths.isEmpty ? [:] : proc.files(at: scan.sharedPaths)
    limit = ThreadClock.now() + scan.budget.processorTime.nanoseconds
  }

  private var wantsSockets: Bool { scan.findsListeners || scan.isServer != nil }

  /// Examines all descriptors of a process.
  func examine(_ process: ProcessIdentity) {
    if isOver { return }
    do throws(SystemError) {
      guard let folders = try ProcessDirectories(of: process, in: proc) else { return }
      if scan.findsTerminals, let terminal = try proc.stat(process.pid)?.terminal {
        findings.terminals.insert(terminal)
      }
      var network: String?
      if wantsSockets { network = ((try? proc.link("\(process.pid)/ns/net")) ?? nil) ?? "" }
      try folders.forEachDescriptor { number in
        if findings.examinedCount % Self.stride == 0, isOver { return false }
        findings.examinedCount += 1
        examine(number, of: process, folders, network)
        return true
      }
    } catch {
      findings.isComplete = false
    }
  }

  /// Examines a descriptor that was open on a GPU device in an earlier scan.
  func examine(_ file: GPUFile) {
    guard let folders = try? ProcessDirectories(of: file.process, in: proc) else { return }
    examine(file.number, of: file.process, folders, nil)
  }

  private var isOver: Bool {
    if end != nil { return true }
    if isCancelled() {
      end = .cancelled
    } else if findings.examinedCount >= scan.budget.descriptors || ThreadClock.now() >= limit {
      end = .budget
      findings.isComplete = false
    }
    return end != nil
  }

  private func examine(
    _ number: Int32, of process: ProcessIdentity, _ folders: borrowing ProcessDirectories,
    _ network: String?
  ) {
    let count = folders.target(of: number, into: &target)
    guard count > 0 else { return }
    let bytes = target[..<count]
    if bytes.first == UInt8(ascii: "/") {
      examineFile(number, of: process, folders, bytes)
    } else if let network, bytes.starts(with: "socket:[".utf8),
      let inode = UInt64(String(decoding: bytes.dropFirst(8).dropLast(), as: UTF8.self)) {
      sockets.add(inode, of: process.pid, network)
    }
  }

  private func examineFile(
    _ number: Int32, of process: ProcessIdentity, _ folders: borrowing ProcessDirectories,
    _ path: ArraySlice<UInt8>
  ) {
    if let isServer = scan.isServer, path.starts(with: "/dev/snd/".utf8) {
      let name = String(decoding: path, as: UTF8.self)
      if isServer(name) { soundDevices.insert(name) }
    }
    guard scan.findsGPUs || !shared.isEmpty else { return }
    let facts = folders.facts(of: number)
    if scan.findsGPUs, facts?.isGPU ?? false || path.starts(with: "/dev/dri/".utf8) {
      note(GPUFile(process: process, number: number), folders.info(of: number))
    }
    if findings.heldPath == nil, let facts, let shared = shared[facts.identity],
      let info = folders.info(of: number), KeyValueLines(info).value("lock") != nil
    {
      findings.heldPath = shared
    }
  }

  private func note(_ file: GPUFile, _ info: [UInt8]?) {
    if findings.gpuFiles.count < Self.gpuFilesMax, !findings.gpuFiles.contains(file) {
      findings.gpuFiles.append(file)
    }
    guard let info, let client = GPUClient(info) else { return }
    findings.gpus[client] = GPUEngine.all(in: info)
  }
}

/// The directory /proc/PID of a process. It never becomes the directory of another process.
struct ProcessDirectories: ~Copyable {
  private let process: FileDescriptor
  private let descriptors: FileDescriptor

  /// Opens the directories of a process.
  ///
  /// - Returns: nil if the process has ended.
  /// - Throws: EACCES, EMFILE.
  init?(of identity: ProcessIdentity, in proc: ProcFS) throws(SystemError) {
    // An open directory of /proc never shows another process with the same pid. The start time,
    // read afterwards, identifies the process.
    guard let process = try proc.open("\(identity.pid)", O_RDONLY | O_DIRECTORY),
      try proc.identity(identity.pid) == identity
    else { return nil }
    let folder = process.rawValue
    let number = try check("openat fd", nilFor: ENOENT, ESRCH) {
      clinux_open_at(folder, "fd", O_RDONLY | O_DIRECTORY)
    }
    guard let number else { return nil }
    self.process = process
    descriptors = FileDescriptor(taking: number)
  }

  /// Calls `body` with the number of each descriptor of the process, until `body` returns false.
  borrowing func forEachDescriptor(_ body: (Int32) -> Bool) throws(SystemError) {
    let folder = descriptors.rawValue
    var buffer = [UInt8](repeating: 0, count: 16_384)
    var numbers: [Int32] = []
    while true {
      let count = try check("getdents64", nilFor: ENOENT, ESRCH) {
        buffer.withUnsafeMutableBytes { clinux_getdents(folder, $0.baseAddress, $0.count) }
      }
      guard let count, count > 0 else { return }
      numbers.removeAll(keepingCapacity: true)
      buffer.withUnsafeBytes {
        ProcFS.appendNumbers(UnsafeRawBufferPointer(rebasing: $0[..<count]), to: &numbers)
      }
      for number in numbers where !body(number) { return }
    }
  }

  /// Reads the target of a descriptor's link in /proc/PID/fd. Returns its length, or -1.
  borrowing func target(of number: Int32, into bytes: inout [UInt8]) -> Int {
    let folder = descriptors.rawValue
    return ProcPath.withName(of: number) { name in
      bytes.withUnsafeMutableBytes {
        readlinkat(folder, name, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
      }
    }
  }

  /// Returns the identity of a descriptor's file, and whether the file is a GPU device; nil if the
  /// descriptor is closed.
  borrowing func facts(of number: Int32) -> (identity: FileIdentity, isGPU: Bool)? {
    let folder = descriptors.rawValue
    var (device, inode, major): (UInt64, UInt64, UInt32) = (0, 0, 0)
    let result = ProcPath.withName(of: number) {
      clinux_device_identity(folder, $0, &device, &inode, &major)
    }
    // DRM_MAJOR of linux/drm.h.
    return result == 0 ? (FileIdentity(device: device, inode: inode), major == 226) : nil
  }

  /// Reads /proc/PID/fdinfo of a descriptor; nil if the descriptor is closed.
  borrowing func info(of number: Int32) -> [UInt8]? {
    let folder = process.rawValue
    guard
      let file = try? check("openat", { clinux_open_at(folder, "fdinfo/\(number)", O_RDONLY) })
    else { return nil }
    return try? FileDescriptor(taking: file).readToEnd()
  }
}

extension Duration {
  /// The duration in nanoseconds; 0 for a negative duration.
  var nanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }
}
