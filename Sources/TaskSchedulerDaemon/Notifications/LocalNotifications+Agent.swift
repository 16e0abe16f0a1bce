import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerWire

/// Handles the reports of session agents about notifications. The caller has checked that the agent
/// is attached.
extension LocalNotifications {
  /// The maximum length, in bytes, of each of these texts: the reason of a failure, the id of an
  /// action, and an activation token.
  private static let textBytesMax = 1024

  func notificationShown(
    _ input: SessionInterface.NotificationShown.Input, of user: UserID
  ) throws {
    let name = try DesktopName(input.shown)
    let id = try id(input.notification, of: user)
    agents.shown(to: user)
    recordings.isShown(input.notification, as: name, to: user)
    for notice in notices { notice.isShown(input.notification, as: name, to: user) }
    guard let id else { return }
    log.write(.debug, "notification \(id.number) is shown")
    note(
      "cannot store that the desktop shows notification \(id.number)",
      [.presented(id, at: WallTime(nanoseconds: WallClock.nanoseconds)), .shown(id, name)])
  }

  func notificationChosen(
    _ input: SessionInterface.NotificationChosen.Input, of user: UserID
  ) throws {
    try check(input.action, "action")
    try check(input.activationToken, "activationToken")
    if let key = recordings.chosen(input.notification, by: user) {
      return post(.session(.recordingChosen(key)))
    }
    if let notice = notices.first(where: { $0.contains(input.notification) }) {
      return notice.choose(input.notification, action: input.action, by: user)
    }
    guard let id = try id(input.notification, of: user), let row = notification(id) else { return }
    post(.notification(.chosen(id, row.application)))
  }

  func notificationClosed(
    _ input: SessionInterface.NotificationClosed.Input, of user: UserID
  ) throws {
    let id = try id(input.notification, of: user)
    agents.closed(NotificationID(UInt64(input.notification)), of: user)
    for notice in notices { notice.isClosed(input.notification, of: user) }
    guard let id else { return }
    note("cannot store that the desktop closed notification \(id.number)", [.shown(id, nil)])
  }

  func notificationFailed(
    _ input: SessionInterface.NotificationFailed.Input, of user: UserID
  ) throws {
    try check(input.reason, "reason")
    let id = try id(input.notification, of: user)
    guard id != nil || notices.contains(where: { $0.contains(input.notification) }) else { return }
    log.write(.debug, "notification \(input.notification) is not shown: \(input.reason)")
    if !input.isRefused { agents.set(problem: input.reason, of: user) }
  }

  /// Returns the id if a notification of one of the user's applications has this number. Otherwise
  /// returns nil, for example because the notification was cancelled meanwhile.
  private func id(_ number: Int, of user: UserID) throws(ParameterError) -> NotificationID? {
    guard let number = UInt64(exactly: number) else {
      throw ParameterError(parameter: "notification", problem: "an id must not be negative")
    }
    let id = NotificationID(number)
    return notification(id)?.application.owner == user ? id : nil
  }

  private func check(_ text: String?, _ parameter: String) throws(SessionInterface.Failure) {
    guard let text, text.utf8.count > Self.textBytesMax else { return }
    throw .reportTooLarge(parameter: parameter, limit: Self.textBytesMax)
  }
}
