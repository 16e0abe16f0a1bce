import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite("A connection that is watched without keeping it open")
struct SocketWatchTests {
  private let directory = TemporaryDirectory()

  private func pair(
    _ kind: StreamKind
  ) throws -> (application: StreamEnd, peer: StreamEnd) {
    try StreamServer(kind, in: directory).pair()
  }

  @Test(
    "A watch reports the present state at each call, and reads nothing",
    arguments: StreamKind.allCases)
  func conditions(_ kind: StreamKind) throws {
    let (application, peer) = try pair(kind)
    let watch = try SocketWatch(of: application.number)
    #expect(watch.conditions() == [])
    try peer.send("ab")
    try waitFor(POLLIN, on: application.number)
    for _ in 0..<3 { #expect(watch.conditions() == .data) }
    #expect(try application.receive(1) == "a")
    #expect(watch.conditions() == .data)
    #expect(try application.receive(1) == "b")
    #expect(watch.conditions() == [])
    try peer.finish()
    try waitFor(POLLRDHUP, on: application.number)
    #expect(watch.conditions() == [.data, .hangUp])
  }

  @Test("A watch reports urgent data", arguments: StreamKind.allCases)
  func urgent(_ kind: StreamKind) throws {
    let (application, peer) = try pair(kind)
    let watch = try SocketWatch(of: application.number)
    do {
      try peer.sendUrgent("!")
    } catch let error as SystemError where error.errno == EOPNOTSUPP {
      return print("skipped: this kernel has no urgent data on Unix sockets")
    }
    try waitFor(POLLPRI, on: application.number)
    #expect(watch.conditions().contains(.urgentData))
    #expect(try application.receiveUrgent() == "!")
    #expect(!watch.conditions().contains(.urgentData))
  }

  @Test("A watch reports a reset and leaves the pending error to the application")
  func reset() throws {
    let (application, peer) = try pair(.tcp)
    let watch = try SocketWatch(of: application.number)
    try peer.reset()
    try waitFor(POLLHUP, on: application.number)
    #expect(watch.conditions().isSuperset(of: [.hangUp, .error]))
    #expect(try application.takeError() == ECONNRESET)
  }

  @Test(
    "A watched connection closes when its owner closes it, and the peer sees the close at once",
    arguments: StreamKind.allCases)
  func closed(_ kind: StreamKind) throws {
    let (application, peer) = try pair(kind)
    // The duplicate represents the descriptor that arrives by SCM_RIGHTS. The daemon closes that
    // descriptor as soon as it watches the connection.
    let arrived = try application.duplicate()
    let watch = try SocketWatch(of: arrived.rawValue)
    arrived.close()
    #expect(try watch.isConnectionOpen())
    try peer.send("unread")
    try waitFor(POLLIN, on: application.number)
    #expect(watch.conditions() == .data)
    application.close()
    try waitFor(POLLHUP, on: peer.number)
    #expect(watch.conditions() == [])
    #expect(try !watch.isConnectionOpen())
  }

  @Test(
    "A process that takes over a watch receives the events of the connection",
    arguments: StreamKind.allCases)
  func adopted(_ kind: StreamKind) throws {
    let (application, peer) = try pair(kind)
    let copy: FileDescriptor
    do {
      let watch = try SocketWatch(of: application.number)
      copy = try FileDescriptor.duplicate(of: watch.rawValue)
    }
    let watch = SocketWatch(adopting: copy)
    #expect(try watch.isConnectionOpen())
    try peer.send("text")
    try waitFor(POLLIN, on: watch.rawValue)
    #expect(watch.conditions() == .data)
  }

  @Test("A descriptor that is not a watch has no connection")
  func noWatch() throws {
    let watch = SocketWatch(adopting: try FileDescriptor.event())
    #expect(try !watch.isConnectionOpen())
  }
}

@Suite("Edge-triggered events of watched connections")
struct EpollTests {
  @Test("Each event is collected once")
  func edges() throws {
    let directory = TemporaryDirectory()
    let server = try StreamServer(.unix, in: directory)
    let pairs = try (0..<3).map { _ in try server.pair() }
    let epoll = try Epoll()
    let first = try SocketWatch(of: pairs[0].application.number)
    let second = try SocketWatch(of: pairs[1].application.number)
    let third = try SocketWatch(of: pairs[2].application.number)
    for (data, number) in [first.rawValue, second.rawValue, third.rawValue].enumerated() {
      try epoll.add(number, data: UInt64(data))
    }
    #expect(epoll.collect(countMax: 3) == [])
    for pair in pairs { try pair.peer.send("a") }
    #expect(try waitFor(POLLIN, on: epoll.rawValue) != 0)
    // Events beyond `countMax` stay pending.
    #expect(epoll.collect(countMax: 2).count == 2)
    #expect(epoll.collect(countMax: 2).count == 1)
    #expect(epoll.collect(countMax: 3) == [])
    try pairs[1].peer.send("b")
    #expect(epoll.collect(countMax: 3) == [1])
    #expect(epoll.collect(countMax: 3) == [])
    // The application reads the data before the event is collected.
    try pairs[2].peer.send("b")
    #expect(try pairs[2].application.receive(2) == "ab")
    #expect(epoll.collect(countMax: 3) == [])
    try epoll.remove(first.rawValue)
    try pairs[0].peer.send("b")
    #expect(epoll.collect(countMax: 3) == [])
  }

  @Test("A nesting of too many watches is refused without other effects")
  func tooMany() throws {
    let directory = TemporaryDirectory()
    let (application, peer) = try StreamServer(.unix, in: directory).pair()
    let top = try Epoll()
    // The kernel permits at most 500 paths that lead through two epoll descriptors to one file
    // (path_limits in fs/eventpoll.c).
    let middle = try (0..<500).map { _ in
      let epoll = try Epoll()
      let copy = try FileDescriptor.duplicate(of: epoll.rawValue)
      try epoll.add(application.number, data: 0)
      try top.add(copy.rawValue, data: 0)
      return StreamEnd(taking: copy.take())
    }
    #expect(middle.count == 500)
    let watch = try SocketWatch(of: application.number)
    let outer = try Epoll()
    #expect(throws: SystemError(call: "epoll_ctl", errno: EINVAL)) {
      try outer.add(watch.rawValue, data: 0)
      let outermost = try Epoll()
      try outermost.add(outer.rawValue, data: 0)
    }
    try peer.send("text")
    #expect(watch.conditions() == .data)
  }
}
