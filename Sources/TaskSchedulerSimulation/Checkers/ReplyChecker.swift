import TaskSchedulerCore

/// Checks that every request receives exactly one reply.
///
/// Every reply comes at once, with these exceptions: the reply to a launch, the reply to a
/// termination, and the reply to a request about notifications or the location if the daemon stores
/// a change first.
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
    try require(isRight(reply, observed.event), "\(observed.event) has the wrong reply \(reply)")
  }

  private func isRight(_ reply: Reply, _ event: Event) -> Bool {
    switch reply {
    case .refused: true
    case .registered:
      switch event {
      case .application(.register), .application(.openStream): true
      case .application, .operation, .process, .scheduler, .socket, .notification, .systemChanged,
        .session, .memory, .resources, .switcher, .location:
        false
      }
    case .began: if case .application(.beginBackgroundTask) = event { true } else { false }
    case .started: if case .operation(.adopt) = event { true } else { false }
    case .ended: event.terminatedApplication != nil
    case .managed: if case .socket(.manage) = event { true } else { false }
    case .cancelled: if case .notification(.cancel) = event { true } else { false }
    case .controlled: if case .operation(.remoteControl) = event { true } else { false }
    case .scheduled: false
    // `LocationRequestChecker` checks the replies to requests about the location.
    case .located: if case .location = event { true } else { false }
    case .done:
      switch event {
      case .application(.acknowledge), .application(.endBackgroundTask),
        .application(.setKeepAlive), .application(.setAudioSession), .application(.beginCall),
        .application(.endCall), .operation(.activate), .operation(.deactivate),
        .operation(.sendToBackground), .operation(.terminate), .socket(.release),
        .notification(.setBadge), .systemChanged, .session, .memory(.warn),
        .switcher(.setSnapshot), .switcher(.remove), .location:
        true
      case .application, .operation, .process, .scheduler, .socket, .notification, .memory,
        .resources, .switcher:
        false
      }
    }
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    guard let current, waiting.contains(current) else { return }
    let mayWait: Bool =
      switch observed.event {
      case .operation(.launch), .operation(.activate):
        observed.launches.values.contains { $0.request == current }
      case .operation(.terminate(_, let key, _)), .switcher(.remove(_, let key, _)):
        observed.byKey[key] != nil
      // The reply follows when the change is stored.
      case .notification(.schedule), .notification(.cancel), .notification(.setBadge): true
      case .location: observed.location.reply == nil
      case .operation, .application, .process, .scheduler, .socket, .notification,
        .systemChanged, .session, .memory, .resources, .switcher:
        false
      }
    try require(mayWait, "\(observed.event) has no reply")
  }

  func checkFinalState(_ observed: ObservedState) throws(Finding) {
    let forgotten = waiting.map(\.number).min()
    try require(forgotten == nil, "request \(forgotten ?? 0) has no reply at the end of the run")
  }
}
