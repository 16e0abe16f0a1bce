import TaskSchedulerCore

/// Checks that callbacks come as in the contract's table (contract.md#states), one at a time and in
/// order (contract.md#callback-order).
///
/// If a connection breaks or the daemon dies while a callback is in flight, the callback comes
/// again with the same id.
struct CallbackChecker: Checker {
  static let name = "callbacks"

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    guard case .deliver(let id, let callback, let reason) = effect else { return }
    guard let instance = observed[id] else {
      return try require(
        false, "instance \(id.number) receives \(callback.kind), but does not exist")
    }
    let name = instance.name
    try require(instance.hasStream, "\(name) receives \(callback.kind) without an event stream")
    try require(instance.state != .suspended, "\(name) receives \(callback.kind) while suspended")
    try require(
      instance.outstanding.first == callback.kind,
      "\(name) receives \(callback.kind); the outstanding callbacks are \(instance.outstanding)")
    if let inFlight = instance.inFlight {
      try require(
        inFlight == callback.id,
        "\(name) receives \(callback.kind) while another callback is in flight")
      try require(isAgain(observed.event), "\(name) receives \(callback.kind) a second time")
    } else {
      try require(
        callback.id.number > instance.callbackLast, "\(name): the id of a callback is reused")
    }
    let expected = callback.kind == .didFinishLaunching ? instance.plan.reason : nil
    try require(reason == expected, "\(name) receives \(callback.kind) with a wrong launch reason")
  }

  /// Returns whether this event makes the scheduler repeat the callbacks that are in flight.
  private func isAgain(_ event: Event) -> Bool {
    switch event {
    case .application(.openStream), .scheduler(.recovered): true
    case .application, .operation, .process, .scheduler, .socket, .notification, .systemChanged,
      .session,
      .memory, .resources, .switcher, .location:
      false
    }
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    for instance in observed.live where instance.hasStream && !instance.isKilled {
      try require(
        instance.outstanding.isEmpty || instance.inFlight != nil,
        "\(instance.outstanding) of \(instance.name) are outstanding, but none is delivered")
    }
  }

  func checkFinalState(_ observed: ObservedState) throws(Finding) {
    for instance in observed.live {
      try require(
        instance.outstanding.isEmpty,
        "\(instance.outstanding) of \(instance.name) are outstanding at the end of the run")
    }
  }
}
