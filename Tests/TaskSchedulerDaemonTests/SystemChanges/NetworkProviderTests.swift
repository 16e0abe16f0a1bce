import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite(
  "A change of the network, in a network namespace of the test",
  .enabled(
    if: NetworkNamespace.missing == nil, Comment(rawValue: NetworkNamespace.missing ?? "possible")))
struct NetworkProviderTests {
  private let network: NetworkNamespace
  private let watcher: ChangeWatcher
  private let provider: NetworkProvider

  private static let online = SystemChange(kind: .network, value: "online")
  private static let offline = SystemChange(kind: .network, value: "offline")

  /// Creates a virtual cable. One end of the cable has an address, and there is no default route.
  init() throws {
    network = try NetworkNamespace()
    watcher = try ChangeWatcher()
    provider = NetworkProvider(loop: watcher.loop, report: watcher.report)
    try network.ip("link add name near type veth peer name far")
    try network.ip("link set far up")
    try network.ip("link set near up")
    try network.ip("address add 192.0.2.2/24 dev near")
  }

  private func start() throws {
    try network.inside { try provider.start() }
  }

  /// Waits until the provider has read the routes and addresses again. The provider reads them
  /// after each burst of messages.
  private func waitForLook() throws {
    let before = provider.readCount
    try watcher.wait(for: "a reading by the provider") { provider.readCount > before }
  }

  @Test("The first and the last default route are reported")
  func ways() throws {
    try start()
    try network.ip("route add default via 192.0.2.1")
    #expect(try watcher.next() == Self.online)
    try network.ip("route delete default")
    #expect(try watcher.next() == Self.offline)
  }

  @Test("A cable that is unplugged and plugged in is reported")
  func cable() throws {
    try network.ip("route add default via 192.0.2.1")
    try start()
    try network.ip("link set far down")
    #expect(try watcher.next() == Self.offline)
    try network.ip("link set far up")
    #expect(try watcher.next() == Self.online)
  }

  @Test("An interface that is taken down is reported, although the kernel reports no routes")
  func interface() throws {
    try network.ip("route add default via 192.0.2.1")
    try start()
    try network.ip("link set near down")
    #expect(try watcher.next() == Self.offline)
  }

  @Test("Another address or gateway of the default route is reported")
  func addresses() throws {
    try network.ip("route add default via 192.0.2.1")
    try start()
    try network.ip("address add 192.0.2.3/24 dev near")
    #expect(try watcher.next() == Self.online)
    try network.ip("route replace default via 192.0.2.254")
    #expect(try watcher.next() == Self.online)
    try network.ip("link add name wireless type veth peer name station")
    try network.ip("link set station up")
    try network.ip("link set wireless up")
    try network.ip("address add 198.51.100.2/24 dev wireless")
    try network.ip("route add default via 198.51.100.1 metric 600")
    #expect(try watcher.next() == Self.online)
  }

  @Test("IPv6, a VPN's own table and several next hops are reported")
  func kinds() throws {
    try start()
    try network.ip("-6 address add 2001:db8::2/64 dev near nodad")
    try network.ip("-6 route add default via 2001:db8::1")
    #expect(try watcher.next() == Self.online)
    try network.ip("-6 route delete default")
    #expect(try watcher.next() == Self.offline)
    try network.ip("route add default dev near table 51820")
    #expect(try watcher.next() == Self.online)
    try network.ip("route flush table 51820")
    #expect(try watcher.next() == Self.offline)
    try network.ip("route add default nexthop via 192.0.2.1 nexthop via 192.0.2.254")
    #expect(try watcher.next() == Self.online)
  }

  @Test("Changes of loopback, of other routes and of refused routes are not reported")
  func others() throws {
    try network.ip("route add default via 192.0.2.1")
    try start()
    try network.ip("link set lo up")
    try network.ip("route add 203.0.113.0/24 via 192.0.2.9")
    try network.ip("route add blackhole default metric 5000")
    try network.ip("link add name bridge0 type veth peer name container0")
    try network.ip("address add 10.0.3.1/24 dev bridge0")
    try waitForLook()
    #expect(watcher.changes.isEmpty)
  }

  @Test("A burst is reported once, or not at all if the state at its end is unchanged")
  func bursts() throws {
    try network.ip("route add default via 192.0.2.1")
    try start()
    let coming = (1...50).map { "address add 192.0.2.\(100 + $0)/24 dev near" }
    try network.batch(coming)
    #expect(try watcher.next() == Self.online)
    #expect(watcher.changes.isEmpty)
    try network.batch(["route delete default", "route add default via 192.0.2.1"])
    try waitForLook()
    #expect(watcher.changes.isEmpty)
  }

  @Test("Lost messages (ENOBUFS) cause a new reading of all routes and addresses")
  func flood() throws {
    try network.ip("route add default via 192.0.2.1")
    try start()
    // More messages than the socket buffer can hold arrive before the provider reads any.
    try network.batch((1...3000).map { "route add 203.0.113.0/24 via 192.0.2.1 metric \($0)" })
    try network.ip("route delete default")
    #expect(try watcher.next() == Self.offline)
    #expect(watcher.changes.isEmpty)
  }

  @Test("The provider reports changes of the network namespace in which its sockets were opened")
  func place() throws {
    try start()
    try network.ip("route add default via 192.0.2.1")
    #expect(try watcher.next() == Self.online)
    let here = try RouteSocket.open()
    let own = try RouteSocket.read(here.rawValue)
    let there = try network.inside {
      let socket = try RouteSocket.open()
      return try RouteSocket.read(socket.rawValue)
    }
    #expect(there.isOnline)
    #expect(own != there)
  }
}
