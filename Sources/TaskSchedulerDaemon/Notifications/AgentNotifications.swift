import TaskSchedulerCore
import TaskSchedulerWire

/// Tells the session agent of each user which notifications to show and which badges to set
/// (contract §9 and §20).
///
/// While a user has no agent, the daemon cannot send orders. The user may still see notifications
/// that an earlier agent showed. Therefore, the daemon sends everything again to each agent that
/// attaches. After a restart, the daemon also sends everything again to the agents that stayed
/// attached. The daemon repeats the withdrawal of a notification until an agent has reported the
/// notification as closed.
final class AgentNotifications {
  typealias Order = SessionInterface.Attach.Output

  /// The maximum number of withdrawn notifications of one user that no agent has reported as
  /// closed.
  static let withdrawnMax = 1024

  /// Sends an order to the agent of a user. Returns whether an agent is attached.
  var send: (Order, UserID) -> Bool = { _, _ in false }
  /// Sends the orders that an agent needs after it has attached.
  var begin: ([Order], UserID) -> Void = { _, _ in }
  private let log: Log
  /// The withdrawn notifications that no agent has reported as closed. The value is the service
  /// that shows the notification, and the id that the service assigned; nil if no agent has
  /// reported the notification as shown.
  private var withdrawn: [UserID: [NotificationID: DesktopName?]] = [:]
  /// For each user, the last logged reason why the user cannot see notifications.
  private var problems: [UserID: String] = [:]

  init(log: Log) {
    self.log = log
  }

  /// Shows a notification to a user as soon as possible.
  func show(_ notification: SessionInterface.Notification, to user: UserID) {
    if !send(Order(show: notification), user) {
      set(problem: "no session agent of the user is attached", of: user)
    }
  }

  /// Closes a notification. If the agent has not shown it yet, keeps the agent from showing it.
  ///
  /// - Parameter name: The service that shows the notification, and the id that the service
  ///   assigned; nil if no agent has reported the notification as shown.
  func withdraw(_ id: NotificationID, shownAs name: DesktopName?, of user: UserID) {
    let isSent = send(Order(withdrawing: id, name), user)
    // If no agent is attached, the user can see the notification only if an earlier agent has
    // reported it as shown.
    guard isSent || name != nil, withdrawn[user]?.count ?? 0 < Self.withdrawnMax else { return }
    withdrawn[user, default: [:]][id] = .some(name)
  }

  func setBadge(_ count: Int, of key: ApplicationKey) {
    _ = send(Order(badge: .init(application: key.id.name, count: count)), key.owner)
  }

  /// Sends all withdrawals, notifications and badges to an agent that has attached.
  ///
  /// - Parameters:
  ///   - notifications: the notifications that the user must see.
  ///   - badges: the badges of the user's applications.
  func synchronize(
    _ user: UserID, notifications: [SessionInterface.Notification],
    badges: [SessionInterface.Badge]
  ) {
    var orders: [Order] = []
    for (id, name) in (withdrawn[user] ?? [:]).sortedByKey {
      orders.append(Order(withdrawing: id, name))
    }
    for notification in notifications { orders.append(Order(show: notification)) }
    for badge in badges { orders.append(Order(badge: badge)) }
    orders.append(Order(synchronized: true))
    begin(orders, user)
  }

  // MARK: Reports

  func shown(to user: UserID) {
    guard problems.removeValue(forKey: user) != nil else { return }
    log.write(.notice, "can show notifications to user \(user.uid) again", id: .desktopFound)
  }

  func closed(_ id: NotificationID, of user: UserID) {
    withdrawn[user]?[id] = nil
    if withdrawn[user]?.isEmpty == true { withdrawn[user] = nil }
  }

  /// Logs once that notifications cannot be shown to a user, and again if the reason changes.
  func set(problem: String, of user: UserID) {
    guard problems.updateValue(problem, forKey: user) != problem else { return }
    log.write(
      .notice, "cannot show notifications to user \(user.uid): \(problem)", id: .desktopMissing)
  }
}

extension SessionInterface.Attach.Output {
  fileprivate init(withdrawing id: NotificationID, _ name: DesktopName?) {
    self.init(close: .init(id: Int(clamping: id.number), shown: name.map { .init($0) }))
  }
}

extension SessionInterface.ShownNotification {
  init(_ name: DesktopName) {
    self.init(id: Int(name.number), service: name.service)
  }
}

extension DesktopName {
  /// The maximum length of the identity of a service, in bytes.
  static let serviceBytesMax = 512

  /// Checks the identity that an agent reports.
  init(_ shown: SessionInterface.ShownNotification) throws {
    guard let number = UInt32(exactly: shown.id) else {
      throw ParameterError(
        parameter: "shown.id", problem: "it must be from 0 to 4294967295")
    }
    guard shown.service.utf8.count <= Self.serviceBytesMax else {
      throw SessionInterface.Failure.reportTooLarge(
        parameter: "shown.service", limit: Self.serviceBytesMax)
    }
    self.init(number: number, service: shown.service)
  }
}
