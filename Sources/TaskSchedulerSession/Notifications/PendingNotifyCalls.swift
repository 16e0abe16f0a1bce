import EventLoop

/// The pending Notify calls of a service. Decides whether the agent may send the next call, and
/// whether the service is unresponsive.
///
/// The agent sends one call at a time, for two reasons. If a notification makes the service exit,
/// the agent then knows which notification it was. And dunst on GLib 2.74 stops replying when it
/// must send many replies at once.
struct PendingNotifyCalls {
  private struct Request {
    var call: BusCall
    var sentAt: UInt64
    /// Whether the reply is overdue, so that the agent no longer waits for it before the next call.
    var isOverdue = false
  }

  private var requests: [NotificationKey: Request] = [:]
  private var receivedAt: UInt64 = 0

  /// If more replies than this number are overdue, the agent sends no further call.
  static let overdueMax = 64
  /// The time in nanoseconds after which a reply is overdue. A service that has sent nothing during
  /// that time counts as unresponsive.
  ///
  /// A call with an overdue reply stays pending, because a second call might show the notification
  /// twice. Calls for other notifications continue, because the service may have lost only this
  /// reply.
  let answerTime: UInt64

  init(answerTime: UInt64) {
    self.answerTime = answerTime
  }

  var hasRoom: Bool {
    requests.count <= Self.overdueMax && requests.values.allSatisfy(\.isOverdue)
  }

  /// The time at which the next reply becomes overdue, in nanoseconds since boot.
  var nextOverdue: UInt64? {
    requests.values.filter { !$0.isOverdue }.map { $0.sentAt + answerTime }.min()
  }

  mutating func sent(_ id: NotificationKey, _ call: BusCall, at now: UInt64) {
    requests[id] = Request(call: call, sentAt: now)
  }

  mutating func answered(_ id: NotificationKey) {
    requests[id] = nil
  }

  /// Marks calls whose reply is overdue.
  ///
  /// - Returns: Whether a call became overdue and the service has sent nothing since that call.
  mutating func findOverdue(at now: UInt64) -> Bool {
    var isUnresponsive = false
    for (id, request) in requests
    where !request.isOverdue && request.sentAt + answerTime <= now {
      requests[id]?.isOverdue = true
      if receivedAt < request.sentAt { isUnresponsive = true }
    }
    return isUnresponsive
  }

  /// Records that the service has sent a message.
  mutating func received(at now: UInt64) {
    receivedAt = now
  }

  /// Removes all pending calls.
  ///
  /// - Returns: The removed calls, whose replies must be ignored.
  mutating func removeAll() -> [BusCall] {
    defer { self = PendingNotifyCalls(answerTime: answerTime) }
    return requests.values.map(\.call)
  }
}
