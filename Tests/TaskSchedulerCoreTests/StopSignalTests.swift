import Testing

@testable import TaskSchedulerCore

@Suite("§3 The stop signal: SIGTERM, or the signal that the manifest names")
struct StopSignalTests {
  private let interrupt = Signal(2)

  /// Returns a world in which the manifest of `mail` names SIGINT.
  private func namingWorld() -> World {
    var world = World { $0.terminateTimeout = .seconds(7) }
    world.feed(
      .scheduler(
        .manifestsChanged([
      Manifest(id: mail.id, owner: mail.owner, stopSignal: interrupt)
        ])))
    return world
  }

  @Test(
    "The daemon sends an application the stop signal of its manifest", arguments: [true, false])
  func named(isAware: Bool) {
    var world = namingWorld()
    let id = world.make(mail, .active, isAware: isAware)
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    world.acknowledgeAll(id)
    #expect(world.effects.contains(.terminate(id, interrupt)))
    #expect(!world.effects.contains(.terminate(id, .terminate)))
  }

  @Test("The daemon sends SIGTERM to an application without a manifest")
  func usual() {
    var world = World()
    let id = world.make(mail, .active, isAware: false)
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    #expect(world.effects.contains(.terminate(id, Signal(15))))
  }

  @Test("The description of an end by SIGKILL has the stop signal and the limit that passed")
  func forced() throws {
    var world = namingWorld()
    let id = world.make(mail, .active, isAware: false)
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    world.advance(by: .seconds(7))
    #expect(world.effects.contains(.kill(id)))
    let end = try #require(world.lastEnd(mail))
    #expect(end.reason == .terminatedByOperator, "§14: the order of the operator is the reason")
    #expect(end.forced == ForcedEnd(signal: interrupt, limit: .seconds(7)))
    let records = world.changes(of: mail).compactMap { change -> End? in
      if case .ended(let end) = change { end } else { nil }
    }
    #expect(records == [end], "the log has the detail, too")
  }

  @Test("The end of an application by its stop signal does not count as forced")
  func obedient() {
    var world = World()
    world.obeysTerminate = true
    _ = world.make(mail, .active, isAware: false)
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    #expect(world.lastEnd(mail)?.forced == nil)
  }

  @Test("The kill of a suspended application does not count as forced")
  func suspended() {
    var world = World()
    _ = world.make(mail, .suspended)
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    #expect(world.lastEnd(mail)?.forced == nil)
  }

  @Test("Each signal has its name, and only some signals can be stop signals")
  func names() {
    for number in Int32(1)...31 { #expect(Signal(name: Signal(number).name)?.number == number) }
    #expect(Signal(name: "INT") == nil)
    #expect(Signal(name: "SIGRTMIN") == nil)
    #expect(Signal(name: "sigint") == nil)
    for name in ["SIGKILL", "SIGSTOP", "SIGCONT", "SIGTSTP", "SIGCHLD", "SIGSEGV"] {
      #expect(Signal(name: name).map(Signal.stopSignals.contains) == false, "\(name)")
    }
    #expect(Signal.stopSignals.map(\.name).contains("SIGTERM"))
    #expect(Signal(name: "SIGSEGV")?.isFault == true)
    #expect(Signal(name: "SIGTERM")?.isFault == false)
  }
}
