import TaskSchedulerWire

/// The sentences of `taskctl why` about the location.
enum LocationUseText {
  /// Returns descriptions of the location events that resume or launch the application. Each
  /// description follows the word "when" in a sentence.
  static func events(_ application: ControlInterface.Application) -> [String] {
    if obstacle(application) != nil { return [] }
    return application.location.compactMap { service in
      switch service {
      case .updates: nil
      case .significantChanges: "the location changes by about 500 m"
      case .regions: "the machine enters or leaves one of its regions"
      }
    }
  }

  /// Returns why the daemon tells the application nothing, in words that follow "because"; nil if
  /// the application may learn the location.
  private static func obstacle(_ application: ControlInterface.Application) -> String? {
    switch application.locationAuthorization {
    case .authorized, nil: return nil
    case .notDetermined:
      return "the user has not yet decided whether it may learn the location"
    case .denied: break
    }
    return switch application.locationDenial {
    case .manifest: "its manifest does not name the service"
    case .settings: "the settings of the daemon deny it the location"
    case .user, nil: "the user or an operator has denied it the location"
    }
  }

  /// Returns the sentence about the events that launch an application that does not run.
  static func launch(_ application: ControlInterface.Application) -> [String] {
    if obstacle(application) != nil { return use(application) }
    let events = events(application)
    if events.isEmpty || application.unmanagedPID != nil { return [] }
    let when = events.joined(separator: ", or when ")
    switch application.lastEnd?.reason {
    case .terminatedByOperator, .terminatedByUser:
      return [
        "It monitors the location, but an operator or the user terminated it. The daemon does not "
          + "launch it for the location until an operator or the user has launched it."
      ]
    case .exited, .crashed, .unknown, .callbackTimeout, .backgroundTimeExpired, .keepAliveTimeout,
      .memoryPressure, .gpuInBackground, .sharedResourceHeld, .excessiveUse, .optedOut,
      .schedulerStopped, .released, nil:
      break
    }
    return application.launchable && application.multitasking
      ? ["The daemon launches it when \(when)."]
      : ["The daemon cannot launch it when \(when), but informs it as soon as it runs."]
  }

  /// Returns the sentences about continuous updates, and the reason if the daemon tells the
  /// application nothing about the location.
  static func use(_ application: ControlInterface.Application) -> [String] {
    let hasUpdates = application.location.contains(.updates)
    if !application.location.isEmpty, let obstacle = obstacle(application) {
      let use = hasUpdates ? "It has started location updates." : "It monitors the location."
      return ["\(use) The daemon tells it nothing, because \(obstacle)."]
    }
    guard hasUpdates else { return [] }
    if application.backgroundModes.contains("location") {
      return ["It has started location updates."]
    }
    return [
      "It has started location updates. They do not entitle it to run in the background, because "
        + "it does not have the mode location."
    ]
  }
}
