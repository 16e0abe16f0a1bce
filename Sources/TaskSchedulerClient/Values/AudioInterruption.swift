import TaskSchedulerWire

/// The beginning or the end of an interruption of the application's audio. The cause is a phone
/// call, or another application that began to play.
public enum AudioInterruption: Hashable, Sendable {
  /// The interruption begins. Pause the audio.
  case began
  /// The interruption has ended.
  ///
  /// If `shouldResume` is true, a phone call was the cause, and the application may play again.
  /// Otherwise the user has chosen to listen to another application, so the interrupted application
  /// must not begin to play again by itself.
  case ended(shouldResume: Bool)

  init(_ interruption: ApplicationInterface.AudioInterruption) {
    self =
      interruption.began ? .began : .ended(shouldResume: interruption.shouldResume ?? false)
  }
}
