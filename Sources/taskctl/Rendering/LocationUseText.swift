import TaskSchedulerWire

/// The sentences of `taskctl why` about the location.
enum LocationUseText {
  /// Returns the events about the location that resume or launch the application, in words that
  /// follow "when".
  static func events(_ application: ControlInterface.Application) -> [String] {
    application.location.compactMap { service in
      switch service {
      case .updates: nil
      case .significantChanges: "the location changes by about 500 m"
      case .regions: "the machine enters or leaves one of its regions"
      }
    }
  }

  /// Returns the sentence about the events that launch an application that does not run.
  static func launch(_ application: ControlInterface.Application) -> [String] {
    let events = events(application)
    if events.isEmpty || application.unmanagedPID != nil { return [] }
    let when = events.joined(separator: ", or when ")
    switch application.lastEnd?.reason {
    case .terminatedByOperator, .terminatedByUser:
      return [
        "It monitors the location, but an operator or the user terminated it. The daemon does not "
          + "launch it for the location until it is launched again."
      ]
    case .exited, .crashed, .unknown, .callbackTimeout, .backgroundTimeExpired, .keepAliveTimeout,
      .memoryPressure, .gpuInBackground, .sharedResourceHeld, .excessiveUse, .optedOut,
      .schedulerStopped, .released, nil:
      break
    }
    return application.launchable && application.multitasking
      ? ["The daemon launches it when \(when)."]
      : ["It is told when \(when), but the daemon cannot launch it for that."]
  }

  /// Returns the sentences about continuous updates.
  static func updates(_ application: ControlInterface.Application) -> [String] {
    guard application.location.contains(.updates) else { return [] }
    if application.backgroundModes.contains("location") {
      return ["It has started location updates."]
    }
    return [
      "It has started location updates. They do not entitle it to run in the background, because "
        + "it does not have the mode location."
    ]
  }
}
