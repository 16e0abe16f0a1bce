import CLinux
import Glibc

/// The purpose of a netlink(7) socket that another program opened.
public enum NetlinkSocket: Sendable {
  /// The kernel reports changes of links, addresses or routes to the socket.
  case changes
  /// The kernel answers the socket's requests for links, addresses and routes.
  case routes
  /// The kernel answers the socket's requests for information about other sockets.
  case diagnosis

  /// Determines the purpose of a socket; nil if no case of this enumeration applies.
  ///
  /// - Throws: EAFNOSUPPORT if the socket is not a netlink socket.
  public init?(_ socket: Int32) throws(SystemError) {
    var groups: UInt32 = 0
    switch try check("getsockname", { clinux_netlink_protocol(socket, &groups) }) {
    case Int32(CLINUX_NETLINK_ROUTE): self = groups == 0 ? .routes : .changes
    case Int32(CLINUX_NETLINK_SOCK_DIAG): self = .diagnosis
    default: return nil
    }
  }
}

/// A message of netlink(7).
struct NetlinkMessage: Hashable {
  /// NLMSG_ERROR and NLMSG_DONE.
  static let error: UInt16 = 2
  static let done: UInt16 = 3
  /// NLM_F_DUMP_INTR: the tables changed during the dump.
  static let interrupted: UInt16 = 0x10

  var type: UInt16
  var flags: UInt16
  var sequence: UInt32
  var body: ArraySlice<UInt8>

  private static let headerCount = 16

  /// Returns the messages of a datagram, up to the first incomplete one.
  static func all(in bytes: ArraySlice<UInt8>) -> [NetlinkMessage] {
    var messages: [NetlinkMessage] = []
    var rest = bytes
    while let length = rest.integer(at: 0, as: UInt32.self).map(Int.init),
      length >= headerCount, length <= rest.count,
      let type = rest.integer(at: 4, as: UInt16.self),
      let flags = rest.integer(at: 6, as: UInt16.self),
      let sequence = rest.integer(at: 8, as: UInt32.self)
    {
      let body = rest.dropFirst(headerCount).prefix(length - headerCount)
      messages.append(NetlinkMessage(type: type, flags: flags, sequence: sequence, body: body))
      rest = rest.dropFirst(aligned(length))
    }
    return messages
  }

  /// Returns the attributes in `bytes` (struct rtattr). If a type occurs more than once, returns
  /// the last attribute of that type.
  static func attributes(in bytes: ArraySlice<UInt8>) -> [UInt16: ArraySlice<UInt8>] {
    var attributes: [UInt16: ArraySlice<UInt8>] = [:]
    var rest = bytes
    while let length = rest.integer(at: 0, as: UInt16.self).map(Int.init),
      length >= 4, length <= rest.count, let type = rest.integer(at: 2, as: UInt16.self)
    {
      // The two highest bits are flags of netlink, and not part of the type (NLA_TYPE_MASK).
      attributes[type & 0x3fff] = rest.dropFirst(4).prefix(length - 4)
      rest = rest.dropFirst(aligned(length))
    }
    return attributes
  }

  static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }
}

extension ArraySlice<UInt8> {
  /// Returns the integer at `offset` from the slice's start, in this machine's byte order; nil if
  /// the slice is too short.
  func integer<Value: FixedWidthInteger>(at offset: Int, as type: Value.Type) -> Value? {
    guard offset >= 0, count - offset >= MemoryLayout<Value>.size else { return nil }
    return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
  }
}

/// The parser of routes and addresses in messages (linux/rtnetlink.h, linux/if_addr.h).
enum RouteMessage {
  private enum RouteAttribute {
    static let interface: UInt16 = 4
    static let gateway: UInt16 = 5
    static let priority: UInt16 = 6
    static let multipath: UInt16 = 9
    static let table: UInt16 = 15
    static let via: UInt16 = 18
  }

  private enum AddressAttribute {
    static let address: UInt16 = 1
    static let local: UInt16 = 2
    static let flags: UInt16 = 8
  }

  /// RTNH_F_DEAD and RTNH_F_LINKDOWN: the interface is down, or has no carrier.
  private static let unusable: UInt32 = 1 | 16
  /// RTM_F_CLONED: a cached route to one destination.
  private static let cloned: UInt32 = 0x200
  /// RTN_UNICAST, the type of an ordinary route, unlike routes that reject or discard packets.
  private static let unicast: UInt8 = 1

  /// Returns the usable default routes in a message of RTM_NEWROUTE: one for each next hop, and
  /// none if the route is not a default route of the family. Routes of all tables count, because a
  /// VPN may have a table of its own. A route to half of all addresses also counts, because some
  /// VPNs use two such routes instead of a default route.
  static func defaultRoutes(
    _ message: NetlinkMessage, _ family: Int32
  ) -> [NetworkConfiguration.Route] {
    let body = message.body
    // struct rtmsg: family, dst_len, src_len, tos, table, protocol, scope, type, flags.
    guard message.type == 24, let flags = body.integer(at: 8, as: UInt32.self),
      body.integer(at: 0, as: UInt8.self).map(Int32.init) == family,
      let prefix = body.integer(at: 1, as: UInt8.self), prefix <= 1,
      let table = body.integer(at: 4, as: UInt8.self),
      body.integer(at: 7, as: UInt8.self) == unicast, flags & cloned == 0
    else { return [] }
    let attributes = NetlinkMessage.attributes(in: body.dropFirst(12))
    var route = NetworkConfiguration.Route(
      family: family,
      table: attributes[RouteAttribute.table]?.integer(at: 0, as: UInt32.self) ?? UInt32(table),
      priority: attributes[RouteAttribute.priority]?.integer(at: 0, as: UInt32.self) ?? 0,
      interface: 0, gateway: [])
    if let hops = attributes[RouteAttribute.multipath] { return self.hops(hops, of: route) }
    guard flags & unusable == 0,
      let interface = attributes[RouteAttribute.interface]?.integer(at: 0, as: UInt32.self)
    else { return [] }
    route.interface = interface
    route.gateway = gateway(attributes)
    return [route]
  }

  /// Returns a copy of the route for each usable next hop. `bytes` is a list of struct rtnexthop:
  /// len, flags, hops, ifindex, and attributes.
  private static func hops(
    _ bytes: ArraySlice<UInt8>, of route: NetworkConfiguration.Route
  ) -> [NetworkConfiguration.Route] {
    var routes: [NetworkConfiguration.Route] = []
    var rest = bytes
    while let length = rest.integer(at: 0, as: UInt16.self).map(Int.init),
      length >= 8, length <= rest.count, let flags = rest.integer(at: 2, as: UInt8.self),
      let interface = rest.integer(at: 4, as: UInt32.self)
    {
      if UInt32(flags) & unusable == 0 {
        var hop = route
        hop.interface = interface
        hop.gateway = gateway(
          NetlinkMessage.attributes(in: rest.dropFirst(8).prefix(length - 8)))
        routes.append(hop)
      }
      rest = rest.dropFirst(NetlinkMessage.aligned(length))
    }
    return routes
  }

  private static func gateway(_ attributes: [UInt16: ArraySlice<UInt8>]) -> [UInt8] {
    Array(attributes[RouteAttribute.gateway] ?? attributes[RouteAttribute.via] ?? [])
  }

  /// Returns the address in a message of RTM_NEWADDR, if other machines can reach the address.
  ///
  /// Temporary addresses of IPv6 (RFC 8981) do not count, because the kernel adds new ones every
  /// day without breaking a connection. If the machine changes networks, its other addresses change
  /// too.
  static func address(_ message: NetlinkMessage, _ family: Int32) -> NetworkConfiguration.Address? {
    let body = message.body
    // struct ifaddrmsg: family, prefixlen, flags, scope, index.
    guard message.type == 20, let interface = body.integer(at: 4, as: UInt32.self),
      body.integer(at: 0, as: UInt8.self).map(Int32.init) == family,
      let prefix = body.integer(at: 1, as: UInt8.self),
      let shortFlags = body.integer(at: 2, as: UInt8.self),
      // Addresses of RT_SCOPE_LINK (253) and of narrower scopes are valid only on one link.
      let scope = body.integer(at: 3, as: UInt8.self), scope < 253
    else { return nil }
    let attributes = NetlinkMessage.attributes(in: body.dropFirst(8))
    let flags =
      attributes[AddressAttribute.flags]?.integer(at: 0, as: UInt32.self) ?? UInt32(shortFlags)
    // With IFA_F_TENTATIVE or IFA_F_DADFAILED, the address is not usable. In IPv4, the bit of
    // IFA_F_TEMPORARY has another meaning.
    if flags & (0x40 | 0x08) != 0 || family == AF_INET6 && flags & 0x01 != 0 { return nil }
    guard let bytes = attributes[AddressAttribute.local] ?? attributes[AddressAttribute.address]
    else { return nil }
    return NetworkConfiguration.Address(interface: interface, bytes: Array(bytes), prefix: prefix)
  }
}
