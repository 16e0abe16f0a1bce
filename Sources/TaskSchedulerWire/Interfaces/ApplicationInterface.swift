/// What an application says to taskschedd, and hears from it.
///
/// The caller is known by its socket (SO_PEERCRED, SO_PEERPIDFD), never by what it writes: each
/// method acts on the instance that the calling process belongs to, and on no other.
///
/// Times are integers in microseconds; instants count from boot (CLOCK_BOOTTIME).
public enum ApplicationInterface {
  public static let name = "org.taskschedd.Application"

  /// What the `.varlink` file declares; its text is what introspection serves.
  public static let description = InterfaceDescription(
    embedded: PackageResources.org_taskschedd_Application_varlink)

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
