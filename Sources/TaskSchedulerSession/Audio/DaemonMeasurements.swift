import TaskSchedulerWire

/// The streams that the daemons want the agent to measure.
struct DaemonMeasurements {
  /// The measured streams of each audio server, by daemon.
  private var measured: [Int: [UInt64: Set<UInt32>]] = [:]

  /// Records the order of a daemon to begin or to end measurements.
  ///
  /// - Returns: All streams to measure, by audio server.
  mutating func take(
    _ order: SessionInterface.AudioMeasurement, of daemon: Int
  ) -> [UInt64: Set<UInt32>] {
    guard let generation = UInt64(exactly: order.generation) else { return all }
    let streams = order.streams.compactMap { UInt32(exactly: $0) }
    let before = measured[daemon]?[generation] ?? []
    // The new entry replaces the streams of an earlier server, which have ended.
    measured[daemon] = [
      generation: order.measured ? before.union(streams) : before.subtracting(streams)
    ]
    return all
  }

  /// Forgets the orders of a daemon. The daemon sends them again when the agent attaches.
  ///
  /// - Returns: All streams to measure, by audio server.
  mutating func end(of daemon: Int) -> [UInt64: Set<UInt32>] {
    measured[daemon] = nil
    return all
  }

  private var all: [UInt64: Set<UInt32>] {
    var all: [UInt64: Set<UInt32>] = [:]
    for streams in measured.values { all.merge(streams) { $0.union($1) } }
    return all
  }
}
