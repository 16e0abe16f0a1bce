import TaskSchedulerCore

// The volumes of streams. Users change them, and agents lower and restore them.
extension Simulation {
  /// The greatest difference between two volumes that still count as the same.
  private static let volumeTolerance = 64

  /// Lets the user change the volume of a stream.
  func changeVolume(of user: UserID, _ chance: inout SeededGenerator) {
    let ids = sessions[user]?.audio.ids.filter { $0.direction == .playback }
    guard let ids, !ids.isEmpty else { return }
    let id = chance.pick(ids)
    let volume = chance.pick([0, 3, 2000, 13_107, 30_000, AudioStream.fullVolume, 90_000])
    sessions[user]?.audio.setVolume(id, volume, isLowered: false)
  }

  /// Carries out orders to change volumes. Skips a stream whose volume is not the one that the
  /// order expects.
  func setVolumes(_ changes: [AudioVolumeChange], of user: UserID) {
    for change in changes {
      sessions[user]?.audio.lowered[change.stream] = change.to < change.from ? change : nil
      guard let stream = sessions[user]?.audio.streams[change.stream],
        abs(stream.volume - change.from) <= Self.volumeTolerance
      else { continue }
      sessions[user]?.audio.setVolume(
        change.stream, change.to, isLowered: change.to < change.from)
    }
  }

  /// Checks that no volume is still lowered. Ignores streams that have never run.
  func checkVolumes() {
    for user in sessions.keys.sorted() {
      let streams = sessions[user]?.audio.streams ?? [:]
      for id in streams.keys.sorted() {
        guard let stream = streams[id], stream.isLowered, stream.hasRun,
          processes[stream.process].isAlive
        else { continue }
        return report(
          "volumes",
          "the volume of stream \(id.index) of \(processes[stream.process].key.id.name) is still "
            + "lowered")
      }
    }
  }
}
