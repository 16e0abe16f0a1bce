/// The context of one call of ``Scheduler/handle(_:at:)``: its instant, its policy, and its
/// effects.
struct Turn {
  var policy: SharedPolicy
  let instant: Instant
  /// All system changes so far.
  var changes = SystemChanges()
  /// The number of the present episode of memory pressure; nil if there is none.
  var memoryEpisode: UInt64?
  var effects: [Effect] = []
  /// The users whose agents receive orders about audio in this turn.
  private(set) var confirmers: Set<UserID> = []
  /// Effects that the daemon carries out after all other effects of the turn.
  private var effectsLast: [Effect] = []

  init(
    policy: SharedPolicy, instant: Instant, changes: SystemChanges = SystemChanges(),
    memoryEpisode: UInt64? = nil
  ) {
    self.policy = policy
    self.instant = instant
    self.changes = changes
    self.memoryEpisode = memoryEpisode
    // Most events have two effects: a reply and a record.
    effects.reserveCapacity(2)
  }

  mutating func emit(_ effect: Effect) {
    effects.append(effect)
  }

  /// Emits an order that mutes, unmutes or sets volumes. ``AudioEffect/confirm(_:_:)`` follows the
  /// last order of the turn.
  mutating func order(_ order: AudioEffect, of user: UserID) {
    effects.append(.audio(order))
    confirmers.insert(user)
  }

  mutating func emitLast(_ effect: Effect) {
    effectsLast.append(effect)
  }

  /// Returns all effects in the order in which the daemon carries them out. Changes ``effects`` in
  /// place, to avoid a copy.
  mutating func takeEffects() -> [Effect] {
    effects += effectsLast
    return effects
  }

  mutating func reply(_ request: RequestID?, _ reply: Reply) {
    if let request { effects.append(.reply(request, reply)) }
  }
}
