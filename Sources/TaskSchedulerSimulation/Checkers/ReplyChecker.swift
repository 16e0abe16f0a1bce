import TaskSchedulerCore

/// Checks that every request is answered exactly once.
///
/// The reply comes at once, except to a launch, a termination, and a change of notifications.
struct ReplyChecker: Checker {
  static let name = "replies"

  private var waiting: Set<RequestID> = []
  private var current: RequestID?

  mutating func before(_ event: Event, _ observed: ObservedState) throws(Finding) {
    current = event.request
    if let current { waiting.insert(current) }
  }

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    guard case .reply(let request, let reply) = effect else { return }
    try require(
      waiting.remove(request) != nil, "request \(request.number) has a second reply: \(reply)")
    guard request == current else { return }
    try require(isRight(reply, observed.event), "the reply to \(observed.event) is \(reply)")
  }

  private func isRight(_ reply: Reply, _ event: Event) -> Bool {
    switch (event, reply) {
    case (_, .refused), (.application(.register), .registered),
      (.application(.openStream), .registered), (.application(.acknowledge), .done),
      (.application(.beginBackgroundTask), .began), (.application(.endBackgroundTask), .done),
      (.operation(.adopt), .started), (.operation(.activate), .done),
      (.operation(.deactivate), .done), (.operation(.sendToBackground), .done),
      (.operation(.terminate), .ended), (.operation(.terminate), .done),
      (.application(.setKeepAlive), .done), (.socket(.manage), .managed),
      (.socket(.release), .done),
      (.notification(.cancel), .cancelled), (.notification(.setBadge), .done),
      (.systemChanged, .done), (.memory(.warn), .done):
      true
    case _: false
    }
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    guard let current, waiting.contains(current) else { return }
    let mayWait: Bool =
      switch observed.event {
      case .operation(.launch), .operation(.activate):
        observed.launches.values.contains { $0.request == current }
      case .operation(.terminate(_, let key, _)): observed.byKey[key] != nil
      // The reply follows when the change is stored.
      case .notification(.schedule), .notification(.cancel), .notification(.setBadge): true
      case _: false
      }
    try require(mayWait, "\(observed.event) has no reply")
  }

  func settled(_ observed: ObservedState) throws(Finding) {
    let forgotten = waiting.map(\.number).min()
    try require(forgotten == nil, "request \(forgotten ?? 0) has no reply at the end of the run")
  }
}
