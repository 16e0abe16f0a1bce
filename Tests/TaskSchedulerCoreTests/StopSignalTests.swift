import Testing

@testable import TaskSchedulerCore

@Suite("§3 The request to end: SIGTERM, or the signal that the manifest names")
struct StopSignalTests {
  private let interrupt = Signal(2)

  /// A world in which the manifest of an application names SIGINT.
  private func namingWorld() -> World {
    var world = World { $0.terminateTimeout = .seconds(7) }
    world.feed(
      .scheduler(
        .manifestsChanged([
      Manifest(id: mail.id, owner: mail.owner, stopSignal: interrupt)
        ])))
    return world
  }

  @Test("An application's manifest names the signal, aware or not", arguments: [true, false])
  func named(isAware: Bool) {
    var world = namingWorld()
    let id = world.make(mail, .active, isAware: isAware)
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    world.acknowledgeAll(id)
    #expect(world.effects.contains(.terminate(id, interrupt)))
    #expect(!world.effects.contains(.terminate(id, .terminate)))
  }

  @Test("An application without a manifest is sent SIGTERM")
  func usual() {
    var world = World()
    let id = world.make(mail, .active, isAware: false)
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    #expect(world.effects.contains(.terminate(id, Signal(15))))
  }

  @Test("An end records that SIGKILL had to follow, the signal, and the limit")
  func forced() throws {
    var world = namingWorld()
    let id = world.make(mail, .active, isAware: false)
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    world.advance(by: .seconds(7))
    #expect(world.effects.contains(.kill(id)))
    let end = try #require(world.lastEnd(mail))
    #expect(end.reason == .terminatedByOperator, "§14: the operator's terminate is the reason")
    #expect(end.forced == ForcedEnd(signal: interrupt, limit: .seconds(7)))
    let records = world.changes(of: mail).compactMap { change -> End? in
      if case .ended(let end) = change { end } else { nil }
    }
    #expect(records == [end], "the log tells it, too")
  }

  @Test("An application that ends by its stop signal was not forced")
  func obedient() {
    var world = World()
    world.obeysTerminate = true
    _ = world.make(mail, .active, isAware: false)
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    #expect(world.lastEnd(mail)?.forced == nil)
  }

  @Test("A suspended application that is killed without notice was not forced")
  func suspended() {
    var world = World()
    _ = world.make(mail, .suspended)
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    #expect(world.lastEnd(mail)?.forced == nil)
  }

  @Test("Names and numbers of signals match, and only some signals may request an end")
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
