import TaskSchedulerWire

// The methods that change nothing: without a client to answer, they need not be carried out.

extension ApplicationInterface.MethodName {
  /// Whether the method does nothing but answer.
  var onlyAsks: Bool {
    switch self {
    case .getStatus, .listNotifications: true
    case .register, .acknowledge, .beginBackgroundTask, .endBackgroundTask, .setKeepAliveTimeout,
      .manageSocket, .releaseSocket, .scheduleNotification, .cancelNotifications, .setBadge:
      false
    }
  }
}

extension ControlInterface.MethodName {
  /// Whether the method does nothing but answer.
  var onlyAsks: Bool {
    switch self {
    case .listApplications, .getApplication, .explain, .listNotifications, .getMemory, .monitor,
      .getSettings, .getLog:
      true
    case .launch, .adopt, .activate, .deactivate, .sendToBackground, .terminate,
      .postNotification, .cancelNotifications, .postSystemChange, .warnMemory, .reload:
      false
    }
  }
}
