import LinuxSystem
import TaskSchedulerWire

// Local notifications, which the daemon shows whether or not the application runs.
extension ScheduledApplication {
  /// Schedules a local notification.
  ///
  ///     try await application.scheduleNotification(
  ///       NotificationContent(title: "Tea", sound: "message-new-instant"),
  ///       for: .at(
  ///         CalendarDate(year: 2026, month: 11, day: 22, hour: 16, timeZone: "Europe/Berlin"),
  ///         repeats: .day))
  ///
  /// When the method returns, the daemon has stored the notification durably. The notification
  /// fires even if the application ends, the daemon restarts or the machine reboots. An active
  /// application receives ``ApplicationEvent/didReceive(_:)``. Otherwise the desktop shows the
  /// notification; if the user selects it, the application receives
  /// ``ApplicationEvent/didSelect(_:)``. A notification does not resume a suspended application.
  ///
  /// - Parameters:
  ///   - content: The content of the notification.
  ///   - schedule: The time at which the notification fires.
  /// - Returns: The identity of the notification.
  /// - Throws: ``ApplicationRefusal/quotaExceeded(quota:limit:)`` if the application already has
  ///   `MaxNotificationsPerApplication` (128 by default) scheduled notifications, or its user has
  ///   `MaxNotificationsPerUser` (1024 by default) notifications that are scheduled or not yet
  ///   shown; ``ApplicationRefusal/invalidParameter(_:)`` or
  ///   ``ApplicationRefusal/invalidNotification(field:reason:)`` with the name of the field;
  ///   ``ApplicationRefusal/notStored(reason:)``; an error of the connection if the daemon is away
  ///   for more than 2.3 s, or if ``isManaged`` is false.
  @discardableResult
  public func scheduleNotification(
    _ content: NotificationContent, for schedule: NotificationSchedule
  ) async throws(ApplicationError) -> NotificationID {
    try await blocking { () throws(ApplicationError) in
      try self.scheduleNotificationAndWait(content, for: schedule)
    }
  }

  /// Schedules a local notification. Blocks. Otherwise like ``scheduleNotification(_:for:)``.
  @discardableResult
  public func scheduleNotificationAndWait(
    _ content: NotificationContent, for schedule: NotificationSchedule
  ) throws(ApplicationError) -> NotificationID {
    try post(content, schedule)
  }

  /// Presents a notification now. Otherwise like ``scheduleNotification(_:for:)``.
  @discardableResult
  public func presentNotification(
    _ content: NotificationContent
  ) async throws(ApplicationError) -> NotificationID {
    try await blocking { () throws(ApplicationError) in
      try self.presentNotificationAndWait(content)
    }
  }

  /// Presents a notification now. Blocks. Otherwise like ``scheduleNotification(_:for:)``.
  @discardableResult
  public func presentNotificationAndWait(
    _ content: NotificationContent
  ) throws(ApplicationError) -> NotificationID {
    try post(content, nil)
  }

  /// Returns the notifications of the application, in the order of their creation.
  ///
  /// Of the notifications that were shown and do not fire again, the daemon keeps the latest 128.
  ///
  /// - Throws: An error of the connection if the daemon is away for more than 2.3 s, or if
  ///   ``isManaged`` is false.
  public func notifications() async throws(ApplicationError) -> [LocalNotification] {
    try await blocking { () throws(ApplicationError) in try self.notificationsAndWait() }
  }

  /// Returns the notifications of the application. Blocks. Otherwise like ``notifications()``.
  public func notificationsAndWait() throws(ApplicationError) -> [LocalNotification] {
    let all = try list { input throws(ApplicationError) in
      try self.askForNotifications(ApplicationInterface.ListNotifications.self, input)
    }.map { LocalNotification($0) }
    state.withLock { $0.know(all.map(\.id.rawValue)) }
    return all
  }

  /// Returns the notifications that wait for their time. Otherwise like ``notifications()``.
  public func scheduledNotifications() async throws(ApplicationError) -> [LocalNotification] {
    try await blocking { () throws(ApplicationError) in try self.scheduledNotificationsAndWait() }
  }

  /// Returns the notifications that wait for their time. Blocks. Otherwise like
  /// ``notifications()``.
  public func scheduledNotificationsAndWait() throws(ApplicationError) -> [LocalNotification] {
    try notificationsAndWait().filter { $0.state == .scheduled }
  }

  /// Cancels a scheduled notification, or removes a shown notification.
  ///
  /// - Throws: ``ApplicationRefusal/unknownNotification(_:)``; an error of the connection if the
  ///   daemon is away for more than 2.3 s, or if ``isManaged`` is false.
  public func cancelNotification(_ notification: NotificationID) async throws(ApplicationError) {
    try await blocking { () throws(ApplicationError) in
      try self.cancelNotificationAndWait(notification)
    }
  }

  /// Cancels a notification. Blocks. Otherwise like ``cancelNotification(_:)``.
  public func cancelNotificationAndWait(
    _ notification: NotificationID
  ) throws(ApplicationError) {
    _ = try askForNotifications(
      ApplicationInterface.CancelNotifications.self, .init(notification: notification.rawValue))
  }

  /// Cancels all notifications of the application, and removes the shown notifications.
  ///
  /// - Throws: An error of the connection if the daemon is away for more than 2.3 s, or if
  ///   ``isManaged`` is false.
  public func cancelAllNotifications() async throws(ApplicationError) {
    try await blocking { () throws(ApplicationError) in try self.cancelAllNotificationsAndWait() }
  }

  /// Cancels all notifications. Blocks. Otherwise like ``cancelAllNotifications()``.
  public func cancelAllNotificationsAndWait() throws(ApplicationError) {
    _ = try askForNotifications(ApplicationInterface.CancelNotifications.self, .init())
  }

  /// Sets the number on the icon of the application.
  ///
  /// - Parameter count: The number, from 0 to 999,999,999; 0 removes the badge.
  /// - Throws: ``ApplicationRefusal/invalidParameter(_:)`` for another number; an error of the
  ///   connection if the daemon is away for more than 2.3 s, or if ``isManaged`` is false.
  public func setBadgeCount(_ count: Int) async throws(ApplicationError) {
    try await blocking { () throws(ApplicationError) in try self.setBadgeCountAndWait(count) }
  }

  /// Sets the number on the icon of the application. Blocks. Otherwise like ``setBadgeCount(_:)``.
  public func setBadgeCountAndWait(_ count: Int) throws(ApplicationError) {
    _ = try askForNotifications(ApplicationInterface.SetBadge.self, .init(badge: count))
  }

  // MARK: - Calls

  private func post(
    _ content: NotificationContent, _ schedule: NotificationSchedule?
  ) throws(ApplicationError) -> NotificationID {
    let input = ApplicationInterface.ScheduleNotification.Input(
      content: content.wireValue, schedule: schedule?.wireValue)
    let start = WallClock.now()
    var isFirst = true
    let id = try retrying { () throws(ApplicationError) in
      defer { isFirst = false }
      if !isFirst, let id = try self.find(input, postedFrom: Int(start)) { return id }
      return try self.callForNotifications(
        ApplicationInterface.ScheduleNotification.self, input
      ).notification
    }
    state.withLock { $0.know([id]) }
    return NotificationID(id)
  }

  /// Returns the notification of an earlier attempt whose answer was lost; nil if there is none.
  /// The notification has the same content and schedule, and this process does not know its id.
  private func find(
    _ input: ApplicationInterface.ScheduleNotification.Input, postedFrom start: Int
  ) throws(ApplicationError) -> Int? {
    let all = try list { input throws(ApplicationError) in
      try self.callForNotifications(ApplicationInterface.ListNotifications.self, input)
    }
    return state.withLock { state in
      all.last {
        $0.content == input.content && $0.schedule == input.schedule
          && !state.knows(notification: $0.id)
          && (input.schedule != nil || $0.firesAtUSec >= start)
      }?.id
    }
  }

  /// Returns all pages of the list, in order.
  private func list(
    _ page: (ApplicationInterface.ListNotifications.Input) throws(ApplicationError)
      -> ApplicationInterface.ListNotifications.Output
  ) throws(ApplicationError) -> [ApplicationInterface.Notification] {
    var all: [ApplicationInterface.Notification] = []
    var input = ApplicationInterface.ListNotifications.Input()
    repeat {
      let output = try page(input)
      all += output.notifications
      input.after = output.next
    } while input.after != nil
    return all
  }

  private func askForNotifications<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input
  ) throws(ApplicationError) -> Method.Output {
    try retrying { () throws(ApplicationError) in try self.callForNotifications(method, input) }
  }

  /// Makes a call. Fails if the program runs without a daemon, because the daemon stores the
  /// notifications.
  private func callForNotifications<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input
  ) throws(ApplicationError) -> Method.Output {
    guard let calls else { throw .noDaemon(path: socketPath.path) }
    return try calls.call(method, input)
  }
}
