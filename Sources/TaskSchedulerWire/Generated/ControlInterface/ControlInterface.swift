// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

/// What operators say to taskschedd, and hear from it. `taskctl` speaks this.
///
/// Root, the daemon's own user and members of the operators' group may operate every application;
/// any user may operate and see those that run as that user. An application is named by its id and,
/// where several users run one of the same id, by its owner's uid.
///
/// Times are integers in microseconds; instants count from boot (CLOCK_BOOTTIME).
///
/// A field whose name ends in FileDescriptor is an index, from 0, into the file descriptors that
/// are sent with the message (SCM_RIGHTS), as systemd counts them; it is no descriptor's number.
///
/// A message that is no call closes its connection without a reply, nothing of it is carried out,
/// and the daemon's log says why: no JSON object in UTF-8, a name twice in an object, more than 64
/// levels, a field that calls do not have or of another type, more together with oneway, more than
/// 1 MiB, more than 8 descriptors. What is wrong in the parameters of a call is answered with
/// InvalidParameter, which names the field, and the connection goes on.
public enum ControlInterface {
  public static let name = "org.taskschedd.Control"

  /// What the `.varlink` file declares; its text is what introspection serves.
  public static let description = InterfaceDescription(
    embedded: PackageResources.org_taskschedd_Control_varlink)

  /// The types of the methods.
  public static let methods: [any InterfaceMethod.Type] = [
    ListApplications.self, GetApplication.self, Explain.self, Launch.self, Adopt.self,
    Activate.self, Deactivate.self, SendToBackground.self, Terminate.self, ListNotifications.self,
    PostNotification.self, CancelNotifications.self, PostSystemChange.self, GetMemory.self,
    WarnMemory.self, Monitor.self, GetSettings.self, GetLog.self, Reload.self,
  ]

  /// The full names of the methods, to tell a call by.
  public enum MethodName: String, CaseIterable, Sendable {
    case listApplications = "org.taskschedd.Control.ListApplications"
    case getApplication = "org.taskschedd.Control.GetApplication"
    case explain = "org.taskschedd.Control.Explain"
    case launch = "org.taskschedd.Control.Launch"
    case adopt = "org.taskschedd.Control.Adopt"
    case activate = "org.taskschedd.Control.Activate"
    case deactivate = "org.taskschedd.Control.Deactivate"
    case sendToBackground = "org.taskschedd.Control.SendToBackground"
    case terminate = "org.taskschedd.Control.Terminate"
    case listNotifications = "org.taskschedd.Control.ListNotifications"
    case postNotification = "org.taskschedd.Control.PostNotification"
    case cancelNotifications = "org.taskschedd.Control.CancelNotifications"
    case postSystemChange = "org.taskschedd.Control.PostSystemChange"
    case getMemory = "org.taskschedd.Control.GetMemory"
    case warnMemory = "org.taskschedd.Control.WarnMemory"
    case monitor = "org.taskschedd.Control.Monitor"
    case getSettings = "org.taskschedd.Control.GetSettings"
    case getLog = "org.taskschedd.Control.GetLog"
    case reload = "org.taskschedd.Control.Reload"
  }
}
