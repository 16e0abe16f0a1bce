import Testing

@testable import TaskSchedulerCore

private let unknownSocket = SocketID(99)

@Suite("§7 Managed sockets")
struct ManagedSocketTests {
  @Test("A socket of an application without the mode voip is refused: ModeNotDeclared")
  func mode() {
    var world = World()
    let id = world.register(mail)
    #expect(
      world.ask { .socket(.manage($0, id, unknownSocket)) } == .refused(.modeNotDeclared(.voip)))
    #expect(
      world.effects.contains(.socket(.release(id, unknownSocket))),
      "the daemon does not keep the socket")
  }

  @Test("The daemon holds a socket that the application has passed")
  func handedOver() throws {
    var world = World()
    let id = world.makeVoIP(mail, .active)
    let request = world.newRequest()
    let effects = world.feed(.socket(.manage(request, id, SocketID(7))))
    let held = try #require(effects.firstIndex(of: .socket(.hold(id, SocketID(7)))))
    let answered = try #require(effects.firstIndex(of: .reply(request, .managed(SocketID(7)))))
    #expect(held < answered)
    // A second call with the same socket has the same result.
    #expect(
      world.ask { .socket(.manage($0, id, SocketID(7))) } == .managed(SocketID(7)))
  }

  @Test("§16 An application may pass MaxSocketsPerApplication = 64 sockets until it is terminated")
  func refusals() {
    var world = World()
    let id = world.makeVoIP(mail, .active)
    for _ in 0..<64 { _ = world.manage(id) }
    let quota = Refusal.quotaExceeded(name: "MaxSocketsPerApplication", limit: 64)
    #expect(world.ask { .socket(.manage($0, id, unknownSocket)) } == .refused(quota))
    world.ask { .operation(.terminate($0, mail, byUser: true)) }
    #expect(world.ask { .socket(.manage($0, id, unknownSocket)) } == .refused(.terminating))
    world.feed(.process(.leaderExited(id, .exited(code: 0))))
    #expect(
      world.ask { .socket(.manage($0, id, unknownSocket)) } == .refused(.invalidState(.notRunning)))
  }

  @Test("The daemon watches a socket only while the application is suspended")
  func watched() throws {
    var world = World()
    let id = world.makeVoIP(mail, .active)
    _ = world.manage(id)
    #expect(world.position(of: .socket(.watch(id))) == nil)
    world.ask { .operation(.sendToBackground($0, mail)) }
    #expect(world.position(of: .socket(.watch(id))) == nil)
    world.acknowledgeAll(id)
    let suspended = world.effects.lastIndex {
      if case .record(let record) = $0 {
        record.change == .transition(from: .background, to: .suspended, cause: .noEntitlement)
      } else {
        false
      }
    }
    let watched = try #require(world.position(of: .socket(.watch(id))))
    #expect(try #require(suspended) < watched)
    world.forget()
    world.ask { .operation(.activate($0, mail)) }
    let stopped = try #require(world.position(of: .socket(.stopWatching(id))))
    #expect(try stopped < #require(world.position(of: .resume(id))))
  }

  @Test(
    """
    When an application is suspended, the daemon watches its sockets, including those that \
    arrive later
    """)
  func handedOverAtTheEnd() throws {
    var world = World()
    let id = world.makeVoIP(mail, .active)
    world.suspending = .never
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    #expect(world.ask { .socket(.manage($0, id, SocketID(1))) } == .managed(SocketID(1)))
    #expect(world.position(of: .socket(.watch(id))) == nil, "the suspension is not complete")
    world.feed(.process(.suspensionCompleted(id)))
    #expect(world.position(of: .socket(.watch(id))) != nil)
    world.forget()
    #expect(world.ask { .socket(.manage($0, id, SocketID(2))) } == .managed(SocketID(2)))
    let held = try #require(world.position(of: .socket(.hold(id, SocketID(2)))))
    #expect(try held < #require(world.position(of: .socket(.watch(id)))))
    #expect(world.state(id) == .suspended)
    world.feed(.socket(.ready(id, [SocketReadiness(SocketID(2), .data)])))
    #expect(world.state(id) == .background)
  }

  @Test("A restarted daemon watches a new socket only after it has stopped the processes again")
  func handedOverAfterAbsence() throws {
    var world = World()
    let id = world.makeVoIP(mail, .suspended)
    world.suspending = .never
    try world.crash()
    #expect(world.ask { .socket(.manage($0, id, SocketID(1))) } == .managed(SocketID(1)))
    #expect(world.position(of: .socket(.watch(id))) == nil)
    world.feed(.process(.suspensionCompleted(id)))
    #expect(world.position(of: .socket(.watch(id))) != nil)
  }

  @Test(
    "The daemon stops watching a suspended application that has no managed socket left",
    arguments: ["release", "closed", "lost"])
  func lastSocket(_ event: String) {
    var world = World()
    let (id, socket) = suspendedWithSocket(&world)
    world.forget()
    switch event {
    case "release": world.ask { .socket(.release($0, id, socket)) }
    case "closed": world.feed(.socket(.closed(id, [socket])))
    case _: world.feed(.socket(.lost(id, [socket])))
    }
    #expect(world.effects.filter { $0 == .socket(.stopWatching(id)) }.count == 1)
  }

  @Test("The daemon watches no application without managed sockets")
  func none() {
    var world = World()
    let id = world.makeVoIP(mail, .active)
    let socket = world.manage(id)
    #expect(world.ask { .socket(.release($0, id, socket)) } == .done)
    #expect(world.effects.contains(.socket(.release(id, socket))))
    world.forget()
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    #expect(world.position(of: .socket(.watch(id))) == nil)
  }

  @Test(
    """
    Data, an error or a hang-up resumes the application, which receives the name of the \
    socket
    """,
    arguments: [SocketConditions.data, .error, .hangUp, .urgentData, [.data, .hangUp]])
  func woken(_ conditions: SocketConditions) throws {
    var world = World()
    let (id, socket) = suspendedWithSocket(&world)
    world.forget()
    world.feed(.socket(.ready(id, [SocketReadiness(socket, conditions)])))
    #expect(world.state(id) == .background)
    let notice = try #require(world.notices(id).first)
    guard case .socketsReady(_, let ready) = notice else {
      Issue.record("the application received another notice")
      return
    }
    #expect(ready == [SocketReadiness(socket, conditions)])
    let resumed = try #require(world.position(of: .resume(id)))
    #expect(try resumed < #require(world.position(of: .notify(id, notice))))
    #expect(world.delivered(id).isEmpty, "suspended | an event that it must handle | none")
  }

  @Test("One event reports all ready sockets of the application, and no unknown sockets")
  func several() {
    var world = World()
    let id = world.makeVoIP(mail, .active)
    let sockets = [world.manage(id), world.manage(id)]
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    world.forget()
    let ready = sockets.map { SocketReadiness($0, .data) }
    world.feed(.socket(.ready(id, [SocketReadiness(unknownSocket, .data)])))
    #expect(world.state(id) == .suspended)
    world.feed(.socket(.ready(id, ready + [SocketReadiness(unknownSocket, .data)])))
    guard case .socketsReady(_, ready)? = world.notices(id).first else {
      Issue.record("\(world.notices(id))")
      return
    }
  }

  @Test("An application is suspended again EventTime = 10 s after an event")
  func eventTime() {
    var world = World()
    let (id, socket) = suspendedWithSocket(&world)
    world.feed(.socket(.ready(id, [SocketReadiness(socket, .data)])))
    world.advance(by: .seconds(10) - nanosecond)
    #expect(world.state(id) == .background)
    #expect(world.status(id)?.entitlements == [.event])
    world.forget()
    world.advance(by: nanosecond)
    #expect(world.state(id) == .suspended)
    #expect(world.effects.contains(.socket(.watch(id))), "the daemon watches the socket again")
  }

  @Test("The acknowledgement of the event suspends the application")
  func acknowledged() throws {
    var world = World()
    let (id, socket) = suspendedWithSocket(&world)
    world.forget()
    world.feed(.socket(.ready(id, [SocketReadiness(socket, .data)])))
    let event = try #require(told(world, id))
    #expect(world.ask { .application(.acknowledge($0, id, event)) } == .done)
    #expect(world.state(id) == .suspended)
    #expect(
      world.ask { .application(.acknowledge($0, id, event)) } == .refused(.unknownCallback(event)))
  }

  @Test("A background task keeps the application running after EventTime")
  func task() {
    var world = World()
    let (id, socket) = suspendedWithSocket(&world)
    world.feed(.socket(.ready(id, [SocketReadiness(socket, .data)])))
    let task = world.begin(id, "call")
    world.advance(by: .seconds(100))
    #expect(world.state(id) == .background)
    world.end(id, task)
    #expect(world.state(id) == .suspended)
  }

  @Test("Each of two events has a limit and an acknowledgement of its own")
  func two() {
    var world = World()
    let (id, socket) = suspendedWithSocket(&world)
    world.feed(.socket(.ready(id, [SocketReadiness(socket, .data)])))
    world.advance(by: .seconds(5))
    world.feed(.socket(.ready(id, [SocketReadiness(socket, .hangUp)])))
    world.advance(by: .seconds(5))
    #expect(world.state(id) == .background)
    world.advance(by: .seconds(5))
    #expect(world.state(id) == .suspended)
  }

  @Test("Data that arrives between the last read and the suspension resumes the application, too")
  func lastRead() {
    var world = World()
    world.suspending = .never
    let id = world.makeVoIP(mail, .active)
    let socket = world.manage(id)
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    world.forget()
    // The application passes a socket while the daemon stops its processes.
    let late = world.manage(id)
    let effects = world.feed(.process(.suspensionCompleted(id)))
    #expect(effects.contains(.socket(.watch(id))))
    world.feed(.socket(.ready(id, [socket, late].map { SocketReadiness($0, .data) })))
    #expect(world.state(id) == .background)
  }

  @Test("The daemon sends an unacknowledged event again on a new connection")
  func lostStream() throws {
    var world = World()
    let (id, socket) = suspendedWithSocket(&world)
    world.feed(.application(.streamClosed(id)))
    world.forget()
    world.feed(.socket(.ready(id, [SocketReadiness(socket, .data)])))
    #expect(world.state(id) == .background && world.notices(id).isEmpty)
    world.ask { .application(.openStream($0, id, named: mail.id)) }
    let event = try #require(told(world, id))
    world.feed(.application(.streamClosed(id)))
    world.forget()
    world.ask { .application(.openStream($0, id, named: mail.id)) }
    #expect(told(world, id) == event)
  }

  @Test("Events about the sockets of an ended instance have no effect")
  func end() {
    var world = World()
    let (id, socket) = suspendedWithSocket(&world)
    world.ask { .operation(.terminate($0, mail, byUser: true)) }
    #expect(world.effects.contains(.release(id, killing: true)))
    world.forget()
    world.feed(.socket(.ready(id, [SocketReadiness(socket, .data)])))
    world.feed(.socket(.lost(id, [socket])))
    #expect(world.effects.isEmpty)
    #expect(
      world.ask { .socket(.release($0, id, socket)) } == .refused(.invalidState(.notRunning)))
  }

  @Test("Data does not resume an application that is being killed")
  func killed() {
    var world = World()
    let (id, socket) = suspendedWithSocket(&world)
    world.killing = .never
    world.ask { .operation(.terminate($0, mail, byUser: true)) }
    world.forget()
    world.feed(.socket(.ready(id, [SocketReadiness(socket, .data)])))
    #expect(!world.effects.contains(.resume(id)) && world.notices(id).isEmpty)
  }

  @Test("An unknown socket cannot be released")
  func unknown() {
    var world = World()
    let id = world.makeVoIP(mail, .active)
    #expect(
      world.ask { .socket(.release($0, id, SocketID(1))) } == .refused(.unknownSocket(SocketID(1))))
  }

  @Test("A restarted daemon watches the sockets again when the processes are stopped")
  func daemonDies() throws {
    var world = World()
    let (id, socket) = suspendedWithSocket(&world)
    world.forget()
    try world.crash()
    #expect(world.state(id) == .suspended)
    #expect(world.effects.contains(.socket(.watch(id))))
    world.feed(.socket(.ready(id, [SocketReadiness(socket, .data)])))
    #expect(world.state(id) == .background)
  }

  @Test("The daemon watches no socket of an application whose processes it cannot stop")
  func notStopped() throws {
    var world = World()
    let (id, _) = suspendedWithSocket(&world)
    world.suspending = .failing
    world.forget()
    try world.crash()
    #expect(world.state(id) == .background)
    #expect(world.effects.contains(.socket(.stopWatching(id))))
  }

  @Test("The application learns that the daemon has lost the descriptor of a socket")
  func lost() {
    var world = World()
    let (id, socket) = suspendedWithSocket(&world)
    world.forget()
    world.feed(.socket(.lost(id, [socket])))
    guard case .socketsReady(_, [SocketReadiness(socket, .unwatched)])? = world.notices(id).first
    else {
      Issue.record("\(world.notices(id))")
      return
    }
    #expect(
      world.ask { .socket(.release($0, id, socket)) } == .refused(.unknownSocket(socket)))
  }

  @Test("The daemon releases a socket that the application has closed")
  func closed() {
    var world = World()
    let (id, socket) = suspendedWithSocket(&world)
    world.forget()
    world.feed(.socket(.closed(id, [socket, unknownSocket])))
    #expect(world.state(id) == .suspended)
    #expect(world.effects.contains(.socket(.release(id, socket))))
    #expect(world.changes(of: mail) == [.socketReleased(socket)])
  }

  @Test("§3 A debugger stops the limit of an event")
  func debugger() {
    var world = World()
    let (id, socket) = suspendedWithSocket(&world)
    world.feed(.socket(.ready(id, [SocketReadiness(socket, .data)])))
    world.traced = [id]
    world.advance(by: .seconds(100))
    #expect(world.state(id) == .background)
    world.traced = []
    world.advance(by: .seconds(12))
    #expect(world.state(id) == .suspended)
  }

  private func told(_ world: World, _ id: InstanceID) -> CallbackID? {
    world.notices(id).lazy.compactMap {
      if case .socketsReady(let event, _) = $0 { event } else { nil }
    }.first
  }

  private func suspendedWithSocket(_ world: inout World) -> (InstanceID, SocketID) {
    let id = world.makeVoIP(mail, .active)
    let socket = world.manage(id)
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    #expect(world.state(id) == .suspended)
    return (id, socket)
  }
}
