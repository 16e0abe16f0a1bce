/// The applications in the foreground of each seat (contract §2).
///
/// At each seat, at most one of them is active or is becoming active. The others are inactive: they
/// were interrupted, their windows are visible without the focus, or their windows were hidden a
/// short time ago.
struct Seats: Equatable, Sendable {
  private var foregroundBySeat: [SeatID: [InstanceID]] = [:]

  /// The instances in the foreground of a seat, ordered by their ids.
  func foreground(of seat: SeatID) -> [InstanceID] { foregroundBySeat[seat] ?? [] }

  /// The seats within `seat` that have instances in the foreground, ordered by their names.
  func occupied(within seat: SeatID) -> [SeatID] {
    foregroundBySeat.keys.filter { seat.contains($0) }.sorted()
  }

  mutating func enter(_ seat: SeatID, _ instance: InstanceID) {
    var instances = foreground(of: seat)
    guard !instances.contains(instance) else { return }
    instances.insert(instance, at: instances.firstIndex { $0 > instance } ?? instances.endIndex)
    foregroundBySeat[seat] = instances
  }

  /// Removes the instance from the foreground of the seat, if it is there.
  mutating func leave(_ seat: SeatID, _ instance: InstanceID) {
    let rest = foreground(of: seat).filter { $0 != instance }
    foregroundBySeat[seat] = rest.isEmpty ? nil : rest
  }
}
