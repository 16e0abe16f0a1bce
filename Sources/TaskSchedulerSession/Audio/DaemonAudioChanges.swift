import TaskSchedulerWire

/// The streams that the daemons have muted, and the streams whose volume the daemons have lowered.
///
/// If a daemon ends and does not return, its applications run again, but would remain muted or
/// quiet. The agent therefore ends the daemon's mutes, and restores the volumes that the daemon has
/// lowered.
struct DaemonAudioChanges {
  /// The orders that restore the streams of one audio server.
  struct Restoration: Equatable {
    var volume: SessionInterface.AudioVolume?
    var mute: SessionInterface.AudioMute?
  }

  /// The changes of a daemon to the streams of one audio server.
  private struct Changes {
    var generation: Int
    var muted: Set<Int> = []
    /// The changes from the original volumes, by stream.
    var lowered: [UInt32: AudioVolumeChange] = [:]
  }

  /// The changes at the newest audio server, by daemon. The streams of earlier servers have ended.
  private var changes: [Int: Changes] = [:]

  /// Records the order of a daemon to mute streams, or to end their mutes.
  mutating func take(_ order: SessionInterface.AudioMute, of daemon: Int) {
    if order.muted {
      begin(order.generation, of: daemon)
      changes[daemon]?.muted.formUnion(order.streams)
    } else if changes[daemon]?.generation == order.generation {
      changes[daemon]?.muted.subtract(order.streams)
    }
  }

  /// Records the order of a daemon to lower or to raise volumes.
  mutating func take(_ order: SessionInterface.AudioVolume, of daemon: Int) {
    for change in order.changes.compactMap({ AudioVolumeChange($0) }) {
      if change.to < change.from {
        begin(order.generation, of: daemon)
        lower(change, of: daemon)
      } else if changes[daemon]?.generation == order.generation {
        changes[daemon]?.lowered[change.stream] = nil
      }
    }
  }

  private mutating func begin(_ generation: Int, of daemon: Int) {
    guard changes[daemon]?.generation != generation else { return }
    changes[daemon] = Changes(generation: generation)
  }

  /// Records a lowered volume. If the daemon has lowered the volume of the stream before, keeps the
  /// original volume.
  private mutating func lower(_ change: AudioVolumeChange, of daemon: Int) {
    var change = change
    if let before = changes[daemon]?.lowered[change.stream],
      AudioVolumeChange.isSame(before.to, change.from)
    {
      change.from = before.from
    }
    changes[daemon]?.lowered[change.stream] = change
  }

  /// Returns the orders that undo all changes of a daemon, and forgets these changes.
  mutating func end(of daemon: Int) -> Restoration {
    guard let changes = changes.removeValue(forKey: daemon) else { return Restoration() }
    let raised = changes.lowered.values.sorted { $0.stream < $1.stream }.map {
      SessionInterface.VolumeChange(stream: Int($0.stream), from: $0.to, to: $0.from)
    }
    return Restoration(
      volume: raised.isEmpty ? nil : .init(generation: changes.generation, changes: raised),
      mute: changes.muted.isEmpty
        ? nil
        : .init(
          generation: changes.generation, streams: changes.muted.sorted(), muted: false))
  }
}
