import Glibc
import LinuxSystem
import Synchronization

/// The real gpsd, and the socket through which the daemon connects to it. The test is the receiver:
/// it sends NMEA sentences to gpsd by UDP. When the value is destroyed, gpsd, the proxy and the
/// socket end.
///
/// The proxy is systemd-socket-proxyd, which also connects taskschedd-gpsd.socket to gpsd. It needs
/// no running systemd. When gpsd ends, the proxy keeps running.
public final class GPSDService: Sendable {
  /// The path of the socket.
  public let path: String
  private let directory: TemporaryDirectory
  private let port: in_port_t
  private let receiver: Datagrams
  private let proxy: Mutex<GuardedProcess?>
  private let gpsd: Mutex<GuardedProcess?>

  private static let program = "/usr/sbin/gpsd"
  private static let proxyProgram = "/usr/lib/systemd/systemd-socket-proxyd"

  /// The reason why this machine cannot run gpsd; nil if it can.
  public static let missing: String? = {
    for path in [program, proxyProgram] where access(path, X_OK) != 0 {
      return "there is no \(path); `make test-setup` installs it"
    }
    return nil
  }()

  /// Starts gpsd and the proxy, and waits until both listen.
  ///
  /// - Parameter path: the path of the socket, in an existing directory; nil for a new directory.
  public init(path: String? = nil) throws {
    directory = TemporaryDirectory(mode: 0o755)
    self.path = path ?? directory.file("gpsd")
    port = try Self.freePort(SOCK_STREAM)
    receiver = try Datagrams(port: Self.freePort(SOCK_DGRAM))
    gpsd = Mutex(nil)
    proxy = Mutex(nil)
    try start()
    try startProxy()
  }

  /// Starts gpsd, and waits until it listens.
  public func start() throws {
    let process = try GuardedProcess([
      Self.program, "-N", "-n", "-S", "\(port)", "-F", directory.file("control"),
      "udp://127.0.0.1:\(receiver.port)",
    ])
    gpsd.withLock { $0 = process }
    try waitUntilListening()
  }

  /// Ends gpsd. The proxy continues to listen.
  public func end() { gpsd.withLock { $0 = nil } }

  /// Stops gpsd with SIGSTOP, or resumes it.
  public func setStopped(_ isStopped: Bool) {
    gpsd.withLock { $0?.send(signal: isStopped ? SIGSTOP : SIGCONT) }
  }

  /// Starts the proxy, and waits until the socket accepts connections.
  public func startProxy() throws {
    let process = try GuardedProcess(
      listeningAt: path, [Self.proxyProgram, "127.0.0.1:\(port)"])
    proxy.withLock { $0 = process }
  }

  /// Ends the proxy, and removes the socket, as systemd does when it stops the socket unit.
  public func endProxy() throws {
    proxy.withLock { $0 = nil }
    try UnixSocket.unlink(path: path)
  }

  /// Sends gpsd a position, as a receiver does each second.
  ///
  /// - Parameters:
  ///   - latitude: in degrees, positive north of the equator.
  ///   - longitude: in degrees, positive east of Greenwich.
  ///   - second: the time, in seconds after 2026-11-26T12:00:00Z; at most 3599. Each position needs
  ///     a different time.
  public func send(latitude: Double, longitude: Double, second: Int) throws {
    func digits(_ number: Int, _ count: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    // An angle in NMEA consists of whole degrees, and of minutes with four decimal places.
    func angle(_ degrees: Double, _ count: Int, _ signs: (String, String)) -> String {
      let tenThousandths = Int((degrees.magnitude * 600_000).rounded())
      let (whole, rest) = tenThousandths.quotientAndRemainder(dividingBy: 600_000)
      return digits(whole, count) + digits(rest / 10_000, 2) + "." + digits(rest % 10_000, 4) + ","
        + (degrees < 0 ? signs.1 : signs.0)
    }
    let time = "12\(digits(second / 60, 2))\(digits(second % 60, 2)).00"
    let place = angle(latitude, 2, ("N", "S")) + "," + angle(longitude, 3, ("E", "W"))
    try receiver.send(Self.sentence("GPRMC,\(time),A,\(place),010.0,090.0,261126,,,A"))
    try receiver.send(Self.sentence("GPGGA,\(time),\(place),1,08,0.9,520.0,M,46.9,M,,"))
  }

  /// Returns an NMEA sentence with its checksum.
  private static func sentence(_ body: String) -> String {
    let checksum = String(body.utf8.reduce(0, ^), radix: 16, uppercase: true)
    return "$\(body)*\(checksum.count < 2 ? "0" : "")\(checksum)\r\n"
  }

  /// Waits until gpsd accepts connections.
  private func waitUntilListening() throws {
    let end = BootClock.now() + UInt64(deadline.components.seconds) * 1_000_000_000
    while true {
      let socket = open(SOCK_STREAM)
      if withLoopback(port: port, { connect(socket.rawValue, $0, $1) }) == 0 { return }
      if BootClock.now() > end { throw SystemError(call: "waiting for gpsd", errno: ETIMEDOUT) }
      sched_yield()
    }
  }

  /// Returns a port of the loopback interface that no program uses. Another program may take it
  /// before the caller does.
  private static func freePort(_ type: __socket_type) throws -> in_port_t {
    let socket = open(type)
    guard withLoopback(port: 0, { bind(socket.rawValue, $0, $1) }) == 0 else {
      throw SystemError(call: "bind", errno: errno)
    }
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutableBytes(of: &address) {
      getsockname(
        socket.rawValue, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), &length)
    }
    guard result == 0 else { throw SystemError(call: "getsockname", errno: errno) }
    return in_port_t(bigEndian: address.sin_port)
  }
}

/// A sender of datagrams to a port of the loopback interface.
private final class Datagrams: Sendable {
  let port: in_port_t
  private let socket: FileDescriptor

  init(port: in_port_t) throws {
    self.port = port
    socket = open(SOCK_DGRAM)
  }

  func send(_ text: String) throws {
    let bytes = Array(text.utf8)
    let count = withLoopback(port: port) {
      sendto(socket.rawValue, bytes, bytes.count, 0, $0, $1)
    }
    guard count == bytes.count else { throw SystemError(call: "sendto", errno: errno) }
  }
}

private func open(_ type: __socket_type) -> FileDescriptor {
  let number = socket(AF_INET, Int32(type.rawValue | SOCK_CLOEXEC.rawValue), 0)
  precondition(number >= 0, "socket: \(SystemError.describe(errno))")
  return FileDescriptor(taking: number)
}

private func withLoopback<Result>(
  port: in_port_t, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
  return withUnsafeBytes(of: address) {
    body(
      $0.baseAddress!.assumingMemoryBound(to: sockaddr.self),
      socklen_t(MemoryLayout<sockaddr_in>.size))
  }
}
