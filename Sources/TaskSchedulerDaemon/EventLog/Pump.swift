import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// Takes one event after the other: stores it in the event log, passes it to the scheduler, and
/// carries out the effects in order. Events that occur meanwhile follow.
///
/// This is the only place where the scheduler meets the outside.
final class Pump {
  private(set) var scheduler: Scheduler
  private let eventLog: EventLog
  private let timer: DeadlineTimer
  /// Events wait until there is a handler of their effects.
  private var handler: (any EffectHandler)?
  private var backlog: [Event] = []
  private var isHandling = false

  init(
    scheduler: Scheduler, eventLog: EventLog, loop: EventLoop, log: Log
  ) throws(SystemError) {
    self.scheduler = scheduler
    self.eventLog = eventLog
    var expired: () -> Void = {}
    timer = try DeadlineTimer(loop: loop, log: log) { expired() }
    expired = { [weak self] in self?.post(.scheduler(.deadlineReached)) }
  }

  var now: Instant { Instant(nanoseconds: BootClock.now()) }

  /// Whether a crash would make the daemon forget what it promises now. Asking is another attempt
  /// to write the event log.
  var isForgetful: Bool { !eventLog.isWhole(at: now) }

  /// Returns the state of an instance without a copy of the scheduler.
  func state(of id: InstanceID) -> ApplicationState { scheduler.storedState(of: id) }

  /// Begins to handle events.
  func start(_ handler: any EffectHandler) { self.handler = handler }

  /// Handles an event, now or after those that occurred before it.
  func post(_ event: Event) {
    backlog.append(event)
    drain()
  }

  /// Handles an event before those that wait.
  func postFirst(_ event: Event) {
    backlog.insert(event, at: 0)
    drain()
  }

  /// Carries out the effects that a previous daemon left of its last event. Events that occur
  /// meanwhile wait for the next event.
  func finish(_ effects: [Effect], of event: Event?) {
    isHandling = true
    carryOut(effects, at: now)
    if let event { handler?.didHandle(event) }
    isHandling = false
  }

  private func drain() {
    guard !isHandling, let handler else { return }
    isHandling = true
    var next = 0
    while next < backlog.count {
      let event = backlog[next]
      let now = self.now
      eventLog.record(event, at: now)
      if event.request != nil { eventLog.call?.takeMessage() }
      handler.willHandle(event)
      carryOut(scheduler.handle(event, at: now), at: now)
      handler.didHandle(event)
      next += 1
    }
    backlog.removeAll(keepingCapacity: true)
    handler.didHandleAll()
    isHandling = false
    let (deadline, wakeUp) = scheduler.timers()
    timer.set(deadline: deadline, wakeUp: wakeUp)
  }

  private func carryOut(_ effects: [Effect], at now: Instant) {
    eventLog.willCarryOut(effects)
    for effect in effects {
      handler?.run(effect, at: now)
      eventLog.effectDone()
    }
  }
}

/// Carries out effects for a ``Pump``.
protocol EffectHandler: AnyObject {
  /// The event log has the event, and the scheduler is about to handle it.
  func willHandle(_ event: Event)
  func run(_ effect: Effect, at now: Instant)
  /// All effects of the event were carried out.
  func didHandle(_ event: Event)
  /// All events so far were handled.
  func didHandleAll()
}
