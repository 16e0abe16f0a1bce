import Dispatch
import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct ManagedSocketTests {
  /// A connected pair, of which one end is handed over.
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

  @Test("A socket that is handed over reaches the daemon, and handed over again it is the same")
  func handsOver() throws {
    let fixture = try Fixture()
    let ends = try Ends()
    let socket = try fixture.application.manage(socket: ends.mine)
    #expect(fixture.daemon.state.current.memory.sockets == [inode(of: ends.mine): 1])
    #expect(try fixture.application.manage(socket: ends.mine) == socket)
    #expect(socket.isManaged)
    #expect(socket.fileDescriptor == ends.mine)
  }

  @Test("What arrives is told with the socket and its condition, and acknowledged when handled")
  func ready() throws {
    let entered = DispatchSemaphore(value: 0)
    let mayReturn = DispatchSemaphore(value: 0)
    let recorder = Recorder(onSocketReady: { _, _ in
      entered.signal()
      mayReturn.wait()
    })
    let fixture = try Fixture(recorder: recorder)
    let ends = try Ends()
    _ = try fixture.application.manage(socket: ends.mine)
    fixture.daemon.send(ready: [1], urgentData: true, hangUp: true)
    entered.wait()
    _ = try fixture.application.backgroundTimeRemaining
    #expect(fixture.daemon.state.current.memory.socketEvents.count == 1)
    mayReturn.signal()
    try fixture.daemon.waitForHandling()
    #expect(recorder.log.current == ["ready \(ends.mine) data+urgent+hangUp"])
  }

  @Test("A task that is begun while a socket event is handled is begun before its acknowledgement")
  func beginsTask() throws {
    let recorder = Recorder(onSocketReady: { application, _ in
      _ = try? application.beginBackgroundTask(named: "answer")
    })
    let fixture = try Fixture(recorder: recorder)
    let ends = try Ends()
    _ = try fixture.application.manage(socket: ends.mine)
    fixture.daemon.send(ready: [1])
    try fixture.daemon.waitForHandling()
    let calls = fixture.daemon.state.current.calls
    #expect(calls.suffix(2) == ["BeginBackgroundTask answer", "Acknowledge 1"])
  }

  @Test("Several sockets of one event are told one after the other, and acknowledged once")
  func several() throws {
    let fixture = try Fixture()
    let (one, other) = try (Ends(), Ends())
    _ = try fixture.application.manage(socket: one.mine)
    _ = try fixture.application.manage(socket: other.mine)
    fixture.daemon.send(ready: [2, 1], error: true)
    try fixture.daemon.waitForHandling()
    #expect(
      fixture.recorder.log.current == [
        "ready \(other.mine) data+error", "ready \(one.mine) data+error",
      ])
    #expect(try fixture.daemon.waitForCall("Acknowledge 1") == 1)
  }

  @Test("A released socket is unknown to the daemon; a second release does nothing")
  func releases() throws {
    let fixture = try Fixture()
    let ends = try Ends()
    let socket = try fixture.application.manage(socket: ends.mine)
    try socket.release()
    try socket.release()
    #expect(fixture.daemon.state.current.calls.count { $0 == "ReleaseSocket 1" } == 1)
    #expect(!socket.isManaged)
  }

  @Test("A managed socket that its author closes is closed: the peer hears of it")
  func closes() throws {
    let fixture = try Fixture()
    let ends = try Ends()
    let socket = try fixture.application.manage(socket: ends.mine)
    ends.closeMine()
    var byte: UInt8 = 0
    #expect(read(ends.theirs, &byte, 1) == 0)
    #expect(socket.isManaged)
  }

  @Test("A socket that was closed is not handed over again, nor what has its number then")
  func closedMeanwhile() throws {
    let fixture = try Fixture()
    try fixture.launch()
    let (ends, staying) = try (Ends(), Ends())
    let socket = try fixture.application.manage(socket: ends.mine)
    _ = try fixture.application.manage(socket: staying.mine)
    ends.closeMine()
    let daemon = try fixture.replaceDaemon(instance: 8)
    defer { daemon.stop() }
    try daemon.state.wait("it has the other") { [inode = inode(of: staying.mine)] in
      $0.memory.sockets == [inode: 1]
    }
    #expect(!socket.isManaged)
  }

  @Test("An event of a socket that was released meanwhile is acknowledged, and not delivered")
  func eventOfReleased() throws {
    let fixture = try Fixture()
    let ends = try Ends()
    let socket = try fixture.application.manage(socket: ends.mine)
    try socket.release()
    fixture.daemon.send(ready: [1])
    try fixture.daemon.waitForHandling()
    #expect(fixture.recorder.log.current == [])
  }

  @Test("A socket that the daemon has lost is handed over again, and then told of")
  func unwatched() throws {
    let fixture = try Fixture()
    let ends = try Ends()
    _ = try fixture.application.manage(socket: ends.mine)
    fixture.daemon.state.update { $0.memory.sockets = [:] }
    fixture.daemon.send(ready: [1], data: false, unwatched: true)
    try fixture.daemon.waitForHandling()
    #expect(fixture.daemon.state.current.memory.sockets == [inode(of: ends.mine): 2])
    fixture.daemon.send(ready: [2])
    try fixture.daemon.waitForHandling()
    #expect(
      fixture.recorder.log.current == ["ready \(ends.mine) unwatched", "ready \(ends.mine) data"])
  }

  @Test("A socket that the daemon has lost and refuses is told to be lost")
  func lost() throws {
    let fixture = try Fixture()
    let ends = try Ends()
    let socket = try fixture.application.manage(socket: ends.mine)
    fixture.daemon.refuseNext(
      "ManageSocket", with: ApplicationInterface.Failure.invalidSocket(reason: "it is shut"))
    fixture.daemon.send(ready: [1], data: false, unwatched: true)
    #expect(try fixture.recorder.wait(for: 1) == ["ready \(ends.mine) lost"])
    #expect(!socket.isManaged)
  }

  @Test(
    "A daemon that has forgotten the process gets its sockets again, whatever their numbers then",
    arguments: [7, 8])
  func restored(instance: Int) throws {
    let fixture = try Fixture()
    try fixture.launch()
    let (one, other) = try (Ends(), Ends())
    try fixture.application.manage(socket: one.mine).release()
    _ = try fixture.application.manage(socket: other.mine)
    let daemon = try fixture.replaceDaemon(instance: instance)
    defer { daemon.stop() }
    try daemon.waitForAcknowledgement()
    #expect(daemon.state.current.memory.sockets == [inode(of: other.mine): 1])
    #expect(daemon.state.current.calls.suffix(2) == ["ManageSocket", "Acknowledge 1"])
    daemon.send(ready: [1])
    try daemon.waitForHandling()
    #expect(fixture.recorder.log.current.last == "ready \(other.mine) data")
  }

  @Test("A daemon that comes back and knows the sockets is not given them again")
  func remembered() throws {
    let fixture = try Fixture()
    try fixture.launch()
    let ends = try Ends()
    _ = try fixture.application.manage(socket: ends.mine)
    let daemon = try fixture.restartDaemon()
    defer { daemon.stop() }
    daemon.send(ready: [1])
    try daemon.waitForHandling()
    #expect(manageCount(daemon) == 0)
    #expect(fixture.recorder.log.current.last == "ready \(ends.mine) data")
  }

  @Test("An event that is delivered again while it is handled, or after, is told once")
  func deliveredAgain() throws {
    let entered = DispatchSemaphore(value: 0)
    let mayReturn = DispatchSemaphore(value: 0)
    let recorder = Recorder(onSocketReady: { _, _ in
      entered.signal()
      mayReturn.wait()
    })
    let fixture = try Fixture(recorder: recorder)
    let ends = try Ends()
    _ = try fixture.application.manage(socket: ends.mine)
    fixture.daemon.send(ready: [1])
    entered.wait()
    let event = fixture.daemon.state.current.memory.socketEvents
    let daemon = try fixture.restartDaemon()
    mayReturn.signal()
    try daemon.waitForHandling()
    // Its acknowledgement is forgotten.
    var memory = daemon.stop()
    memory.socketEvents = event
    let next = try StandInDaemon(at: daemon.path, memory: memory)
    defer { next.stop() }
    try next.waitForHandling()
    #expect(recorder.log.current == ["ready \(ends.mine) data"])
  }

  @Test("An event that comes before the answer that numbers its socket is told after it")
  func early() throws {
    let fixture = try Fixture()
    let ends = try Ends()
    fixture.daemon.state.update { $0.closesAfter = "ManageSocket" }
    fixture.daemon.state.update { $0.readyEarly = true }
    _ = try fixture.application.manage(socket: ends.mine)
    try fixture.daemon.waitForHandling()
    #expect(fixture.recorder.log.current == ["ready \(ends.mine) data"])
  }

  @Test("What is no open descriptor is refused by name; a refusal of the daemon is thrown")
  func refused() throws {
    let fixture = try Fixture()
    let ends = try Ends()
    let refusal = ApplicationInterface.Failure.invalidSocket(reason: "it listens")
    fixture.daemon.refuseNext("ManageSocket", with: refusal)
    #expect(throws: ApplicationError.refused(refusal)) {
      _ = try fixture.application.manage(socket: ends.mine)
    }
    let error = #expect(throws: ApplicationError.self) {
      _ = try fixture.application.manage(socket: -1)
    }
    #expect(error?.description.contains("-1 is no open file descriptor") == true)
    #expect(manageCount(fixture.daemon) == 1)
  }
}
