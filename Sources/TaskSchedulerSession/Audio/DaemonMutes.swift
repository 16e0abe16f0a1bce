import TaskSchedulerWire

/// The streams that the daemons have muted.
///
/// A daemon that has ended for good resumes its applications, but cannot end their mutes. If a
/// daemon does not return, the agent therefore ends the mutes of that daemon itself.
struct DaemonMutes {
  /// How long the agent waits for a daemon to return, in nanoseconds: as long as the daemon waits
  /// for an agent by default (SessionGraceTime).
  static let graceTime: UInt64 = 10_000_000_000

  /// The muted streams of each audio server, by daemon.
  private var muted: [Int: [Int: Set<Int>]] = [:]

  /// Takes an order of a daemon.
  mutating func take(_ order: SessionInterface.AudioMute, of daemon: Int) {
    if order.muted {
      // The streams of an earlier server have ended.
      let streams = muted[daemon]?[order.generation] ?? []
      muted[daemon] = [order.generation: streams.union(order.streams)]
    } else {
      muted[daemon]?[order.generation]?.subtract(order.streams)
    }
  }

  /// Returns the orders that end all mutes of a daemon, and forgets these mutes.
  mutating func end(of daemon: Int) -> [SessionInterface.AudioMute] {
    (muted.removeValue(forKey: daemon) ?? [:]).compactMap { generation, streams in
      streams.isEmpty
        ? nil : .init(generation: generation, streams: streams.sorted(), muted: false)
    }
  }
}
