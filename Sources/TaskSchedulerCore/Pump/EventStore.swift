/// Where a ``Pump`` stores events.
public protocol EventStore: AnyObject {
  /// Stores an event. The scheduler handles it next.
  func record(_ event: Event, at now: Instant)
  /// Notes the effects of the event in their order, before they are carried out.
  func willCarryOut(_ effects: [Effect])
  /// Notes that the next effect was carried out.
  func effectDone()
}

/// Carries out effects for a ``Pump``.
public protocol EffectHandler: AnyObject {
  /// The event is stored, and the scheduler is about to handle it.
  func willHandle(_ event: Event)
  func run(_ effect: Effect, at now: Instant)
  /// All effects of the event were carried out.
  func didHandle(_ event: Event)
  /// All events so far were handled. Next is ``SchedulerEvent/deadlineReached`` at the deadline.
  ///
  /// - Parameters:
  ///   - deadline: nil if no limit is set.
  ///   - wakeUp: when to wake a sleeping machine; nil lets it sleep.
  func didHandleAll(deadline: Instant?, wakeUp: Instant?)
}
