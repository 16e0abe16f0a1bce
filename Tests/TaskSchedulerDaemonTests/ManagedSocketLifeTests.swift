import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("§7: Sockets do not outlive the instance")
struct ManagedSocketLifeTests {
  private let scene: SocketScene

  init() throws { scene = try SocketScene() }

  @Test(
    "A socket that the application closes is removed, and does not wake the application",
    arguments: StreamKind.allCases)
  func closed(_ kind: StreamKind) throws {
    let it = try scene.manage(kind)
    let other = try scene.manage(kind)
    scene.sockets.watch(it.id)
    try scene.run {
      it.application.close()
      try waitFor(POLLHUP | POLLRDHUP, on: it.peer.number)
    } then: {
      #expect(scene.reports() == [])
      #expect(scene.sockets.removeClosed(of: it.id) == [it.socket])
      #expect(scene.sockets.sockets(of: it.id) == [other.socket])
      try other.send("text")
    } then: {
      #expect(scene.reports() == [[other.socket: .data]])
    }
  }

  @Test("The daemon forgets the sockets and the suspension of an ended instance")
  func ended() throws {
    let it = try scene.manage(.unix)
    scene.sockets.watch(it.id)
    scene.sockets.removeAll(of: it.id)
    let again = try scene.manage(.unix)
    try scene.run {
      try it.send("text")
      try again.send("text")
    } then: {
      #expect(scene.reports() == [])
    }
  }

  @Test("A socket that is passed twice is watched once")
  func twice() throws {
    let it = try scene.manage(.tcp)
    #expect(try scene.sockets.add(it.application.duplicate(), as: it.socket, of: it.id) == nil)
    #expect(scene.sockets.sockets(of: it.id) == [it.socket])
    scene.sockets.watch(it.id)
    try scene.run {
      try it.send("text")
    } then: {
      #expect(scene.reports() == [[it.socket: .data]])
    }
  }

  @Test("A removed socket is not reported, although systemd may hold its watch for some time")
  func removed() throws {
    let (application, peer) = try scene.pair(.tcp)
    let socket = try UnixSocket.cookie(application.number)
    let id = InstanceID(1)
    let watch = try #require(
      try scene.sockets.add(application.duplicate(), as: socket, of: id))
    let stored = StreamEnd(taking: try FileDescriptor.duplicate(of: watch).take())
    let other = try scene.manage(.tcp)
    #expect(scene.sockets.remove(socket, of: id))
    #expect(!scene.sockets.remove(socket, of: id))
    scene.sockets.watch(id)
    try scene.run {
      try peer.send("text")
      try waitFor(POLLIN, on: application.number)
    } then: {
      #expect(scene.reports() == [])
      _ = try scene.manage(application, peer)
    } then: {
      #expect(scene.reports() == [[socket: .data]], "handed over again")
      try other.send("text")
    } then: {
      #expect(scene.reports() == [[other.socket: .data]])
    }
    stored.close()
  }

  @Test(
    "The next daemon reports unread data, and removes sockets that were closed meanwhile",
    arguments: StreamKind.allCases)
  func restored(_ kind: StreamKind) throws {
    let id = InstanceID(7)
    let server = try StreamServer(kind, in: scene.directory)
    let (application, peer) = try server.pair()
    let (closing, _) = try server.pair()
    let stored = try [application, closing].map { end in
      let watch = try SocketWatch(of: end.number)
      return try FileDescriptor.duplicate(of: watch.rawValue).take()
    }
    closing.close()
    try peer.send("text")
    try waitFor(POLLIN, on: application.number)

    let sockets = scene.sockets!
    sockets.watch(id)
    let event = try FileDescriptor.event().take()
    let taken = try (stored + [event]).enumerated().map { index, number in
      try sockets.restore(FileDescriptor(taking: number), as: UInt64(index), of: id)
    }
    #expect(taken == [true, false, false])
    #expect(sockets.sockets(of: id) == [0])
    try scene.run {
      #expect(scene.reports() == [[0: .data]])
      try peer.send("more")
      try waitFor(POLLIN, on: application.number)
    } then: {
      #expect(scene.reports() == [[0: .data]])
    } then: {
      #expect(scene.reports() == [])
    }
  }

  @Test("A socket beyond the kernel's limits on watches is refused")
  func tooMany() throws {
    let (application, peer) = try scene.pair(.unix)
    let top = try Epoll()
    // path_limits in fs/eventpoll.c allows 100 paths of three epoll descriptors. The daemon's path
    // has three, too: those of the socket's watch, the instance and the loop.
    let middle = try Epoll()
    try top.add(middle.rawValue, data: 0)
    let low = try (0..<100).map { _ in
      let epoll = try Epoll()
      try epoll.add(application.number, data: 0)
      try middle.add(epoll.rawValue, data: 0)
      return StreamEnd(taking: try FileDescriptor.duplicate(of: epoll.rawValue).take())
    }
    #expect(low.count == 100)
    let socket = try UnixSocket.cookie(application.number)
    #expect(throws: SystemError.self) {
      _ = try scene.sockets.add(application.duplicate(), as: socket, of: InstanceID(1))
    }
    #expect(scene.sockets.sockets(of: InstanceID(1)) == [])
    let it = try scene.manage(.unix)
    scene.sockets.watch(it.id)
    try scene.run {
      try peer.send("text")
      try it.send("text")
    } then: {
      #expect(scene.reports() == [[it.socket: .data]])
    }
  }
}

@Suite("§7: A peer that sends data at random times")
struct ManagedSocketRaceTests {
  private static let count = 3000
  private static let peer = """
    import random, socket, sys, time
    kind, address, count = sys.argv[1:]
    if kind == "unix":
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(address)
    else:
        host, port = address.split(":")
        peer = socket.create_connection((host, int(port)))
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(int(count)):
        end = time.perf_counter_ns() + random.randrange(60_000)
        while time.perf_counter_ns() < end:
            pass
        peer.send(b"x")
    sys.stdin.readline()
    """

  @Test(
    "An application that is suspended directly after each read is woken for all data",
    arguments: StreamKind.allCases)
  func race(_ kind: StreamKind) throws {
    let scene = try SocketScene()
    let server = try StreamServer(kind, in: scene.directory)
    let process = try TestProcess.python(
      Self.peer, [kind.rawValue, server.address, "\(Self.count)"])
    let application = try server.accept()
    try application.duplicate().setNonblocking(true)
    let id = InstanceID(1)
    let socket = try UnixSocket.cookie(application.number)
    try scene.sockets.add(application.duplicate(), as: socket, of: id)
    var read = 0
    scene.onReport = { scene in
      scene.sockets.unwatch(id)
      var bytes = [UInt8](repeating: 0, count: 64)
      while case let got = recv(application.number, &bytes, bytes.count, 0), got > 0 {
        read += got
      }
      if read == Self.count { return scene.loop.exit() }
      scene.sockets.watch(id)
    }
    let limit = try scene.loop.timer { scene.loop.exit() }
    limit.set(BootClock.after(deadline))
    scene.sockets.watch(id)
    try scene.loop.run()
    #expect(read == Self.count)
    #expect(scene.inOrder.count > 10, "the application was suspended and woken many times")
    try process.writeLine("end")
  }
}

@Suite("§7: Many managed sockets")
struct ManyManagedSocketTests {
  private let scene: SocketScene
  private static let count = 1000

  init() throws {
    scene = try SocketScene()
    let soft = try ResourceLimits.raiseOpenFiles().soft
    try #require(soft > 8000, "the limit on open files is too low for \(Self.count) sockets")
  }

  @Test("Many sockets of one instance are reported together")
  func oneInstance() throws {
    let all = try (0..<Self.count).map { _ in try scene.manage(.unix) }
    scene.sockets.watch(all[0].id)
    try scene.run {
      for it in all { try it.send("a") }
    } then: {
      let reports = scene.reports()
      #expect(reports == [Dictionary(uniqueKeysWithValues: all.map { ($0.socket, .data) })])
    } then: {
      #expect(scene.reports() == [])
    }
  }

  @Test("With many instances, each report is about the socket of one suspended instance")
  func manyInstances() throws {
    let all = try (1...Self.count).map {
      try scene.manage(.unix, of: InstanceID(UInt64($0)))
    }
    for it in all where it.id.number % 2 == 0 { scene.sockets.watch(it.id) }
    try scene.run {
      for it in all { try it.send("a") }
    } then: {
      #expect(scene.inOrder.allSatisfy { $0.count == 1 && $0[0].instance.number % 2 == 0 })
      #expect(scene.reports().count == Self.count / 2)
    } then: {
      #expect(scene.reports() == [])
      for it in all { scene.sockets.unwatch(it.id) }
      for it in all { scene.sockets.watch(it.id) }
    } then: {
      #expect(scene.inOrder.allSatisfy { $0.count == 1 && $0[0].instance.number % 2 == 1 })
      #expect(scene.reports().count == Self.count / 2)
    }
  }
}
