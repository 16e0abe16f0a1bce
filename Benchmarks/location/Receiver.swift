import TaskSchedulerCore

/// A receiver of a satellite navigation system.
struct Receiver {
  /// The time from turning the receiver on to the first location, in seconds. Afterwards, there is
  /// a location each second. Each start is a hot start, because the receiver's data about the
  /// satellites stay valid for hours. The data sheet of the u-blox M9 states 1 s for a hot start;
  /// 3 s leave room for weak signals.
  static let fixTime = 3.0
  /// The accuracies in meters: one for a phone that rests, mostly indoors, and one for a phone that
  /// moves.
  private static let accuracy = (rest: 30.0, way: 8.0)
  /// The greatest distance of a location from the true position, in meters.
  static let errorMax = 24.0

  private var generator: SeededGenerator
  private(set) var fixCount = 0

  init(seed: UInt64) { generator = SeededGenerator(seed: seed ^ 0xF1F1) }

  mutating func location(on week: Week, at time: Double) -> Location {
    fixCount += 1
    let accuracy = week.isMoving(at: time) ? Receiver.accuracy.way : Receiver.accuracy.rest
    let error = accuracy * Double.random(in: 0...0.8, using: &generator)
    return Location(
      week.place(at: time).moved(by: error, using: &generator).coordinate, accuracy: accuracy,
      time: Phone.wallTime(at: time))
  }
}
