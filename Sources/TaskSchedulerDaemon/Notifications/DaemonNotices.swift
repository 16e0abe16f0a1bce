import TaskSchedulerCore
import TaskSchedulerWire

/// The daemon's own notifications. The session agents show them beside the notifications of
/// applications.
///
/// The notification store does not contain these notifications. Their ids are higher than all ids
/// in the store.
protocol DaemonNotices: AnyObject {
  /// Returns the orders that tell an agent to show the notices for a user. Records the notices as
  /// shown, so that the daemon can handle the agent's reports about them.
  func orders(for user: UserID) -> [SessionInterface.Notification]
  /// Returns whether a notification with this id may be a notice of this kind.
  func contains(_ id: Int) -> Bool
  func isShown(_ id: Int, as name: DesktopName, to user: UserID)
  func isClosed(_ id: Int, of user: UserID)
  /// Handles the user's choice.
  ///
  /// - Parameter action: The id of the chosen action; nil if the user chose the notification
  ///   itself.
  func choose(_ id: Int, action: String?, by user: UserID)
}
