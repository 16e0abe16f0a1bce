// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

/// The interface between operators and taskschedd. taskctl uses it.
///
/// Root, the daemon's own user and members of the operators' group may see and operate every
/// application. Any other user may see and operate the applications that run as that user. A call
/// names an application by its id. If several users have an application with this id, the call must
/// also name the owner's uid.
///
/// Times are integers in microseconds; instants count from boot (CLOCK_BOOTTIME).
///
/// A field with a name that ends in FileDescriptor is an index into the file descriptors that are
/// sent with the message (SCM_RIGHTS). The first one has the index 0.
///
/// The daemon closes the connection of a client that sends a message that is not a valid call. It
/// does not carry out any part of the message, sends no reply, and logs the reason.
///
/// A valid call is a JSON object in UTF-8, at most 1 MiB long and nested at most 64 levels deep. It
/// has only the fields of a Varlink call, each with its type. No object in it contains a name
/// twice. It does not set both more and oneway. It comes with at most 8 file descriptors.
///
/// The daemon answers a call with wrong parameters with InvalidParameter, which names the field.
/// The connection stays open.
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
