import TaskSchedulerCore

/// Every request is answered exactly once (§15.4): at once, or when a launch or an end is over.
struct ReplyChecker: Checker {
  static let name = "replies"

  private var waiting: Set<RequestID> = []
  private var current: RequestID?

  mutating func before(_ event: Event, _ ledger: Ledger) throws(Finding) {
    current = event.requester
    if let current { waiting.insert(current) }
  }

  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {
    guard case .reply(let request, let reply) = effect else { return }
    try require(
      waiting.remove(request) != nil, "request \(request.number) is answered twice: \(reply)")
    guard request == current else { return }
    try require(isRight(reply, ledger.event), "\(ledger.event) is answered \(reply)")
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

  mutating func after(_ ledger: Ledger) throws(Finding) {
    guard let current, waiting.contains(current) else { return }
    let mayWait: Bool =
      switch ledger.event {
      case .operation(.launch), .operation(.activate):
        ledger.launches.values.contains { $0.request == current }
      case .operation(.terminate(_, let key, _)): ledger.byKey[key] != nil
      // Until it is stored.
      case .notification(.schedule), .notification(.cancel), .notification(.setBadge): true
      case _: false
      }
    try require(mayWait, "\(ledger.event) is not answered")
  }

  func settled(_ ledger: Ledger) throws(Finding) {
    let forgotten = waiting.map(\.number).min()
    try require(forgotten == nil, "request \(forgotten ?? 0) is never answered")
  }
}
