import LinuxSystem
import TaskSchedulerWire

// Local notifications: to tell the user something, whether the application runs or not.
extension ScheduledApplication {
  /// Schedules a local notification. It is stored durably when this returns: it fires although the
  /// application has ended, the daemon was restarted or the machine rebooted.
  ///
  /// When it fires, an active application hears of it by `application(_:didReceive:)`; otherwise it
  /// is shown to the user, whose choosing it activates the application. It is not woken by it.
  ///
  ///     try application.schedule(
  ///       NotificationContent(title: "Tea", sound: "message-new-instant"),
  ///       at: NotificationSchedule(
  ///         date: "2026-11-22T16:00:00", timeZone: "Europe/Berlin", repeats: .day))
  ///
  /// - Throws: `refused(.quotaExceeded)` where `MaxNotificationsPerApplication` of the application
  ///   wait for their time, or `MaxNotificationsPerUser` of the user's applications wait for their
  ///   time or to be shown: cancel some; `refused(.notStored)`; `invalid(.invalidParameter)` names
  ///   the field that is not as it must be; `connection` where the daemon is away for longer than
  ///   some seconds.
  @discardableResult
  public func schedule(
    _ content: NotificationContent, at schedule: NotificationSchedule
  ) throws(ApplicationError) -> NotificationID {
    try post(content, schedule)
  }

  /// Presents a notification now; otherwise as `schedule`.
  @discardableResult
  public func presentNow(
    _ content: NotificationContent
  ) throws(ApplicationError) -> NotificationID {
    try post(content, nil)
  }

  /// The application's notifications, those that were shown among them: the latest 128 that fire no
  /// more.
  public func notifications() throws(ApplicationError) -> [LocalNotification] {
    let all = try list { input throws(ApplicationError) in
      try self.askForNotifications(ApplicationInterface.ListNotifications.self, input)
    }.map { LocalNotification($0) }
    ledger.withLock { $0.know(all.map(\.id.rawValue)) }
    return all
  }

  /// The notifications that wait for their time.
  public func scheduledNotifications() throws(ApplicationError) -> [LocalNotification] {
    try notifications().filter { $0.state == .scheduled }
  }

  /// Cancels a notification that waits for its time, or takes back one that is shown.
  ///
  /// - Throws: `refused(.unknownNotification)`.
  public func cancel(_ notification: NotificationID) throws(ApplicationError) {
    _ = try askForNotifications(
      ApplicationInterface.CancelNotifications.self, .init(notification: notification.rawValue))
  }

  /// Cancels all notifications of the application.
  public func cancelAllNotifications() throws(ApplicationError) {
    _ = try askForNotifications(ApplicationInterface.CancelNotifications.self, .init())
  }

  /// Sets the number that stands at the application's icon; 0 removes it.
  public func setApplicationIconBadgeNumber(_ number: Int) throws(ApplicationError) {
    _ = try askForNotifications(ApplicationInterface.SetBadge.self, .init(badge: number))
  }

  // MARK: - Calls

  private func post(
    _ content: NotificationContent, _ schedule: NotificationSchedule?
  ) throws(ApplicationError) -> NotificationID {
    let input = ApplicationInterface.ScheduleNotification.Input(
      content: content, schedule: schedule)
    let start = WallClock.now()
    var isFirst = true
    let id = try retrying { () throws(ApplicationError) in
      defer { isFirst = false }
      if !isFirst, let id = try self.find(input, postedFrom: Int(start)) { return id }
      return try self.callForNotifications(
        ApplicationInterface.ScheduleNotification.self, input
      ).notification
    }
    ledger.withLock { $0.know([id]) }
    return NotificationID(id)
  }

  /// The notification of a call whose answer was lost with its connection, if it was carried out:
  /// one like it that nobody here knows.
  private func find(
    _ input: ApplicationInterface.ScheduleNotification.Input, postedFrom start: Int
  ) throws(ApplicationError) -> Int? {
    let all = try list { input throws(ApplicationError) in
      try self.callForNotifications(ApplicationInterface.ListNotifications.self, input)
    }
    return ledger.withLock { ledger in
      all.last {
        $0.content == input.content && $0.schedule == input.schedule
          && !ledger.knows(notification: $0.id)
          && (input.schedule != nil || $0.firesAtUSec >= start)
      }?.id
    }
  }

  /// All pages of the list, in order.
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

  /// One attempt. Without a daemon nobody keeps a notification.
  private func callForNotifications<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input
  ) throws(ApplicationError) -> Method.Output {
    guard let line else { throw .connection(.noDaemon(path: socketPath.path)) }
    return try line.call(method, input)
  }
}
