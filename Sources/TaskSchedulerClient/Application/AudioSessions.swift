import TaskSchedulerWire

// The audio session, which determines whether the application and other applications play at the
// same time.
extension ScheduledApplication {
  /// The audio session that the application has set; nil if it has set none.
  public var audioSession: AudioSession? { state.withLock { $0.audioSession } }

  /// Sets the audio session, which determines whether this application and the user's other
  /// applications play at the same time.
  ///
  /// The daemon uses the session while this application plays or records. With
  /// ``AudioSession/Options/duckOthers``, the daemon lowers the volume of other applications while
  /// this application plays. With ``AudioSession/Options/mixWithOthers`` or
  /// ``AudioCategory/ambient``, all of them play at their own volume. Otherwise this application
  /// interrupts other applications when it begins to play, and they interrupt this application:
  /// ``ApplicationEvent/didReceiveAudioInterruption(_:)``.
  ///
  /// Without this call, the running audio streams of the application determine its session. The
  /// session has the option `mixWithOthers` if the application only records, or if all its playback
  /// streams have the media role `event`. Otherwise, the session has the option `duckOthers` if
  /// each of these streams has one of the roles `event`, `notification` and `a11y`. In all other
  /// cases, the session is ``AudioCategory/playback`` without options.
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

  /// Sets the audio session. Blocks. Otherwise like ``setAudioSession(_:options:)``.
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
