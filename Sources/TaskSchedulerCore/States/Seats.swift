/// The application in front of each seat (contract §2): active, or inactive because it was
/// interrupted or has not acknowledged its activation yet. A seat has one at most.
struct Seats: Hashable, Sendable {
  private var frontBySeat: [SeatID: InstanceID] = [:]

  func front(of seat: SeatID) -> InstanceID? { frontBySeat[seat] }

  mutating func take(_ seat: SeatID, _ instance: InstanceID) {
    precondition(frontBySeat[seat] ?? instance == instance, "the seat is taken")
    frontBySeat[seat] = instance
  }

  /// Leaves the seat, if the instance has it.
  mutating func leave(_ seat: SeatID, _ instance: InstanceID) {
    if frontBySeat[seat] == instance { frontBySeat[seat] = nil }
  }
}
