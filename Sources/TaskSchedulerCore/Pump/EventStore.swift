/// Stores the events of a ``Pump``.
public protocol EventStore: AnyObject {
  /// Stores an event, before the scheduler handles the event.
  func record(_ event: Event, at now: Instant)
  /// Stores the effects of the event in their order, before they are carried out.
  func willCarryOut(_ effects: [Effect])
  /// Records that the next effect has been carried out.
  func effectDone()
}

/// Carries out effects for a ``Pump``.
public protocol EffectHandler: AnyObject {
  /// Called after the event is stored and before the scheduler handles it.
  func willHandle(_ event: Event)
  func run(_ effect: Effect, at now: Instant)
  /// Called when all effects of the event have been carried out.
  func didHandle(_ event: Event)
  /// Called when all posted events have been handled. At the deadline, the handler posts
  /// ``SchedulerEvent/deadlineReached``.
  ///
  /// - Parameters:
  ///   - deadline: The next deadline; nil if there is none.
  ///   - wakeUp: The instant at which to wake a sleeping machine; nil lets it sleep.
  func didHandleAll(deadline: Instant?, wakeUp: Instant?)
}
