/// An event of a radio source. Such a source does not determine the location, but shows that the
/// machine has moved.
enum RadioOccurrence: Equatable {
  case availabilityChanged(Bool)
  /// The machine is connected to another cell or access point.
  case moved
}

/// Decides what a radio source reports. A radio source knows the transmitters to which the machine
/// is connected: the cells of modems, or the access points of wireless networks.
struct RadioChanges {
  /// The availability that was reported last; nil before the first report.
  private(set) var isAvailable: Bool?
  /// Whether the source reports moves. The first update after this property becomes true never
  /// counts as a move, because the daemon has no earlier transmitters for comparison.
  var isWatched = false { didSet { if isWatched != oldValue { last = nil } } }
  /// The transmitters of the last update that was not empty. Only updates since ``isWatched``
  /// became true count. Empty if all these updates were empty; nil before the first one.
  private var last: Set<String>?

  /// Takes the present transmitters, and returns what to report.
  ///
  /// A transmitter that is not in ``last`` counts as a move. If all transmitters disappear and the
  /// same ones return, that is not a move: the connection was probably interrupted.
  mutating func update(_ present: Set<String>) -> [RadioOccurrence] {
    var occurrences: [RadioOccurrence] = []
    if isAvailable != !present.isEmpty {
      isAvailable = !present.isEmpty
      occurrences.append(.availabilityChanged(!present.isEmpty))
    }
    guard isWatched else { return occurrences }
    if let last, !present.isSubset(of: last) { occurrences.append(.moved) }
    if last == nil || !present.isEmpty { last = present }
    return occurrences
  }
}
