import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("§12: A scan of descriptors, with a simulated /proc")
struct DescriptorScanTests {
  private let root = TemporaryDirectory()
  private let process = ProcessIdentity(pid: 42, startTime: 7)

  init() {
    for folder in ["42", "42/fd", "42/fdinfo", "42/net", "42/ns", "1"] {
      mkdir(root.file(folder), 0o755)
    }
    root.write("42/stat", "42 (a) T 1 2 3 0 -1 0 0 0 0 0 10 5 0 0 20 0 1 0 7")
  }

  private func open(_ number: Int, _ target: String, info: String = "") {
    symlink(target, root.file("42/fd/\(number)"))
    root.write("42/fdinfo/\(number)", "pos:\t0\nflags:\t02\n\(info)")
  }

  private func scan(
    _ change: (inout DescriptorScan) -> Void = { _ in },
    isCancelled: @escaping () -> Bool = { false }
  ) throws -> DescriptorScan.Findings? {
    var scan = DescriptorScan(of: [process])
    change(&scan)
    return scan.run(in: try ProcFS(root: root.path), isCancelled: isCancelled)
  }

  private func listening() throws -> [String] {
    let findings = try #require(try scan { $0.findsListeners = true })
    #expect(findings.isComplete)
    return findings.listening
  }

  private func line(_ number: Int, _ address: String, _ state: String, _ inode: Int) -> String {
    "\(number): \(address) 00000000:0000 \(state) 00000000:00000000 00:00000000 00000000 "
      + "1000 0 \(inode) 1 0000000000000000 100 0 0 10 0\n"
  }

  private let header = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n"
  private let titles = "Num       RefCount Protocol Flags    Type St Inode Path\n"

  @Test("The scan reports listening sockets with address and port, for IPv4 and IPv6")
  func bothKinds() throws {
    for inode in 7...10 { open(inode, "socket:[\(inode)]") }
    root.write(
      "42/net/tcp", header + line(0, "0100007F:0050", "0A", 7) + line(1, "00000000:1F90", "0A", 77))
    root.write(
      "42/net/tcp6",
      header + line(0, "00000000000000000000000001000000:01BB", "0A", 8))
    root.write(
      "42/net/unix",
      titles + "0: 00000002 00000000 00010000 0001 01 9 @name\n"
        + "0: 00000002 00000000 00000000 0001 03 10 /run/not\n"
        + "0: 00000002 00000000 00010000 0001 01 99 /run/others\n")
    #expect(try listening() == ["127.0.0.1:80", "@name", "[::1]:443"])
  }

  @Test("The scan reads only the listening sockets at the start of a long TCP table")
  func long() throws {
    open(3, "socket:[7]")
    open(4, "socket:[8]")
    let others = (1...1000).map { line($0, "0100007F:0051", "01", 1000 + $0) }.joined()
    // The kernel lists listening sockets before all others, so the scan need not reach the last
    // line. If it did, it would also return the address in this line.
    let last = line(1001, "0100007F:0052", "0A", 8)
    root.write("42/net/tcp", header + line(0, "0100007F:0050", "0A", 7) + others + last)
    #expect(try listening() == ["127.0.0.1:80"])
  }

  @Test("A forged line in the table of Unix sockets does not hide a listening socket")
  func forgedLine() throws {
    open(3, "socket:[9]")
    let forged = "0: 00000002 00000000 00000000 0001 03 9 /run/connected\n"
    let real = "0: 00000002 00000000 00010000 0001 01 9 /run/listens\n"
    for lines in [forged + real, real + forged] {
      root.write("42/net/unix", titles + lines)
      #expect(try listening() == ["/run/listens"])
    }
  }

  @Test("A scan that exceeds its budget of descriptors ends, and says that it is not complete")
  func budget() throws {
    for number in 3..<203 { open(number, "socket:[\(number)]") }
    let findings = try #require(try scan { $0.budget.descriptors = 100 })
    #expect(!findings.isComplete)
    #expect((100..<200).contains(findings.examinedCount), "\(findings.examinedCount)")
    let whole = try #require(try scan { $0.budget.descriptors = 10_000 })
    #expect(whole.isComplete && whole.examinedCount == 200)
  }

  @Test("A scan that exceeds its budget of CPU time ends, and says that it is not complete")
  func time() throws {
    for number in 3..<203 { open(number, "socket:[\(number)]") }
    let findings = try #require(try scan { $0.budget.processorTime = .zero })
    #expect(!findings.isComplete && findings.examinedCount == 0)
  }

  @Test("A cancelled scan ends without findings")
  func cancelled() throws {
    for number in 3..<303 { open(number, "socket:[\(number)]") }
    var asked = 0
    let findings = try scan(isCancelled: {
      asked += 1
      return asked > 2
    })
    #expect(findings == nil && asked == 3)
  }

  @Test("The scan does not examine another process that reuses the pid")
  func reused() throws {
    open(3, "socket:[9]")
    root.write("42/stat", "42 (b) T 1 2 3 0 -1 0 0 0 0 0 10 5 0 0 20 0 1 0 8")
    let findings = try #require(try scan())
    #expect(findings.isComplete && findings.examinedCount == 0)
  }

  @Test("The scan recognizes a shared file even if a sandbox hides its path from the daemon")
  func hidden() throws {
    let home = root.file("1/root/home")
    for folder in ["1/root", "1/root/home"] { mkdir(root.file(folder), 0o755) }
    root.write("1/root/home/contacts.db", "")
    symlink("home/contacts.db", root.file("1/root/link.db"))
    open(3, "\(home)/contacts.db", info: "lock:\t1: FLOCK  ADVISORY  WRITE 42 00:13:1 0 EOF\n")
    func held(_ paths: [String]) throws -> String? {
      try #require(try scan { $0.sharedPaths = paths }).heldPath
    }
    for path in ["/home/contacts.db", "/link.db"] {
      #expect(try held(["/home/none", path]) == path)
    }
    #expect(try held(["/home/other.db"]) == nil)
    unlink(root.file("42/fdinfo/3"))
    root.write("42/fdinfo/3", "pos:\t0\n")
    #expect(try held(["/home/contacts.db"]) == nil, "the descriptor has no lock")
  }

  @Test("A later scan reads the known GPU descriptors without examining the other descriptors")
  func knownGPUFiles() throws {
    open(3, "/dev/dri/renderD128", info: "drm-driver:\txe\ndrm-client-id:\t5\ndrm-cycles-rcs:\t9\n")
    open(4, "/dev/null")
    let first = try #require(try scan { $0.findsGPUs = true })
    #expect(first.gpuFiles.map(\.number) == [3])
    let again = try #require(
      try scan {
        $0.processes = []
        $0.findsGPUs = true
        $0.knownGPUFiles = first.gpuFiles
      })
    #expect(again.gpus == first.gpus && again.examinedCount == 0)
    #expect(again.gpus[GPUClient(device: "xe", id: "5")]?["rcs"]?.cycles == 9)
  }
}

@Suite("§12: A scan of this process's own descriptors")
struct OwnDescriptorScanTests {
  private func listening() throws -> [String] {
    let proc = try ProcFS()
    var scan = DescriptorScan(of: [try #require(try proc.identity(getpid()))])
    scan.findsListeners = true
    return try #require(scan.run(in: proc, SocketDiagnosis(in: proc))).listening
  }

  private func bound(_ name: String) throws -> FileDescriptor {
    let socket = FileDescriptor(taking: Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = [0] + Array(name.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let number = socket.rawValue
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, length) }
    }
    try #require(result == 0)
    return socket
  }

  @Test("A Unix socket's name with a line end forges no listener, because sock_diag reports names")
  func forgedName() throws {
    let connected = try bound("taskschedd-\(getpid())-quiet")
    var status = stat()
    try #require(fstat(connected.rawValue, &status) == 0)
    let line = "0: 00000002 00000000 00010000 0001 01 \(status.st_ino) /run/forged"
    let forging = try bound("a\n\(line)\n")
    #expect(forging.rawValue >= 0)
    #expect(try !listening().contains { $0.contains("/run/forged") })
    let listener = try bound("taskschedd-\(getpid())-listens\nx")
    try #require(listen(listener.rawValue, 1) == 0)
    #expect(try listening().contains("@taskschedd-\(getpid())-listens\nx"))
  }

  @Test("sock_diag reports a listening TCP socket with its address")
  func internet() throws {
    for (family, text) in [(AF_INET, "0.0.0.0:"), (AF_INET6, "[::]:")] {
      let socket = FileDescriptor(taking: Glibc.socket(family, Int32(SOCK_STREAM.rawValue), 0))
      // If the socket has no address, listen(2) chooses a port.
      try #require(listen(socket.rawValue, 1) == 0)
      #expect(try listening().contains { $0.hasPrefix(text) })
    }
  }
}
