// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

/// The interface between an application and taskschedd.
///
/// The daemon identifies the caller by its socket (SO_PEERCRED, SO_PEERPIDFD). Each method acts on
/// the instance that the calling process belongs to.
///
/// Times are integers in microseconds; instants count from boot (CLOCK_BOOTTIME).
///
/// A field with a name that ends in FileDescriptor is an index into the file descriptors that are
/// sent with the message (SCM_RIGHTS). The first one has the index 0.
///
/// The daemon, 'taskctl run' and 'taskctl task' set these variables in the environment of a
/// program:
/// - `TASKSCHEDD_SOCKET`: the path of the daemon's socket
/// - `TASKSCHEDD_APPLICATION`: the application's id, which is the argument of Register
/// - `TASKSCHEDD_INSTANCE`: a marker by which the daemon recognizes the program's descendants
/// - `TASKSCHEDD_LAUNCH_REASON`: the reason of the launch: a value of LaunchReason
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
public enum ApplicationInterface {
  public static let name = "org.taskschedd.Application"

  /// What the `.varlink` file declares; its text is what introspection serves.
  public static let description = InterfaceDescription(
    embedded: PackageResources.org_taskschedd_Application_varlink)

  /// The types of the methods.
  public static let methods: [any InterfaceMethod.Type] = [
    Register.self, Acknowledge.self, BeginBackgroundTask.self, EndBackgroundTask.self,
    SetKeepAliveTimeout.self, ManageSocket.self, ReleaseSocket.self, ScheduleNotification.self,
    ListNotifications.self, CancelNotifications.self, SetBadge.self, GetStatus.self,
  ]

  /// The full names of the methods, to tell a call by.
  public enum MethodName: String, CaseIterable, Sendable {
    case register = "org.taskschedd.Application.Register"
    case acknowledge = "org.taskschedd.Application.Acknowledge"
    case beginBackgroundTask = "org.taskschedd.Application.BeginBackgroundTask"
    case endBackgroundTask = "org.taskschedd.Application.EndBackgroundTask"
    case setKeepAliveTimeout = "org.taskschedd.Application.SetKeepAliveTimeout"
    case manageSocket = "org.taskschedd.Application.ManageSocket"
    case releaseSocket = "org.taskschedd.Application.ReleaseSocket"
    case scheduleNotification = "org.taskschedd.Application.ScheduleNotification"
    case listNotifications = "org.taskschedd.Application.ListNotifications"
    case cancelNotifications = "org.taskschedd.Application.CancelNotifications"
    case setBadge = "org.taskschedd.Application.SetBadge"
    case getStatus = "org.taskschedd.Application.GetStatus"
  }
}
