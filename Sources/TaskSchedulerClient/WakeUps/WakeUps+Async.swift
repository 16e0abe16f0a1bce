// For callers that must not block: the same, away from the threads of Swift's concurrency.
extension ScheduledApplication {
  /// Hands a connected stream socket over, as the one that blocks.
  public func manage(socket fileDescriptor: Int32) async throws(ApplicationError) -> ManagedSocket {
    try await blocking { () throws(ApplicationError) in
      try self.manage(socket: fileDescriptor)
    }
  }

  /// Schedules a local notification, as the one that blocks.
  @discardableResult
  public func schedule(
    _ content: NotificationContent, at schedule: NotificationSchedule
  ) async throws(ApplicationError) -> NotificationID {
    try await blocking { () throws(ApplicationError) in
      try self.schedule(content, at: schedule)
    }
  }

  /// Presents a notification now, as the one that blocks.
  @discardableResult
  public func presentNow(
    _ content: NotificationContent
  ) async throws(ApplicationError) -> NotificationID {
    try await blocking { () throws(ApplicationError) in try self.presentNow(content) }
  }

  /// The application's notifications, those that were shown among them.
  public func notifications() async throws(ApplicationError) -> [LocalNotification] {
    try await blocking { () throws(ApplicationError) in try self.notifications() }
  }

  /// The notifications that wait for their time.
  public func scheduledNotifications() async throws(ApplicationError) -> [LocalNotification] {
    try await blocking { () throws(ApplicationError) in try self.scheduledNotifications() }
  }

  /// Cancels a notification, as the one that blocks.
  public func cancel(_ notification: NotificationID) async throws(ApplicationError) {
    try await blocking { () throws(ApplicationError) in try self.cancel(notification) }
  }

  /// Cancels all notifications of the application.
  public func cancelAllNotifications() async throws(ApplicationError) {
    try await blocking { () throws(ApplicationError) in try self.cancelAllNotifications() }
  }

  /// Sets the number that stands at the application's icon; 0 removes it.
  public func setApplicationIconBadgeNumber(_ number: Int) async throws(ApplicationError) {
    try await blocking { () throws(ApplicationError) in
      try self.setApplicationIconBadgeNumber(number)
    }
  }
}
