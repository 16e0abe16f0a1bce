import CLinux
import Glibc

/// The default routes and the addresses of the machine. A change of these can break connections;
/// other changes of the network do not.
public struct NetworkConfiguration: Hashable, Sendable {
  /// A usable default route: its interface is up and has a carrier.
  public struct Route: Hashable, Sendable {
    public var family: Int32
    public var table: UInt32
    public var priority: UInt32
    /// The number of the interface.
    public var interface: UInt32
    /// The gateway; empty if the route has none.
    public var gateway: [UInt8]
  }

  /// An address that other machines can reach.
  public struct Address: Hashable, Sendable {
    public var interface: UInt32
    public var bytes: [UInt8]
    /// The length of the network prefix in bits.
    public var prefix: UInt8
  }

  public var routes: Set<Route> = []
  /// The addresses of the interfaces that ``routes`` use.
  public var addresses: Set<Address> = []

  public init() {}

  /// Whether there is a default route.
  public var isOnline: Bool { !routes.isEmpty }
}

/// A reader of routes and addresses by rtnetlink(7), in the network namespace of its socket.
public enum RouteSocket {
  /// Opens a socket that is readable when links, addresses or routes have changed.
  ///
  /// - Throws: EAFNOSUPPORT if a sandbox denies AF_NETLINK.
  public static func watch() throws(SystemError) -> FileDescriptor {
    FileDescriptor(taking: try check("socket AF_NETLINK") { clinux_route_socket(1) })
  }

  /// Opens a socket for requests.
  public static func open() throws(SystemError) -> FileDescriptor {
    FileDescriptor(taking: try check("socket AF_NETLINK") { clinux_route_socket(0) })
  }

  /// Discards the messages of a watch. The caller reads the present state instead.
  ///
  /// - Returns: whether a message was discarded, or messages were lost (ENOBUFS).
  public static func drain(_ watch: Int32) throws(SystemError) -> Bool {
    var byte: UInt8 = 0
    var count = 0
    // If there are more messages, the next call discards the rest.
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

  /// Reads the present routes and addresses. The kernel answers at once.
  ///
  /// - Throws: EAGAIN and EPROTO, among others, if the answer is incomplete.
  public static func read(_ socket: Int32) throws(SystemError) -> NetworkConfiguration {
    var reading = NetworkConfiguration()
    var addresses: [NetworkConfiguration.Address] = []
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

  /// The maximum number of attempts to read a table that changes while the kernel sends it
  /// (NLM_F_DUMP_INTR). After the last attempt, the result may be outdated. The watch also reports
  /// the change, and the caller then reads again.
  private static let attemptsMax = 3

  /// Reads a table of the kernel.
  ///
  /// - Parameter values: returns the values of a message; most messages have none.
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
    // Each request on a socket has a number of its own, because answers to an earlier request may
    // still arrive.
    let sequence = UInt32(truncatingIfNeeded: BootClock.now())
    try check("send AF_NETLINK") {
      clinux_route_ask(socket, what, UInt8(family), sequence)
    }
    var found: [Value] = []
    var isWhole = true
    // The kernel sends dumps in parts of at most 32 KiB.
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
        // NLMSG_DONE and NLMSG_ERROR end a dump. Their body begins with 0 or a negative errno.
        let code = message.body.integer(at: 0, as: Int32.self) ?? -EPROTO
        if code < 0 { throw SystemError(call: "dump by AF_NETLINK", errno: -code) }
        return (found, isWhole)
      }
    }
  }
}
