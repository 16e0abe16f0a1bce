import TaskSchedulerCore

// The foreground application of each seat (contract.md#state-one-active).
extension ObservedState {
  /// Returns the foreground application of a seat.
  func front(of seat: SeatID) -> ObservedInstance? {
    live.first { $0.state.isForeground && $0.ending == nil && $0.plan.seat == seat }
  }

  /// Makes an instance the foreground application of its seat.
  func activate(_ instance: ObservedInstance) {
    vacate(instance.plan.seat, for: instance)
    if instance.state == .inactive { instance.isActivating = true }
  }

  /// Sends the foreground application of a seat to the background, unless it is `other`.
  func vacate(_ seat: SeatID, for other: ObservedInstance?) {
    if let instance = front(of: seat), instance !== other { sendToBackground(instance) }
  }

  /// Ends an instance that leaves the foreground and may not run in the background.
  func sendToBackground(_ instance: ObservedInstance) {
    if !instance.plan.mayStay || !policy.multitaskingSupported { instance.end(.optedOut, at: now) }
  }

  /// Records that the user chose a notification, which activates its application. An unfinished
  /// launch of the application leads to the foreground.
  mutating func notificationChosen(_ key: ApplicationKey) {
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
