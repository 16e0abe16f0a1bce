import TaskSchedulerCore

/// An entry into a region or an exit from it. Times are in seconds.
struct Crossing {
  var application: Int
  var region: RegionID
  var isInside: Bool
  /// The time at which the stay on this side begins. During the stay, the phone is ``clearance`` or
  /// more away from the boundary.
  var since: Double
  /// The period in which the report must come. It begins at the end of the last stay on the other
  /// side, and ends `fixTime` after the end of this stay. While the phone is too close to the
  /// boundary for a stay, the scheduler may report either side.
  var reportTime: ClosedRange<Double>

  /// At this distance from the boundary, in meters, and beyond, every location of the receiver
  /// shows the correct side. It is the margin of the scheduler (50 m) plus the receiver's greatest
  /// error.
  static let clearance = 50 + Receiver.errorMax

  /// The length of the shortest stay after which the scheduler must report the crossing. It is the
  /// sum of the longest time until the scheduler turns the receiver on again (60 s), twice
  /// `fixTime`, and `RegionDwell` (20 s).
  static let stayMin = 60 + 2 * Receiver.fixTime + 20

  private static let step = 5.0

  /// Returns the crossings that the scheduler must report, computed from the true positions of the
  /// phone.
  static func expected(on week: Week) -> [Crossing] {
    let places = stride(from: 0, to: Double(week.seconds), by: step).map {
      week.place(at: $0).coordinate
    }
    return week.regions.flatMap { crossings($0, places) }
  }

  private static func crossings(_ one: Week.Monitored, _ places: [Coordinate]) -> [Crossing] {
    var crossings: [Crossing] = []
    var known: (isInside: Bool, until: Double)?
    var stay: (isInside: Bool, since: Double, until: Double)?
    func end() {
      guard let ended = stay else { return }
      stay = nil
      guard ended.until - ended.since >= stayMin else { return }
      if let known, known.isInside != ended.isInside {
        crossings.append(
          Crossing(
            application: one.application, region: one.region.id, isInside: ended.isInside,
            since: ended.since, reportTime: known.until...ended.until + Receiver.fixTime))
      }
      known = (ended.isInside, ended.until)
    }
    var last: (place: Coordinate, distance: Double)?
    for (index, place) in places.enumerated() {
      let time = Double(index) * step
      // Uses the last distance again while the phone rests, which is most of the time.
      let distance = last.flatMap { $0.place == place ? $0.distance : nil }
        ?? one.region.center.distance(to: place)
      last = (place, distance)
      let isIn = distance <= one.region.radius - clearance
      guard isIn || distance >= one.region.radius + clearance else {
        end()
        continue
      }
      if stay?.isInside != isIn {
        end()
        stay = (isIn, time, time)
      } else {
        stay?.until = time
      }
    }
    end()
    return crossings
  }
}
