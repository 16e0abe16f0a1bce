/// Takes one event after the other: stores it, passes it to the scheduler, and carries out the
/// effects in order. Events that occur meanwhile follow.
///
/// This is the only place where the scheduler meets the outside. The daemon, the simulation and
/// scenarios use the same pump; only the store, the clock and the handler differ.
public final class Pump {
  public private(set) var scheduler: Scheduler
  private let store: any EventStore
  private let clock: () -> Instant
  /// Events wait until there is a handler of their effects.
  private var handler: (any EffectHandler)?
  private var backlog: [Event] = []
  private var isHandling = false

  /// - Parameter clock: Returns the current instant.
  public init(scheduler: Scheduler, store: any EventStore, clock: @escaping () -> Instant) {
    self.scheduler = scheduler
    self.store = store
    self.clock = clock
  }

  public var now: Instant { clock() }

  /// Returns the state of an instance without a copy of the scheduler.
  public func state(of id: InstanceID) -> ApplicationState { scheduler.storedState(of: id) }

  /// The scheduler's first violated invariant, as a sentence; nil if all hold. The scheduler is not
  /// copied.
  public var violatedInvariant: String? { scheduler.violatedInvariant }

  /// Begins to handle events.
  public func start(_ handler: any EffectHandler) { self.handler = handler }

  /// Handles no further event and carries out no further effect.
  public func stop() {
    handler = nil
    backlog = []
  }

  /// Handles an event, now or after those that occurred before it.
  public func post(_ event: Event) {
    backlog.append(event)
    drain()
  }

  /// Continues where a previous daemon died.
  ///
  /// The effects come first, and events that occur meanwhile last. The scheduler must know of the
  /// absence before anything else: if this daemon dies in between, the next one must know of the
  /// whole absence.
  ///
  /// - Parameters:
  ///   - effects: the effects of the last event that were not carried out.
  ///   - event: the last event; nil if there was none.
  ///   - lastAlive: when the previous daemon handled its last event.
  public func resume(_ effects: [Effect], of event: Event?, lastAlive: Instant) {
    finish(effects, of: event)
    backlog.insert(.scheduler(.recovered(lastAlive: lastAlive)), at: 0)
    drain()
  }

  /// Carries out the effects that a previous daemon left of its last event. Events that occur
  /// meanwhile wait for the next event.
  public func finish(_ effects: [Effect], of event: Event?) {
    isHandling = true
    carryOut(effects, at: now)
    if let event { handler?.didHandle(event) }
    isHandling = false
  }

  private func drain() {
    guard !isHandling, let first = handler else { return }
    isHandling = true
    var next = 0
    while next < backlog.count {
      let event = backlog[next]
      next += 1
      let now = clock()
      store.record(event, at: now)
      first.willHandle(event)
      carryOut(scheduler.handle(event, at: now), at: now)
      handler?.didHandle(event)
    }
    isHandling = false
    guard let handler else { return }
    backlog.removeAll(keepingCapacity: true)
    let (deadline, wakeUp) = scheduler.timers()
    handler.didHandleAll(deadline: deadline, wakeUp: wakeUp)
  }

  private func carryOut(_ effects: [Effect], at now: Instant) {
    store.willCarryOut(effects)
    for effect in effects {
      guard let handler else { return }
      handler.run(effect, at: now)
      if self.handler == nil { return }
      store.effectDone()
    }
  }
}
