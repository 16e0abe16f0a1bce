/// Who is active: one application at each seat (contract §2).
struct Seats: Hashable, Sendable {
  private var activeBySeat: [SeatID: InstanceID] = [:]

  func active(at seat: SeatID) -> InstanceID? { activeBySeat[seat] }

  mutating func take(_ seat: SeatID, _ instance: InstanceID) {
    precondition(activeBySeat[seat] == nil, "the seat is taken")
    activeBySeat[seat] = instance
  }

  /// Leaves the seat, if the instance has it.
  mutating func leave(_ seat: SeatID, _ instance: InstanceID) {
    if activeBySeat[seat] == instance { activeBySeat[seat] = nil }
  }
}
