import TaskSchedulerWire

/// A report to a daemon about one of the daemon's notifications.
struct NotificationReport: Equatable {
  /// An event of a notification.
  enum Kind: Equatable {
    case shown(SessionInterface.ShownNotification)
    case chosen(action: String?, activationToken: String?)
    case closed
    case failed(reason: String, isRefused: Bool)
  }

  /// The daemon's id of the notification.
  var notification: Int
  /// The time of the firing that the report is about.
  var firedAt: Int
  var kind: Kind

  /// Returns whether a later report replaces this one, if this one was not sent yet.
  func isReplaced(by later: NotificationReport) -> Bool {
    guard notification == later.notification else { return false }
    switch (kind, later.kind) {
    case (.shown, .shown), (.failed, .shown), (.failed, .failed),
      (.failed, .closed), (.closed, .shown), (.closed, .closed), (.chosen, .chosen):
      return true
    case (.shown, .closed), (.shown, .chosen), (.shown, .failed), (.failed, .chosen),
      (.closed, .chosen), (.closed, .failed), (.chosen, .shown), (.chosen, .closed),
      (.chosen, .failed):
      return false
    }
  }
}

/// A queue of reports to a daemon about notifications. A report stays in the queue until the daemon
/// has acknowledged the report.
///
/// The queue has at most four unsent reports for each notification, so it stays small while a
/// daemon does not read.
struct NotificationReports {
  private var queue: [NotificationReport] = []
  /// Whether the first report was sent and the reply has not arrived.
  private var isFirstSent = false

  mutating func add(_ report: NotificationReport) {
    let sent = isFirstSent ? queue.prefix(1) : []
    queue = sent + queue.dropFirst(sent.count).filter { !$0.isReplaced(by: report) }
    queue.append(report)
  }

  /// Returns whether a report about the end of a notification is outstanding. The daemon may then
  /// send the notification again, and the agent must not show it.
  func hasEnd(of notification: SessionInterface.Notification) -> Bool {
    queue.contains { report in
      guard report.notification == notification.id, report.firedAt == notification.firedAt else {
        return false
      }
      switch report.kind {
      case .closed, .failed(_, isRefused: true): return true
      case .shown, .chosen, .failed(_, isRefused: false): return false
      }
    }
  }

  /// Returns the report that must be sent next, and marks it as sent; nil if there is none.
  mutating func take() -> NotificationReport? {
    guard !isFirstSent, let first = queue.first else { return nil }
    isFirstSent = true
    return first
  }

  /// Handles the reply to the report that was sent.
  mutating func acknowledged() {
    guard isFirstSent else { return }
    isFirstSent = false
    queue.removeFirst()
  }

  /// Begins a new attachment: a report without a reply must be sent again.
  mutating func attached() { isFirstSent = false }
}
