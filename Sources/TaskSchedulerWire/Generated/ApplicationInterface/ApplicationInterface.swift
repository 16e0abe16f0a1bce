// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

/// What an application says to taskschedd, and hears from it.
///
/// The caller is known by its socket (SO_PEERCRED, SO_PEERPIDFD), never by what it writes: each
/// method acts on the instance that the calling process belongs to, and on no other.
///
/// Times are integers in microseconds; instants count from boot (CLOCK_BOOTTIME).
///
/// A field whose name ends in FileDescriptor is an index, from 0, into the file descriptors that
/// are sent with the message (SCM_RIGHTS), as systemd counts them; it is no descriptor's number.
///
/// A program that the daemon launches finds in its environment, beside what its manifest sets:
/// - `TASKSCHEDD_SOCKET`: the daemon's socket, for its connections
/// - `TASKSCHEDD_APPLICATION`: the application's id, to be given to Register
/// - `TASKSCHEDD_INSTANCE`: a marker by which the daemon knows the program's descendants
/// - `TASKSCHEDD_LAUNCH_REASON`: why it was launched: a value of LaunchReason
///
/// 'taskctl run' and 'taskctl task' set the same.
///
/// A message that is no call closes its connection without a reply, nothing of it is carried out,
/// and the daemon's log says why: no JSON object in UTF-8, a name twice in an object, more than 64
/// levels, a field that calls do not have or of another type, more together with oneway, more than
/// 1 MiB, more than 8 descriptors. What is wrong in the parameters of a call is answered with
/// InvalidParameter, which names the field, and the connection goes on.
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
