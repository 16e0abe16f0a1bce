import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

/// Tests of contract §7 with the real kernel: which sockets are reported, and when.
@Suite("§7: The daemon monitors a socket while the application is suspended")
struct ManagedSocketTests {
  private let scene: SocketScene

  init() throws { scene = try SocketScene() }

  @Test(
    """
    Data that arrives between the application's last read and its suspension wakes the \
    application
    """,
    arguments: StreamKind.allCases)
  func lastRead(_ kind: StreamKind) throws {
    let it = try scene.manage(kind)
    try it.send("first")
    #expect(try it.application.receive(5) == "first")
    try it.send("second")
    scene.sockets.watch(it.id)
    try scene.run {
      #expect(scene.reports() == [[it.socket: .data]])
    }
    #expect(try it.application.receive(6) == "second", "the daemon has read no byte")
  }

  @Test(
    "While the application runs, nothing is reported and no event is pending in the loop",
    arguments: StreamKind.allCases)
  func running(_ kind: StreamKind) throws {
    let it = try scene.manage(kind)
    try it.send("text")
    #expect(try !scene.loopHasWork())
    try scene.run {
      #expect(scene.reports() == [])
      scene.sockets.watch(it.id)
      scene.sockets.unwatch(it.id)
      let hasWork = try scene.loopHasWork()
      #expect(!hasWork)
    } then: {
      #expect(scene.reports() == [])
    }
  }

  @Test(
    "Data that the application has read does not wake the application",
    arguments: StreamKind.allCases)
  func read(_ kind: StreamKind) throws {
    let it = try scene.manage(kind)
    try it.send("text")
    #expect(try it.application.receive(4) == "text")
    scene.sockets.watch(it.id)
    try scene.run {
      #expect(scene.reports() == [])
    }
  }

  @Test(
    "Unread data that was reported does not wake the application again",
    arguments: StreamKind.allCases)
  func once(_ kind: StreamKind) throws {
    let it = try scene.manage(kind)
    scene.sockets.watch(it.id)
    try scene.run {
      #expect(scene.reports() == [])
      try it.send("ab")
    } then: {
      #expect(scene.reports() == [[it.socket: .data]])
    } then: {
      scene.sockets.unwatch(it.id)
      let read = try it.application.receive(1)
      #expect(read == "a")
      scene.sockets.watch(it.id)
    } then: {
      #expect(scene.reports() == [], "no new data has arrived")
      scene.sockets.unwatch(it.id)
    } then: {
      scene.sockets.watch(it.id)
    } then: {
      #expect(scene.reports() == [])
      #expect(try !scene.loopHasWork())
      try it.send("c")
    } then: {
      #expect(scene.reports() == [[it.socket: .data]], "new data has arrived")
    }
    #expect(try it.application.receive(2) == "bc")
  }

  @Test(
    "Unread data that was never reported wakes the application once",
    arguments: StreamKind.allCases)
  func part(_ kind: StreamKind) throws {
    let it = try scene.manage(kind)
    try it.send("ab")
    #expect(try it.application.receive(1) == "a")
    scene.sockets.watch(it.id)
    try scene.run {
      #expect(scene.reports() == [[it.socket: .data]])
    } then: {
      #expect(scene.reports() == [])
    }
  }

  @Test(
    "New data after reported data wakes an application that is still suspended",
    arguments: StreamKind.allCases)
  func more(_ kind: StreamKind) throws {
    let it = try scene.manage(kind)
    scene.sockets.watch(it.id)
    try scene.run {
      for _ in 0..<3 { try it.send("text") }
    } then: {
      #expect(
        scene.reports() == [[it.socket: .data]], "data that arrives together causes one report")
      try it.send("text")
    } then: {
      #expect(scene.reports() == [[it.socket: .data]])
    }
  }

  @Test(
    "Data that arrived before the socket was passed wakes the application, too",
    arguments: StreamKind.allCases)
  func before(_ kind: StreamKind) throws {
    let (application, peer) = try scene.pair(kind)
    try peer.send("text")
    try waitFor(POLLIN, on: application.number)
    let it = try scene.manage(application, peer)
    scene.sockets.watch(it.id)
    try scene.run {
      #expect(scene.reports() == [[it.socket: .data]])
    }
  }

  @Test(
    "A socket that arrives when the application is suspended is watched at once",
    arguments: StreamKind.allCases)
  func late(_ kind: StreamKind) throws {
    let (application, peer) = try scene.pair(kind)
    scene.sockets.watch(InstanceID(1))
    try scene.run {
      let it = try scene.manage(application, peer)
      try it.send("text")
    } then: {
      #expect(scene.reports().count == 1)
    }
  }
}

@Suite("§7: Data, an error or a hang-up resumes the application, which receives the socket's id")
struct ManagedSocketConditionTests {
  private let scene: SocketScene

  init() throws { scene = try SocketScene() }

  @Test(
    "A peer that shuts down its sending direction is reported once", arguments: StreamKind.allCases)
  func finished(_ kind: StreamKind) throws {
    let it = try scene.manage(kind)
    scene.sockets.watch(it.id)
    try scene.run {
      try it.peer.finish()
      try waitFor(POLLRDHUP, on: it.application.number)
    } then: {
      #expect(scene.reports() == [[it.socket: [.data, .hangUp]]])
      scene.sockets.unwatch(it.id)
      let read = try it.application.receive(1)
      #expect(read == "", "the application reads the end")
      scene.sockets.watch(it.id)
    } then: {
      #expect(scene.reports() == [], "the end of the stream is not reported again")
    }
  }

  @Test(
    "A peer that closes the connection is reported together with the data that it sent before",
    arguments: StreamKind.allCases)
  func closed(_ kind: StreamKind) throws {
    let it = try scene.manage(kind)
    scene.sockets.watch(it.id)
    try scene.run {
      try it.send("last")
      it.peer.close()
      try waitFor(POLLRDHUP, on: it.application.number)
    } then: {
      #expect(scene.reports() == [[it.socket: [.data, .hangUp]]])
    }
    #expect(try it.application.receive(5) == "last")
  }

  @Test(
    "A peer that closes while the application runs is reported once, at the next suspension",
    arguments: StreamKind.allCases)
  func closedBefore(_ kind: StreamKind) throws {
    let it = try scene.manage(kind)
    it.peer.close()
    try waitFor(POLLRDHUP, on: it.application.number)
    scene.sockets.watch(it.id)
    try scene.run {
      #expect(scene.reports() == [[it.socket: [.data, .hangUp]]])
    } then: {
      #expect(scene.reports() == [])
    }
  }

  @Test(
    "A reset is reported as an error, and the application can read ECONNRESET from the socket",
    arguments: StreamKind.allCases)
  func reset(_ kind: StreamKind) throws {
    let it = try scene.manage(kind)
    // If an end of a Unix stream closes with unread data, the connection is reset.
    try it.application.send("unread")
    try waitFor(POLLIN, on: it.peer.number)
    scene.sockets.watch(it.id)
    try scene.run {
      if kind == .tcp { try it.peer.reset() } else { it.peer.close() }
      try waitFor(POLLERR, on: it.application.number)
    } then: {
      let reports = scene.reports()
      #expect(reports.count == 1)
      #expect(reports.first?[it.socket]?.isSuperset(of: [.error, .hangUp]) == true)
    } then: {
      #expect(scene.reports() == [])
    }
    #expect(try it.application.takeError() == ECONNRESET)
  }

  @Test("Urgent data is reported as urgent data", arguments: StreamKind.allCases)
  func urgent(_ kind: StreamKind) throws {
    let it = try scene.manage(kind)
    scene.sockets.watch(it.id)
    var isThere = true
    try scene.run {
      do {
        try it.peer.sendUrgent("!")
        try waitFor(POLLPRI, on: it.application.number)
      } catch let error as SystemError where error.errno == EOPNOTSUPP {
        print("skipped: this kernel has no urgent data on Unix sockets")
        isThere = false
      }
    } then: {
      let reports = scene.reports()
      #expect(reports.count == (isThere ? 1 : 0))
      if isThere { #expect(reports.first?[it.socket]?.contains(.urgentData) == true) }
    } then: {
      #expect(scene.reports() == [])
    }
  }

  @Test("Several sockets are reported together, in the order in which they were passed")
  func several() throws {
    let all = try (0..<3).flatMap { _ in try StreamKind.allCases.map { try scene.manage($0) } }
    let id = all[0].id
    scene.sockets.watch(id)
    try scene.run {
      for it in all.reversed() { try it.send("text") }
    } then: {
      let expected = all.map { Report(instance: id, socket: $0.socket, conditions: .data) }
      #expect(scene.inOrder == [expected])
    }
  }

  @Test(
    "If the instance resumes during a report, nothing is lost or reported twice",
    arguments: StreamKind.allCases)
  func fromWithin(_ kind: StreamKind) throws {
    let first = try scene.manage(kind)
    let second = try scene.manage(kind)
    let id = first.id
    scene.onReport = { scene in scene.sockets.unwatch(id) }
    scene.sockets.watch(id)
    try scene.run {
      try first.send("text")
    } then: {
      #expect(scene.reports() == [[first.socket: .data]])
      try second.send("text")
    } then: {
      #expect(scene.reports() == [], "the instance runs")
      scene.sockets.watch(id)
    } then: {
      #expect(scene.reports() == [[second.socket: .data]])
      scene.sockets.watch(id)
    } then: {
      #expect(scene.reports() == [])
      for it in [first, second] { try it.send("more") }
    } then: {
      #expect(scene.reports() == [[first.socket: .data, second.socket: .data]])
    }
  }

  @Test("An instance that ends during a report gets no further reports")
  func endedWithin() throws {
    let it = try scene.manage(.tcp)
    scene.onReport = { scene in scene.sockets.removeAll(of: it.id) }
    scene.sockets.watch(it.id)
    try scene.run {
      try it.send("text")
    } then: {
      #expect(scene.reports() == [[it.socket: .data]])
      #expect(scene.sockets.sockets(of: it.id) == [])
      try it.send("more")
    } then: {
      #expect(scene.reports() == [])
    }
  }
}
