import TaskSchedulerWire

/// The methods of both interfaces, and the service that offers them.
public enum InterfaceMethods {
  /// All methods' types.
  public static let all: [any (InterfaceMethod & SendableMetatype).Type] = [
    ApplicationInterface.Register.self, ApplicationInterface.Acknowledge.self,
    ApplicationInterface.BeginBackgroundTask.self, ApplicationInterface.EndBackgroundTask.self,
    ApplicationInterface.SetKeepAliveTimeout.self, ApplicationInterface.ManageSocket.self,
    ApplicationInterface.ReleaseSocket.self, ApplicationInterface.ScheduleNotification.self,
    ApplicationInterface.ListNotifications.self, ApplicationInterface.CancelNotifications.self,
    ApplicationInterface.SetBadge.self,
    ApplicationInterface.GetStatus.self, ControlInterface.ListApplications.self,
    ControlInterface.GetApplication.self, ControlInterface.Explain.self,
    ControlInterface.Launch.self,
    ControlInterface.Adopt.self, ControlInterface.Activate.self,
    ControlInterface.Deactivate.self, ControlInterface.SendToBackground.self,
    ControlInterface.Terminate.self, ControlInterface.ListNotifications.self,
    ControlInterface.PostNotification.self, ControlInterface.CancelNotifications.self,
    ControlInterface.PostSystemChange.self, ControlInterface.GetMemory.self,
    ControlInterface.WarnMemory.self, ControlInterface.Monitor.self,
    ControlInterface.GetSettings.self, ControlInterface.GetLog.self,
    ControlInterface.Reload.self,
  ]

  static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

  static let service = Service(
    vendor: "taskschedd", product: "fuzz", version: "0", url: "https://taskschedd.org",
    interfaces: [ApplicationInterface.description, ControlInterface.description])
}

extension ReceivedCall {
  /// Decodes the parameters as those that the method takes.
  func decodeInput<Method: InterfaceMethod>(of method: Method.Type) throws(ParameterError) {
    _ = try decode(Method.Input.self)
  }
}
