import TaskSchedulerCore

// The actions of applications that set their audio sessions, and that react to interruptions.
extension Simulation {
  /// After some of the numbered actions, lets an application set its audio session. The application
  /// may be suspended, may be terminating, or may no longer exist when the daemon receives the
  /// call.
  func actOnAudioSessions(_ number: Int) {
    var chance = SeededGenerator(seed: options.seed, .audioSessions, UInt64(number))
    guard configuration.hasSessionAgents, chance.happens(250) else { return }
    let session = AudioSession(
      chance.pick(AudioCategory.allCases), mixesWithOthers: chance.happens(250),
      ducksOthers: chance.happens(250))
    if chance.happens(40) {
      let unknown = InstanceID(1 << 40)
      return send(.application(.setAudioSession(request(nil), unknown, session)))
    }
    // A late call may be from a process that has since ended or been stopped.
    let isLate = chance.happens(100)
    let callers = processes.indices.suffix(16).filter {
      processes[$0].instance != nil
        && (isLate || processes[$0].isAlive && !processes[$0].isStopped)
    }
    guard !callers.isEmpty else { return }
    let index = chance.pick(callers)
    guard let id = processes[index].instance else { return }
    send(.application(.setAudioSession(request(index), id, session)))
  }

  /// Lets an application react to an interruption: most applications pause, and most play again if
  /// they may.
  func reactToInterruption(_ change: AudioInterruption, _ index: Int) {
    var chance = draw(.audioSessions)
    guard !isSettling, chance.happens(700) else { return }
    let delay = chance.below(300 * Nanoseconds.millisecond)
    switch change {
    case .began: schedule(after: delay, .reaction(index, .play(false)))
    case .ended(let shouldResume):
      if shouldResume { schedule(after: delay, .reaction(index, .play(true))) }
    }
  }

  /// Lets a process pause or continue all its streams.
  func play(_ index: Int, _ isPlaying: Bool) {
    // Nothing plays at the end of a run.
    if isSettling, isPlaying { return }
    let user = processes[index].key.owner
    sessions[user]?.audio.setRunning(isPlaying, of: index)
    guard sessions[user]?.isAttached == true else { return }
    send(.audio(user, audioSnapshot(of: user)), of: user, after: 2 * Nanoseconds.millisecond)
  }
}
