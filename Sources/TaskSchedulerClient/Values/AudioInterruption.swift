import TaskSchedulerWire

/// A change of an interruption of the application's audio by a phone call.
public enum AudioInterruption: Hashable, Sendable {
  /// The interruption begins. The application pauses what it plays.
  case began
  /// The interruption has ended.
  ///
  /// With `shouldResume`, the application played when the interruption began, and may play again.
  case ended(shouldResume: Bool)

  init(_ interruption: ApplicationInterface.AudioInterruption) {
    self =
      interruption.began ? .began : .ended(shouldResume: interruption.shouldResume ?? false)
  }
}
