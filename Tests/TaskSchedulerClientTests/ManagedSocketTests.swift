import Dispatch
import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct ManagedSocketTests {
  /// A pair of connected sockets. The application manages one of them.
  private final class Ends: Sendable {
    let mine: Int32
    let theirs: Int32
    private let isMineClosed = Watched(false)

    init() throws {
      let pair = try UnixSocket.pair()
      (mine, theirs) = pair.ends()
    }

    deinit {
      closeMine()
      close(theirs)
    }

    func closeMine() {
      if isMineClosed.update({ isClosed in
        defer { isClosed = true }
        return !isClosed
      }) {
        close(mine)
      }
    }
  }

  private func manageCount(_ daemon: StandInDaemon) -> Int {
    daemon.state.current.calls.count { $0 == "ManageSocket" }
  }

  @Test("A socket reaches the daemon, and a second call returns the same managed socket")
  func handsOver() throws {
    let fixture = try Fixture()
    let ends = try Ends()
    let socket = try fixture.application.manageAndWait(socket: ends.mine)
    #expect(fixture.daemon.state.current.memory.sockets == [inode(of: ends.mine): 1])
    #expect(try fixture.application.manageAndWait(socket: ends.mine) == socket)
    #expect(socket.isManaged)
    #expect(socket.fileDescriptor == ends.mine)
  }

  @Test("The delegate receives a ready socket with its conditions, and acknowledges by returning")
  func ready() throws {
    let gate = Gate()
    let recorder = Recorder(onSocketReady: { _, _ in gate.pass() })
    let fixture = try Fixture(recorder: recorder)
    let ends = try Ends()
    _ = try fixture.application.manageAndWait(socket: ends.mine)
    fixture.daemon.send(ready: [1], urgentData: true, hangUp: true)
    gate.waitForHandler()
    _ = try fixture.application.backgroundTimeRemainingAndWait()
    #expect(fixture.daemon.state.current.memory.socketEvents.count == 1)
    gate.open()
    try fixture.daemon.waitForHandling()
    #expect(recorder.log.current == ["ready \(ends.mine) data+urgent+hangUp"])
  }

  @Test("A task that begins while a socket event is handled begins before the acknowledgement")
  func beginsTask() throws {
    let recorder = Recorder(onSocketReady: { application, _ in
      _ = try? application.beginBackgroundTaskAndWait(named: "answer")
    })
    let fixture = try Fixture(recorder: recorder)
    let ends = try Ends()
    _ = try fixture.application.manageAndWait(socket: ends.mine)
    fixture.daemon.send(ready: [1])
    try fixture.daemon.waitForHandling()
    let calls = fixture.daemon.state.current.calls
    #expect(calls.suffix(2) == ["BeginBackgroundTask answer", "Acknowledge 1"])
  }

  @Test("The delegate receives the sockets of an event in order, with one acknowledgement")
  func several() throws {
    let fixture = try Fixture()
    let (one, other) = try (Ends(), Ends())
    _ = try fixture.application.manageAndWait(socket: one.mine)
    _ = try fixture.application.manageAndWait(socket: other.mine)
    fixture.daemon.send(ready: [2, 1], error: true)
    try fixture.daemon.waitForHandling()
    #expect(
      fixture.recorder.log.current == [
        "ready \(other.mine) data+error", "ready \(one.mine) data+error",
      ])
    #expect(try fixture.daemon.waitForCall("Acknowledge 1") == 1)
  }

  @Test("The daemon does not know a released socket, and a second release does nothing")
  func releases() throws {
    let fixture = try Fixture()
    let ends = try Ends()
    let socket = try fixture.application.manageAndWait(socket: ends.mine)
    try socket.releaseAndWait()
    try socket.releaseAndWait()
    #expect(fixture.daemon.state.current.calls.count { $0 == "ReleaseSocket 1" } == 1)
    #expect(!socket.isManaged)
  }

  @Test("The peer learns that the application closes a managed socket")
  func closes() throws {
    let fixture = try Fixture()
    let ends = try Ends()
    let socket = try fixture.application.manageAndWait(socket: ends.mine)
    ends.closeMine()
    var byte: UInt8 = 0
    #expect(read(ends.theirs, &byte, 1) == 0)
    #expect(socket.isManaged)
  }

  @Test("The library passes neither a closed socket nor a new socket with its number to the daemon")
  func closedMeanwhile() throws {
    let fixture = try Fixture()
    try fixture.launch()
    let (ends, staying) = try (Ends(), Ends())
    let socket = try fixture.application.manageAndWait(socket: ends.mine)
    _ = try fixture.application.manageAndWait(socket: staying.mine)
    ends.closeMine()
    let daemon = try fixture.replaceDaemon(instance: 8)
    defer { daemon.stop() }
    try daemon.state.wait("the daemon has the other socket") { [inode = inode(of: staying.mine)] in
      $0.memory.sockets == [inode: 1]
    }
    #expect(!socket.isManaged)
  }

  @Test("The library acknowledges an event of a released socket without the delegate")
  func eventOfReleased() throws {
    let fixture = try Fixture()
    let ends = try Ends()
    let socket = try fixture.application.manageAndWait(socket: ends.mine)
    try socket.releaseAndWait()
    fixture.daemon.send(ready: [1])
    try fixture.daemon.waitForHandling()
    #expect(fixture.recorder.log.current == [])
  }

  @Test("The library passes an unwatched socket to the daemon again before it calls the delegate")
  func unwatched() throws {
    let fixture = try Fixture()
    let ends = try Ends()
    _ = try fixture.application.manageAndWait(socket: ends.mine)
    fixture.daemon.state.update { $0.memory.sockets = [:] }
    fixture.daemon.send(ready: [1], data: false, unwatched: true)
    try fixture.daemon.waitForHandling()
    #expect(fixture.daemon.state.current.memory.sockets == [inode(of: ends.mine): 2])
    fixture.daemon.send(ready: [2])
    try fixture.daemon.waitForHandling()
    #expect(
      fixture.recorder.log.current == ["ready \(ends.mine) unwatched", "ready \(ends.mine) data"])
  }

  @Test("An unwatched socket is lost if the daemon refuses to watch it again")
  func lost() throws {
    let fixture = try Fixture()
    let ends = try Ends()
    let socket = try fixture.application.manageAndWait(socket: ends.mine)
    fixture.daemon.refuseNext(
      "ManageSocket", with: ApplicationInterface.Failure.invalidSocket(reason: "it is shut"))
    fixture.daemon.send(ready: [1], data: false, unwatched: true)
    #expect(try fixture.recorder.wait(for: 1) == ["ready \(ends.mine) lost"])
    #expect(!socket.isManaged)
  }

  @Test(
    "The library passes the sockets to a daemon that has forgotten the process",
    arguments: [7, 8])
  func restored(instance: Int) throws {
    let fixture = try Fixture()
    try fixture.launch()
    let (one, other) = try (Ends(), Ends())
    try fixture.application.manageAndWait(socket: one.mine).releaseAndWait()
    _ = try fixture.application.manageAndWait(socket: other.mine)
    let daemon = try fixture.replaceDaemon(instance: instance)
    defer { daemon.stop() }
    try daemon.waitForAcknowledgement()
    #expect(daemon.state.current.memory.sockets == [inode(of: other.mine): 1])
    #expect(daemon.state.current.calls.suffix(2) == ["ManageSocket", "Acknowledge 1"])
    daemon.send(ready: [1])
    try daemon.waitForHandling()
    #expect(fixture.recorder.log.current.last == "ready \(other.mine) data")
  }

  @Test("The library does not repeat the sockets to a daemon that knows them")
  func remembered() throws {
    let fixture = try Fixture()
    try fixture.launch()
    let ends = try Ends()
    _ = try fixture.application.manageAndWait(socket: ends.mine)
    let daemon = try fixture.restartDaemon()
    defer { daemon.stop() }
    daemon.send(ready: [1])
    try daemon.waitForHandling()
    #expect(manageCount(daemon) == 0)
    #expect(fixture.recorder.log.current.last == "ready \(ends.mine) data")
  }

  @Test("A socket event that the daemon repeats reaches the delegate once")
  func deliveredAgain() throws {
    let gate = Gate()
    let recorder = Recorder(onSocketReady: { _, _ in gate.pass() })
    let fixture = try Fixture(recorder: recorder)
    let ends = try Ends()
    _ = try fixture.application.manageAndWait(socket: ends.mine)
    fixture.daemon.send(ready: [1])
    gate.waitForHandler()
    let event = fixture.daemon.state.current.memory.socketEvents
    let daemon = try fixture.restartDaemon()
    gate.open()
    try daemon.waitForHandling()
    // The next daemon still has the event, as if the acknowledgement had not arrived.
    var memory = daemon.stop()
    memory.socketEvents = event
    let next = try StandInDaemon(at: daemon.path, memory: memory)
    defer { next.stop() }
    try next.waitForHandling()
    #expect(recorder.log.current == ["ready \(ends.mine) data"])
  }

  @Test("An event that arrives before the number of its socket reaches the delegate later")
  func early() throws {
    let fixture = try Fixture()
    let ends = try Ends()
    fixture.daemon.state.update { $0.closesAfter = "ManageSocket" }
    fixture.daemon.state.update { $0.readyEarly = true }
    _ = try fixture.application.manageAndWait(socket: ends.mine)
    try fixture.daemon.waitForHandling()
    #expect(fixture.recorder.log.current == ["ready \(ends.mine) data"])
  }

  @Test("A closed descriptor and a refused socket throw invalidSocket")
  func refused() throws {
    let fixture = try Fixture()
    let ends = try Ends()
    let refusal = ApplicationInterface.Failure.invalidSocket(reason: "it listens")
    fixture.daemon.refuseNext("ManageSocket", with: refusal)
    #expect(throws: ApplicationError.refused(.invalidSocket(reason: "it listens"))) {
      _ = try fixture.application.manageAndWait(socket: ends.mine)
    }
    let error = #expect(throws: ApplicationError.self) {
      _ = try fixture.application.manageAndWait(socket: -1)
    }
    #expect(error?.description.contains("-1 is not an open file descriptor") == true)
    #expect(manageCount(fixture.daemon) == 1)
  }
}
