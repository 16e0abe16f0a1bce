/// Handles events one after the other: stores an event, passes it to the scheduler, and carries out
/// the effects in order. Events that occur during this work wait until it is complete.
///
/// All events reach the scheduler through the pump, and all effects leave it through the pump. The
/// daemon, the simulation and scenarios use the same pump with different stores, clocks and
/// handlers.
public final class Pump {
  public private(set) var scheduler: Scheduler
  private let store: any EventStore
  private let clock: () -> Instant
  /// The handler of the effects; nil before ``start(_:)`` and after ``stop()``. Without a handler,
  /// events wait.
  private var handler: (any EffectHandler)?
  private var backlog: [Event] = []
  private var isHandling = false

  /// Creates a pump that does not handle events yet.
  ///
  /// - Parameter clock: Returns the current instant.
  public init(scheduler: Scheduler, store: any EventStore, clock: @escaping () -> Instant) {
    self.scheduler = scheduler
    self.store = store
    self.clock = clock
  }

  public var now: Instant { clock() }

  /// Calls `read` with the scheduler, without a copy of the scheduler, and returns the result of
  /// `read`. An access to ``scheduler`` makes a copy, which retains about fifty references.
  public func withScheduler<Result>(_ read: (borrowing Scheduler) -> Result) -> Result {
    func inPlace(_ scheduler: inout Scheduler) -> Result { read(scheduler) }
    return inPlace(&scheduler)
  }

  /// Begins to handle events.
  public func start(_ handler: any EffectHandler) { self.handler = handler }

  /// Stops the pump, which then handles no further event and carries out no further effect.
  public func stop() {
    handler = nil
    backlog = []
  }

  /// Handles an event, now or after the events that occurred before it.
  public func post(_ event: Event) {
    // Most events occur while no other event waits.
    if !isHandling, backlog.isEmpty, let handler {
      isHandling = true
      handle(event, by: handler)
      isHandling = false
    } else {
      backlog.append(event)
    }
    drain()
  }

  /// Continues the work of a previous daemon that died.
  ///
  /// Carries out the remaining effects, and then tells the scheduler that no daemon ran for a time
  /// (``SchedulerEvent/recovered``). The pump then handles the events that occur during this call.
  ///
  /// - Parameters:
  ///   - effects: The effects of the last event that were not carried out.
  ///   - event: The last event; nil if there was none.
  public func resume(_ effects: [Effect], of event: Event?) {
    finish(effects, of: event)
    backlog.insert(.scheduler(.recovered), at: 0)
    drain()
  }

  /// Carries out the remaining effects of the last event of a previous daemon. Events that occur
  /// during this call wait until the next call of ``post(_:)`` or ``resume(_:of:)``.
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
      handle(backlog[next], by: first)
      next += 1
    }
    isHandling = false
    guard let handler else { return }
    backlog.removeAll(keepingCapacity: true)
    let (deadline, wakeUp) = withScheduler { ($0.nextDeadline, $0.nextWakeUp) }
    handler.didHandleAll(deadline: deadline, wakeUp: wakeUp)
  }

  private func handle(_ event: Event, by first: any EffectHandler) {
    let now = clock()
    store.record(event, at: now)
    first.willHandle(event)
    carryOut(scheduler.handle(event, at: now), at: now)
    handler?.didHandle(event)
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
