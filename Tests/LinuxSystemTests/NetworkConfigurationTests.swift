import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("Routes and addresses from the kernel")
struct NetworkConfigurationTests {
  /// Returns the bytes of integers in this machine's byte order.
  private static func bytes(_ values: any FixedWidthInteger...) -> [UInt8] {
    values.flatMap { value in withUnsafeBytes(of: value) { Array($0) } }
  }

  private static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
    let padding = [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
    return bytes(UInt16(4 + value.count), type) + value + padding
  }

  /// Returns a message RTM_NEWROUTE, by default for a default route over interface 7.
  private static func route(
    prefix: UInt8 = 0, type: UInt8 = 1, flags: UInt32 = 0,
    attributes: [UInt8] = attribute(4, bytes(UInt32(7)))
  ) -> [UInt8] {
    let body =
      bytes(UInt8(AF_INET), prefix, UInt8(0), UInt8(0), UInt8(254), UInt8(3), UInt8(0), type, flags)
      + attributes
    return bytes(UInt32(16 + body.count), UInt16(24), UInt16(2), UInt32(1), UInt32(0)) + body
  }

  private static func routes(_ bytes: [UInt8]) -> [NetworkConfiguration.Route] {
    NetlinkMessage.all(in: bytes[...]).flatMap { RouteMessage.defaultRoutes($0, AF_INET) }
  }

  @Test("A default route and a route to half of all addresses count as default routes")
  func defaults() {
    #expect(Self.routes(Self.route()).map(\.interface) == [7])
    #expect(Self.routes(Self.route(prefix: 1)).count == 1)
    #expect(Self.routes(Self.route() + Self.route(prefix: 1)).count == 2)
    #expect(Self.routes(Self.route(prefix: 24)).isEmpty)
  }

  @Test(
    """
    A route that is refused, dead, without carrier or to one destination does not count as \
    default
    """)
  func unusable() {
    #expect(Self.routes(Self.route(type: 7)).isEmpty)
    #expect(Self.routes(Self.route(flags: 16)).isEmpty)
    #expect(Self.routes(Self.route(flags: 1)).isEmpty)
    #expect(Self.routes(Self.route(flags: 0x200)).isEmpty)
  }

  @Test("Each usable next hop counts as a default route")
  func hops() {
    func hop(_ interface: UInt32, flags: UInt8) -> [UInt8] {
      let gateway = Self.attribute(5, [192, 0, 2, UInt8(interface)])
      return Self.bytes(UInt16(8 + gateway.count), flags, UInt8(0), interface) + gateway
    }
    let hops = Self.attribute(9, hop(3, flags: 0) + hop(4, flags: 16) + hop(5, flags: 0))
    let found = Self.routes(Self.route(attributes: hops))
    #expect(found.map(\.interface) == [3, 5])
    #expect(found.map(\.gateway) == [[192, 0, 2, 3], [192, 0, 2, 5]])
  }

  @Test("A truncated message is read up to its last complete part")
  func cut() {
    let whole =
      Self.route(attributes: Self.attribute(9, Self.bytes(UInt16(8), UInt16(0), UInt32(3))))
      + Self.route()
    for count in 0..<whole.count {
      #expect(Self.routes(Array(whole[..<count])).count <= 1)
    }
    #expect(Self.routes(whole).count == 2)
  }

  @Test("Lengths of zero do not make the parser loop", arguments: [0, 1, 15] as [UInt32])
  func lengths(_ length: UInt32) {
    #expect(NetlinkMessage.all(in: (Self.bytes(length) + Self.route())[...]).isEmpty)
    let empty = Self.bytes(UInt16(length / 4), UInt16(4)) + Self.bytes(UInt32(7))
    #expect(Self.routes(Self.route(attributes: empty)).isEmpty)
  }

  @Test("The routes and addresses of this machine are read")
  func real() throws {
    let socket = try RouteSocket.open()
    let reading = try RouteSocket.read(socket.rawValue)
    #expect(try RouteSocket.read(socket.rawValue) == reading)
    #expect(!reading.addresses.isEmpty || !reading.isOnline)
  }
}
