import CLinux
import Glibc

/// Where the machine's packets to everywhere go, and where they come from: what must be another for
/// connections to break.
public struct NetworkReading: Hashable, Sendable {
  /// A default route that can be used: its interface is up and has a carrier.
  public struct Route: Hashable, Sendable {
    public var family: Int32
    public var table: UInt32
    public var priority: UInt32
    /// The number of the interface.
    public var interface: UInt32
    /// Empty where the interface itself is the way.
    public var gateway: [UInt8]
  }

  /// An address that others reach.
  public struct Address: Hashable, Sendable {
    public var interface: UInt32
    public var bytes: [UInt8]
    /// How many bits of it the network has.
    public var prefix: UInt8
  }

  public var routes: Set<Route> = []
  /// Those of the interfaces of `routes`.
  public var addresses: Set<Address> = []

  public init() {}

  /// Whether there is any way out.
  public var isOnline: Bool { !routes.isEmpty }
}

/// rtnetlink(7): the kernel's routes and addresses, of the network namespace in which a socket was
/// made.
public enum RouteSocket {
  /// A socket that is readable when links, addresses or routes have changed. Errors: EAFNOSUPPORT
  /// where a sandbox allows no AF_NETLINK.
  public static func watch() throws(SystemError) -> FileDescriptor {
    FileDescriptor(taking: try check("socket AF_NETLINK") { clinux_route_socket(1) })
  }

  /// A socket for questions.
  public static func open() throws(SystemError) -> FileDescriptor {
    FileDescriptor(taking: try check("socket AF_NETLINK") { clinux_route_socket(0) })
  }

  /// Takes what a watch was told, unread: what holds now is asked for.
  ///
  /// - Returns: whether there was anything, be it that messages were lost (ENOBUFS).
  public static func drain(_ watch: Int32) throws(SystemError) -> Bool {
    var byte: UInt8 = 0
    var count = 0
    // In a flood, the rest waits for the next call.
    while count < 10_000 {
      switch attempt("recv AF_NETLINK", { clinux_route_receive(watch, &byte, 1) }) {
      case .success: break
      case .failure(let error) where error.errno == EAGAIN: return count > 0
      case .failure(let error) where error.errno == ENOBUFS: break
      case .failure(let error): throw error
      }
      count += 1
    }
    return true
  }

  /// Asks for what holds now. The kernel answers at once.
  ///
  /// - Throws: also EAGAIN and EPROTO, where the answer is not whole.
  public static func read(_ socket: Int32) throws(SystemError) -> NetworkReading {
    var reading = NetworkReading()
    var addresses: [NetworkReading.Address] = []
    for family in [AF_INET, AF_INET6] {
      reading.routes.formUnion(
        try dump(UInt16(CLINUX_ROUTES), family, socket) {
          RouteMessage.defaultRoutes($0, family)
        })
      addresses += try dump(UInt16(CLINUX_ADDRESSES), family, socket) {
        RouteMessage.address($0, family).map { [$0] } ?? []
      }
    }
    let interfaces = Set(reading.routes.map(\.interface))
    reading.addresses = Set(addresses.filter { interfaces.contains($0.interface) })
    return reading
  }

  /// How often a dump is begun again during which the tables have changed (NLM_F_DUMP_INTR). Who
  /// watches them is told of that, too, and asks again.
  private static let attemptsMax = 3

  /// - Parameter values: those in one message; none in most of them.
  private static func dump<Value>(
    _ what: UInt16, _ family: Int32, _ socket: Int32, _ values: (NetlinkMessage) -> [Value]
  ) throws(SystemError) -> [Value] {
    var attempts = 0
    while true {
      attempts += 1
      let (found, isWhole) = try dumpOnce(what, family, socket, values)
      if isWhole || attempts == attemptsMax { return found }
    }
  }

  private static func dumpOnce<Value>(
    _ what: UInt16, _ family: Int32, _ socket: Int32, _ values: (NetlinkMessage) -> [Value]
  ) throws(SystemError) -> (found: [Value], isWhole: Bool) {
    // No other question of this socket's bears it, for an earlier one may be half answered.
    let sequence = UInt32(truncatingIfNeeded: BootClock.now())
    try check("send AF_NETLINK") {
      clinux_route_ask(socket, what, UInt8(family), sequence)
    }
    var found: [Value] = []
    var isWhole = true
    // The kernel's dumps come in parts of 32 KiB at most.
    var bytes = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = try check("recv AF_NETLINK") {
        clinux_route_receive(socket, &bytes, bytes.count)
      }
      guard count <= bytes.count else { throw SystemError(call: "recv AF_NETLINK", errno: EPROTO) }
      for message in NetlinkMessage.all(in: bytes[..<count]) where message.sequence == sequence {
        if message.flags & NetlinkMessage.interrupted != 0 { isWhole = false }
        guard [NetlinkMessage.done, NetlinkMessage.error].contains(message.type) else {
          found += values(message)
          continue
        }
        // Both end a dump, with 0 or a negative errno.
        let code = message.body.integer(at: 0, as: Int32.self) ?? -EPROTO
        if code < 0 { throw SystemError(call: "dump by AF_NETLINK", errno: -code) }
        return (found, isWhole)
      }
    }
  }
}
