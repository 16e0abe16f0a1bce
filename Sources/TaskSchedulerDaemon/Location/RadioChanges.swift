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
  /// Whether the source reports moves. The transmitters in the first update after this becomes true
  /// are not a move.
  var isWatched = false { didSet { if isWatched != oldValue { last = nil } } }
  /// The transmitters in the last update that contained any, since ``isWatched`` became true. An
  /// empty set if no update contained any; nil before the first update.
  private var last: Set<String>?

  /// Takes the present transmitters, and returns what to report.
  ///
  /// A transmitter that disappears and returns is not a move, because the connection may have been
  /// interrupted. A transmitter that is not in ``last`` is a move.
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
