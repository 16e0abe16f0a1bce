/// A message to an application, other than a callback.
public enum Notice: Equatable, Sendable {
  /// Sockets that the application handed over are ready. The application may run until it
  /// acknowledges this id, at most for `EventTime`.
  case socketsReady(CallbackID, [SocketReadiness])
  /// The system changes that the application has not received before, in order.
  case systemChanges([SystemChange])
  /// A notification of the application fired while the application was active.
  case notificationFired(NotificationID)
  /// The user chose a notification of the application.
  case notificationChosen(NotificationID)
  /// The machine is short of memory. The application should free memory that it can rebuild.
  case memoryWarning
  /// The user sent the application a command, for example by a media key. The application may run
  /// until it acknowledges this id, at most for `EventTime`.
  case remoteControl(CallbackID, RemoteCommand)
  /// A phone call or another application interrupts the application's audio, or no longer
  /// interrupts it. The application may run until it acknowledges this id, at most for `EventTime`.
  case audioInterruption(CallbackID, AudioInterruption)
  /// The application's phone call is on hold because of a newer call, or is no longer on hold. The
  /// application may run until it acknowledges this id, at most for `EventTime`.
  case call(CallbackID, isOnHold: Bool)
  /// A location, for continuous updates.
  case location(Location)
  /// The location has changed significantly. The application may run until it acknowledges this id,
  /// at most for `EventTime`.
  case significantChange(CallbackID, Location)
  /// The machine entered or left a region, as the location shows. The application may run until it
  /// acknowledges this id, at most for `EventTime`.
  case region(CallbackID, RegionCrossing, Location)
  /// The permission of the application to learn the location has changed.
  case locationAuthorization(LocationAuthorization)

  /// Whether the application may begin to play because of the notice. If so, the application may
  /// run for `AudioGraceTime`, because the audio server reports a new stream some time later.
  var mayBeginPlaying: Bool {
    switch self {
    case .remoteControl, .audioInterruption(_, .ended(shouldResume: true)): true
    case .audioInterruption(_, .began), .audioInterruption(_, .ended(shouldResume: false)), .call,
      .socketsReady, .systemChanges, .notificationFired, .notificationChosen, .memoryWarning,
      .location, .significantChange, .region, .locationAuthorization:
      false
    }
  }
}
