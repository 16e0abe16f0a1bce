import TaskSchedulerWire

// The audio session, which says how the application plays together with other applications.
extension ScheduledApplication {
  /// The audio session that the application has set; nil if it has set none.
  public var audioSession: AudioSession? { state.withLock { $0.audioSession } }

  /// Says how the audio of the application goes together with the audio of the user's other
  /// applications.
  ///
  /// The daemon uses the session while the application plays or records. With
  /// ``AudioSession/Options/duckOthers``, the volume of others is lower while the application
  /// plays. With ``AudioSession/Options/mixWithOthers`` or ``AudioCategory/ambient``, the
  /// application plays together with others. Otherwise it interrupts others when it begins to play,
  /// and others interrupt it: ``ApplicationEvent/didReceiveAudioInterruption(_:)``.
  ///
  /// Without this call, the running audio streams of the application determine its session. An
  /// application that only records, or whose playback streams all have the media role `event`,
  /// mixes with others. Otherwise, an application whose playback streams all have one of the roles
  /// `event`, `notification` and `a11y` ducks others. Any other application has the session
  /// ``AudioCategory/playback`` without options.
  ///
  /// A second call replaces the session. After a restart of the daemon, the library sets the
  /// session again. If ``isManaged`` is false, the session has no effect.
  ///
  /// - Throws: An error of the connection if the daemon is away for more than 2.3 s. After an
  ///   error, call the method again.
  public func setAudioSession(
    _ category: AudioCategory, options: AudioSession.Options = []
  ) async throws(ApplicationError) {
    try await blocking { () throws(ApplicationError) in
      try self.setAudioSessionAndWait(category, options: options)
    }
  }

  /// Says how the audio of the application goes together with the audio of other applications.
  /// Blocks. Otherwise like ``setAudioSession(_:options:)``.
  public func setAudioSessionAndWait(
    _ category: AudioCategory, options: AudioSession.Options = []
  ) throws(ApplicationError) {
    let session = AudioSession(category, options: options)
    try audioSessionTurn.withLock { _ throws(ApplicationError) in
      try throwIfEnded()
      try send(session)
      state.withLock { $0.audioSession = session }
    }
  }

  private func send(_ session: AudioSession) throws(ApplicationError) {
    if calls == nil { return }
    _ = try ask(ApplicationInterface.SetAudioSession.self, .init(session))
  }

  /// Sets the audio session again. Returns false if the daemon does not answer.
  func restoreAudioSession() -> Bool {
    audioSessionTurn.withLock { _ in
      guard let session = audioSession else { return true }
      do throws(ApplicationError) {
        try send(session)
      } catch {
        return !error.isTransient
      }
      return true
    }
  }
}
