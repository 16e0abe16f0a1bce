import TaskSchedulerWire

/// The locations that the daemons want the agent to report.
struct DaemonLocationOrders {
  private var accuracies: [Int: SessionInterface.LocationAccuracy] = [:]

  /// Records the order of a daemon to report locations, or to report none.
  mutating func take(_ order: SessionInterface.LocationOrder, of daemon: Int) {
    accuracies[daemon] = order.accuracy
  }

  /// Forgets the order of a daemon. The daemon sends it again when the agent attaches.
  mutating func end(of daemon: Int) { accuracies[daemon] = nil }

  /// Returns whether a daemon wants locations.
  func includes(_ daemon: Int) -> Bool { accuracies[daemon] != nil }

  /// The accuracy that is sufficient for all daemons; nil if none wants locations.
  var accuracy: SessionInterface.LocationAccuracy? {
    // The cases are in the order of their accuracy, the most accurate first.
    SessionInterface.LocationAccuracy.allCases.first { accuracies.values.contains($0) }
  }
}

extension SessionInterface.LocationAccuracy {
  /// GeoClue's level for this accuracy (GClueAccuracyLevel): 4 is a city, 6 a street, 8 exact.
  var geoClueLevel: UInt32 {
    switch self {
    case .best, .tenMeters: 8
    case .hundredMeters: 6
    case .kilometer, .threeKilometers: 4
    }
  }
}
