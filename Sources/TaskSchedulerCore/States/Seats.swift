/// The application in the foreground of each seat (contract §2), at most one. It is active. It is
/// inactive if it was interrupted or has not acknowledged its activation yet.
struct Seats: Equatable, Sendable {
  private var frontBySeat: [SeatID: InstanceID] = [:]

  func front(of seat: SeatID) -> InstanceID? { frontBySeat[seat] }

  mutating func take(_ seat: SeatID, _ instance: InstanceID) {
    precondition(frontBySeat[seat] ?? instance == instance, "another instance has the seat")
    frontBySeat[seat] = instance
  }

  /// Removes the instance from the foreground of the seat, if it is there.
  mutating func leave(_ seat: SeatID, _ instance: InstanceID) {
    if frontBySeat[seat] == instance { frontBySeat[seat] = nil }
  }
}
