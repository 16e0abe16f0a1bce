import TaskSchedulerCore

/// An entry into a region or an exit from it. Times are in seconds.
struct Crossing {
  var application: Int
  var region: RegionID
  var isInside: Bool
  /// The time at which the phone is certainly beyond the boundary.
  var since: Double
  /// The time in which the report may come: from the end of the last stay on the other side to
  /// `fixTime` after the end of this stay. Between the two stays, the phone may rest near the
  /// boundary, where a report of either side is right.
  var reportTime: ClosedRange<Double>

  /// The distance from the boundary at which every location of the receiver shows the right side:
  /// the margin of the scheduler, which is 50 m, plus the greatest error of the receiver.
  static let clearance = 50 + Receiver.errorMax

  /// The shortest stay beyond a boundary that must be reported: the longest time until the
  /// scheduler turns the receiver on again (60 s), twice `fixTime`, and `RegionDwell`.
  static let stayMin = 60 + 2 * Receiver.fixTime + 20

  private static let step = 5.0

  /// Returns the crossings that must be reported. They follow from the true positions of the phone.
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
      // The phone rests most of the time, so the distance to the same place is not computed again.
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
