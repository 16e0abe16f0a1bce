import CLinux
import Glibc

/// Which file a path leads to, whatever the path.
public struct FileIdentity: Hashable, Sendable {
  public let device: UInt64
  public let inode: UInt64

  public init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }

  /// The file at this path; nil where there is none.
  public init?(path: String) { self.init(AT_FDCWD, path) }

  fileprivate init?(_ directory: Int32, _ path: String) {
    var (device, inode): (UInt64, UInt64) = (0, 0)
    guard clinux_file_identity(directory, path, &device, &inode) == 0 else { return nil }
    self.init(device: device, inode: inode)
  }
}

extension ProcFS {
  /// The files at these paths, as we see them and as the machine's first process does: a sandbox
  /// may hide users' folders from us. A link with an absolute target is followed in ours alone:
  /// openat2(2), which could do better, is barred by systemd's RestrictSUIDSGID=.
  func files(at paths: [String]) -> [FileIdentity: String] {
    var found: [FileIdentity: String] = [:]
    for path in paths { if let file = FileIdentity(path: path) { found[file] = path } }
    guard let root = (try? open("1/root", O_RDONLY | O_DIRECTORY)) ?? nil else { return found }
    for path in paths {
      let relative = String(path.drop { $0 == "/" })
      if let file = FileIdentity(root.rawValue, relative) { found[file] = path }
    }
    return found
  }
}

/// A client of a GPU: what one open device file stands for, however often it was handed on.
public struct GPUClient: Hashable, Sendable {
  /// The device: its address on the bus, or the name of its driver.
  public let device: String
  public let id: String
}

/// The open files of processes, as far as the rules of the background ask for them.
///
/// Needs what ptrace(2) needs: the same user, or CAP_SYS_PTRACE. What cannot be seen is left out.
public struct OpenFiles: Sendable {
  private let proc: ProcFS
  /// The process and its descriptors, with what they lead to.
  private let files: [(process: Int32, number: Int32, target: String)]

  public init(of processes: [Int32], in proc: ProcFS) {
    self.proc = proc
    files = processes.flatMap { process in
      (((try? proc.numbers("\(process)/fd")) ?? nil) ?? []).compactMap { number in
        ((try? proc.link("\(process)/fd/\(number)")) ?? nil).map { (process, number, $0) }
      }
    }
  }

  private func info(_ process: Int32, _ number: Int32) -> [UInt8]? {
    ((try? proc.text("\(process)/fdinfo/\(number)")) ?? nil).map { Array($0.utf8) }
  }

  /// The first of some files that one of them has a lock or a lease on.
  ///
  /// The lines `lock:` of fdinfo are asked, not /proc/locks: that names who made a lock of
  /// flock(2), not who holds it by a descriptor that was handed on, and nobody for one of an open
  /// file description (OFD).
  public func firstHeld(of paths: [String]) -> String? {
    let wanted = paths.isEmpty ? [:] : proc.files(at: paths)
    if wanted.isEmpty { return nil }
    for file in files where file.target.utf8.first == UInt8(ascii: "/") {
      guard let info = info(file.process, file.number), FieldLines(info).value("lock") != nil,
        let identity = (try? proc.fileIdentity("\(file.process)/fd/\(file.number)")) ?? nil,
        let path = wanted[identity]
      else { continue }
      return path
    }
    return nil
  }

  /// How long the engines of GPUs have worked for each client, in nanoseconds
  /// (drm-usage-stats of the kernel's documentation).
  public func gpuTimes() -> [GPUClient: UInt64] {
    var times: [GPUClient: UInt64] = [:]
    for file in files where file.target.hasPrefix("/dev/dri/") {
      guard let info = info(file.process, file.number) else { continue }
      let lines = FieldLines(info)
      guard let id = lines.value("drm-client-id"),
        let device = lines.value("drm-pdev") ?? lines.value("drm-driver")
      else { continue }
      times[GPUClient(device: device, id: id)] = Self.engineTime(info)
    }
    return times
  }

  /// The sum of `drm-engine-NAME: N ns`. What a driver says of capacities is no time.
  private static func engineTime(_ info: [UInt8]) -> UInt64 {
    var sum: UInt64 = 0
    for line in info.split(separator: UInt8(ascii: "\n")) {
      let words = String(decoding: line, as: UTF8.self)
        .split(whereSeparator: { $0 == " " || $0 == "\t" })
      guard words.count == 3, words[0].hasPrefix("drm-engine-"), words[2] == "ns",
        !words[0].hasPrefix("drm-engine-capacity-"), let time = UInt64(words[1])
      else { continue }
      sum = sum.addingReportingOverflow(time).overflow ? .max : sum + time
    }
    return sum
  }

  /// The sockets that each process has open, by their inodes.
  func sockets() -> [(process: Int32, inodes: Set<UInt64>)] {
    var sockets: [Int32: Set<UInt64>] = [:]
    for file in files where file.target.hasPrefix("socket:[") {
      guard let inode = UInt64(file.target.dropFirst(8).dropLast()) else { continue }
      sockets[file.process, default: []].insert(inode)
    }
    return sockets.map { ($0.key, $0.value) }.sorted { $0.process < $1.process }
  }
}
