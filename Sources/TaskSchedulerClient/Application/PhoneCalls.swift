import TaskSchedulerWire

// Phone calls, which interrupt the audio of other applications.
extension ScheduledApplication {
  /// Says that the application has a phone call, which rings or is answered.
  ///
  /// Until ``endCall()``, the call interrupts the audio of the user's other applications. While the
  /// application plays or records during the call, the daemon does not suspend it, even without the
  /// background mode `audio`. The call puts an earlier call of another application on hold. If a
  /// later call begins, the application receives ``ApplicationEvent/didSetCallOnHold(_:)``.
  ///
  /// An application has one call at most: if it has a call already, nothing changes. After a
  /// restart of the daemon, the library begins the call again. The manifest must declare the
  /// background mode `voip`. If ``isManaged`` is false, the method does nothing.
  ///
  /// - Throws: ``ApplicationRefusal/modeNotDeclared(_:mode:)``; an error of the connection if the
  ///   daemon is away for more than 2.3 s. After an error of the connection, the daemon may have
  ///   begun the call; ``endCall()`` then ends it.
  public func beginCall() async throws(ApplicationError) {
    try await blocking { () throws(ApplicationError) in try self.beginCallAndWait() }
  }

  /// Says that the application has a phone call. Blocks. Otherwise like ``beginCall()``.
  public func beginCallAndWait() throws(ApplicationError) {
    try setInCall(true)
  }

  /// Says that the phone call of the application has ended. Does nothing if there is none.
  ///
  /// The daemon then ends the interruptions by the call. The end of the process ends its call, too.
  ///
  /// - Throws: An error of the connection if the daemon is away for more than 2.3 s. After an
  ///   error, call the method again.
  public func endCall() async throws(ApplicationError) {
    try await blocking { () throws(ApplicationError) in try self.endCallAndWait() }
  }

  /// Says that the phone call of the application has ended. Blocks. Otherwise like ``endCall()``.
  public func endCallAndWait() throws(ApplicationError) {
    try setInCall(false)
  }

  private func setInCall(_ isInCall: Bool) throws(ApplicationError) {
    try callTurn.withLock { _ throws(ApplicationError) in
      try throwIfEnded()
      if calls == nil { return }
      // After any error, the application assumes that it has no call. The library must therefore
      // not begin the call again after a restart of the daemon.
      state.withLock { $0.isInCall = isInCall }
      do throws(ApplicationError) {
        try send(isInCall: isInCall)
      } catch {
        state.withLock { $0.isInCall = false }
        throw error
      }
    }
  }

  private func send(isInCall: Bool) throws(ApplicationError) {
    if isInCall {
      _ = try ask(ApplicationInterface.BeginCall.self, .init())
    } else {
      _ = try ask(ApplicationInterface.EndCall.self, .init())
    }
  }

  /// Begins the phone call again. Returns false if the daemon does not answer.
  func restoreCall() -> Bool {
    callTurn.withLock { _ in
      guard state.withLock({ $0.isInCall }) else { return true }
      do throws(ApplicationError) {
        try send(isInCall: true)
      } catch {
        if error.isTransient { return false }
        state.withLock { $0.isInCall = false }
      }
      return true
    }
  }
}
