import TaskSchedulerWire

/// The beginning or the end of an interruption of the application's audio. The cause is a phone
/// call, or another application that began to play.
public enum AudioInterruption: Hashable, Sendable {
  /// The interruption begins. The application pauses what it plays.
  case began
  /// The interruption has ended.
  ///
  /// If `shouldResume` is true, a phone call was the cause, and the application may play again.
  /// Otherwise the user has chosen to listen to another application, so the interrupted application
  /// must not play by itself.
  case ended(shouldResume: Bool)

  init(_ interruption: ApplicationInterface.AudioInterruption) {
    self =
      interruption.began ? .began : .ended(shouldResume: interruption.shouldResume ?? false)
  }
}
