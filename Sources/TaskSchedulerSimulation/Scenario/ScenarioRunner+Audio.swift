import TaskSchedulerCore

// The audio of a scenario. A session agent reports each change at once.
extension ScenarioRunner {
  func change(_ activity: ScenarioActivity, of index: Int, isBeginning: Bool) {
    guard actors[index].instance != nil else { return }
    switch activity {
    case .audio:
      actors[index].isPlaying = isBeginning
      reportAudio(of: scenario.applications[index].key.owner)
    case .location: setLocation(.updates, of: index, isOn: isBeginning)
    case .significantChanges: setLocation(.significantChanges, of: index, isOn: isBeginning)
    }
  }

  /// Reports the streams of a user. Each application has one stream.
  func reportAudio(of user: UserID) {
    let streams = actors.indices.compactMap { index -> AudioStream? in
      guard let id = actors[index].instance, scenario.applications[index].key.owner == user
      else { return nil }
      return AudioStream(
        AudioStreamID(server: 1, index: UInt64(index)), of: id, isRunning: actors[index].isPlaying,
        isMuted: actors[index].isMuted)
    }
    post(.session(.audio(user, AudioSnapshot(streams, confirmed: confirmed[user] ?? 0))))
  }

  func carryOut(_ effect: AudioEffect) {
    switch effect {
    case .mute(let user, let ids): setMuted(ids, of: user, true)
    case .unmute(let user, let ids): setMuted(ids, of: user, false)
    case .confirm(let user, let number):
      confirmed[user] = number
      reportAudio(of: user)
    // No application of a scenario ducks others, and none plays silence.
    case .setVolume, .measure, .stopMeasuring, .showRecording, .hideRecording: break
    }
  }

  private func setMuted(_ ids: [AudioStreamID], of user: UserID, _ isMuted: Bool) {
    for id in ids { actors[Int(id.index)].isMuted = isMuted }
    reportAudio(of: user)
  }
}
