import TaskSchedulerCore
import Testing

private let mailer = ApplicationKey(ApplicationID("org.example.mail")!, owner: UserID(1000))

/// A store and effect handler that records the calls of a pump.
private final class PumpRecorder: EventStore, EffectHandler {
  enum Line: Equatable {
    case recorded(Event), willHandle(Event), willCarryOut(Int), run(Effect), effectDone
    case didHandle(Event), didHandleAll(deadline: Instant?)
  }

  var lines: [Line] = []
  /// The closure that is called with each effect that the pump carries out.
  var onRun: (Effect) -> Void = { _ in }

  func record(_ event: Event, at now: Instant) { lines.append(.recorded(event)) }
  func willHandle(_ event: Event) { lines.append(.willHandle(event)) }
  func willCarryOut(_ effects: [Effect]) { lines.append(.willCarryOut(effects.count)) }
  func run(_ effect: Effect, at now: Instant) {
    lines.append(.run(effect))
    onRun(effect)
  }
  func effectDone() { lines.append(.effectDone) }
  func didHandle(_ event: Event) { lines.append(.didHandle(event)) }
  func didHandleAll(deadline: Instant?, wakeUp: Instant?) {
    lines.append(.didHandleAll(deadline: deadline))
  }

  var recorded: [Event] {
    lines.compactMap { if case .recorded(let event) = $0 { event } else { nil } }
  }

  var effectCount: Int { lines.count { if case .run = $0 { true } else { false } } }
}

@Suite("The pump")
struct PumpTests {
  private let behind = PumpRecorder()
  private let pump: Pump
  private let terminate = Event.operation(.terminate(RequestID(1), mailer, byUser: false))
  private let refusal = Effect.reply(RequestID(1), .refused(.unknownApplication(mailer)))

  init() {
    pump = Pump(scheduler: Scheduler(), store: behind) { Instant(nanoseconds: 1_000) }
  }

  @Test(
    "The pump stores an event before the scheduler handles it, and reports each completed effect")
  func order() {
    pump.start(behind)
    pump.post(terminate)
    let count = behind.effectCount
    #expect(count > 0)
    #expect(
      behind.lines.prefix(3) == [
        .recorded(terminate), .willHandle(terminate), .willCarryOut(count),
      ])
    #expect(behind.lines.contains(.run(refusal)))
    for (index, line) in behind.lines.enumerated() {
      if case .run = line { #expect(behind.lines[index + 1] == .effectDone) }
    }
    #expect(behind.lines.suffix(2) == [.didHandle(terminate), .didHandleAll(deadline: nil)])
  }

  @Test("An event waits until the effects of the current event are carried out")
  func backlog() throws {
    let later = Event.scheduler(.deadlineReached)
    behind.onRun = { [pump, refusal] in if $0 == refusal { pump.post(later) } }
    pump.start(behind)
    pump.post(terminate)
    #expect(behind.recorded == [terminate, later])
    let handled = try #require(behind.lines.firstIndex(of: .didHandle(terminate)))
    let stored = try #require(behind.lines.firstIndex(of: .recorded(later)))
    #expect(handled < stored)
    behind.onRun = { _ in }
  }

  @Test("Events wait until the pump has a handler")
  func withoutHandler() {
    pump.post(terminate)
    #expect(behind.lines.isEmpty)
    pump.start(behind)
    pump.post(.scheduler(.deadlineReached))
    #expect(behind.recorded == [terminate, .scheduler(.deadlineReached)])
  }

  @Test(
    """
    After the daemon's absence, the pump carries out the remaining effects of the last event, \
    and then posts the event of the recovery
    """)
  func resumption() {
    let caused = Event.scheduler(.deadlineReached)
    behind.onRun = { [pump, refusal] in if $0 == refusal { pump.post(caused) } }
    pump.start(behind)
    pump.resume([refusal], of: terminate)
    #expect(
      behind.lines.prefix(4) == [
        .willCarryOut(1), .run(refusal), .effectDone, .didHandle(terminate),
      ])
    #expect(behind.recorded == [.scheduler(.recovered), caused])
    behind.onRun = { _ in }
  }

  @Test("A stopped pump carries out no further effect, and handles no further event")
  func stop() {
    behind.onRun = { [pump, terminate] _ in
      pump.post(terminate)
      pump.stop()
    }
    pump.start(behind)
    pump.post(terminate)
    pump.post(terminate)
    #expect(behind.recorded == [terminate])
    #expect(behind.effectCount == 1)
    #expect(!behind.lines.contains(.effectDone))
    behind.onRun = { _ in }
  }
}
