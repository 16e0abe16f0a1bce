import TaskSchedulerCore

// The foreground applications of each seat (contract.md#state-one-active).
extension ObservedState {
  /// Makes an instance the active application of its seat.
  ///
  /// - Parameter isOrder: Whether a user or operator activates the instance. If so, the limits of
  ///   its windows end.
  func activate(_ instance: ObservedInstance, isOrder: Bool = true) {
    vacate(instance.plan.seat, for: instance)
    if isOrder { instance.window?.hold() }
    instance.isLockedOut = false
    instance.isCalledOut = false
    if instance.state == .inactive { instance.isActivating = true }
  }

  /// Makes room for `other` in the foreground of a seat. The other foreground applications without
  /// known windows go to the background. Those with known windows remain in the foreground, but do
  /// not become active.
  func vacate(_ seat: SeatID, for other: ObservedInstance?) {
    for instance in live
    where instance.state.isForeground && instance.ending == nil && instance.plan.seat == seat
      && instance !== other
    {
      if instance.window?.visibility == nil {
        sendToBackground(instance)
      } else if instance.isActivating {
        instance.resign()
      }
    }
  }

  /// Records that an operator has interrupted an application.
  func deactivated(_ key: ApplicationKey) {
    guard let instance = byKey[key], instance.isActiveOrActivating else { return }
    instance.window?.hold()
    instance.isActivating = false
  }

  /// Ends an instance that leaves the foreground, if it is not allowed to run in the background.
  func sendToBackground(_ instance: ObservedInstance) {
    if !instance.plan.mayStay || !policy.multitaskingSupported { instance.end(.optedOut, at: now) }
  }

  /// Records that the user chose a notification, which activates its application. If the
  /// application is being launched, changes the target of the launch to the foreground.
  func notificationChosen(_ key: ApplicationKey) {
    if let instance = byKey[key] {
      if instance.state != .active, instance.ending == nil,
        instance.outstanding.count < policy.queuedCallbacksMax
      {
        activate(instance)
      }
    } else if let id = launches.first(where: { $0.value.key == key })?.key {
      launches[id]?.plan.target = .foreground
    }
  }
}
