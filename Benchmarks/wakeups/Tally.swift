import TaskSchedulerCore

/// Counters of wake-ups, calls and missed deadlines. The deadlines are computed here, independently
/// of the scheme that makes the calls.
struct Tally {
  private let mix: ClientMix
  /// The deadline of each client; nil if it has none.
  private var deadlines: [Instant?]
  private(set) var wakeUps = 0
  private(set) var runs = 0
  /// The number of deadlines without a call, over the whole time.
  private(set) var missed = 0

  init(_ mix: ClientMix) {
    self.mix = mix
    deadlines = mix.clients.map { _ in nil }
  }

  mutating func arrived(_ client: Int, at now: Instant) {
    deadlines[client] = now.advanced(by: mix.clients[client].interval)
  }

  mutating func left(_ client: Int, at now: Instant) {
    if let deadline = deadlines[client], deadline < now { missed += 1 }
    deadlines[client] = nil
  }

  mutating func wokeUp(at now: Instant) {
    if mix.window.contains(now) { wakeUps += 1 }
  }

  mutating func called(_ client: Int, at now: Instant) {
    guard let deadline = deadlines[client] else { preconditionFailure("an unknown client") }
    if deadline < now { missed += 1 }
    if mix.window.contains(now) { runs += 1 }
    deadlines[client] = now.advanced(by: mix.clients[client].interval)
  }

  /// Returns the final counters. A client whose deadline has passed counts as a missed deadline.
  func ended() -> Tally {
    var tally = self
    for client in mix.clients.indices { tally.left(client, at: mix.window.upperBound) }
    return tally
  }
}
