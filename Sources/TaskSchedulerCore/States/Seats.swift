/// The application in front of each seat (contract §2), at most one. It is active, or inactive
/// because it was interrupted or has not acknowledged its activation yet.
struct Seats: Equatable, Sendable {
  private var frontBySeat: [SeatID: InstanceID] = [:]

  func front(of seat: SeatID) -> InstanceID? { frontBySeat[seat] }

  mutating func take(_ seat: SeatID, _ instance: InstanceID) {
    precondition(frontBySeat[seat] ?? instance == instance, "another instance has the seat")
    frontBySeat[seat] = instance
  }

  /// Removes the instance from the front of the seat, if it is there.
  mutating func leave(_ seat: SeatID, _ instance: InstanceID) {
    if frontBySeat[seat] == instance { frontBySeat[seat] = nil }
  }
}
