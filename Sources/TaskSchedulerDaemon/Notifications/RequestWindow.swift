import EventLoop
import TaskSchedulerCore

/// The calls of Notify that a service has not answered: whether it may be given another, and
/// whether it hangs.
///
/// One at a time: a service that ends may have ended of what it was asked last, and dunst on
/// GLib 2.74 stops answering for ever when many answers are due at once.
struct RequestWindow {
  private struct Request {
    var call: BusCall
    var sentAt: UInt64
    /// The service is not waited for any more before another is asked for.
    var isOverdue = false
  }

  private var requests: [NotificationID: Request] = [:]
  private var heardAt: UInt64 = 0

  /// How many answers may be overdue before it is asked nothing more.
  static let overdueMax = 64
  /// A service that says nothing for so long, in nanoseconds, hangs. Its answer is awaited all the
  /// same: asked again, it might show a notification twice. Others are asked for meanwhile, for it
  /// may just have lost that answer.
  let answerTime: UInt64

  init(answerTime: UInt64) {
    self.answerTime = answerTime
  }

  var hasRoom: Bool {
    requests.count <= Self.overdueMax && requests.values.allSatisfy(\.isOverdue)
  }

  /// When the next is overdue, in nanoseconds since boot.
  var nextOverdue: UInt64? {
    requests.values.filter { !$0.isOverdue }.map { $0.sentAt + answerTime }.min()
  }

  mutating func sent(_ id: NotificationID, _ call: BusCall, at now: UInt64) {
    requests[id] = Request(call: call, sentAt: now)
  }

  mutating func answered(_ id: NotificationID) {
    requests[id] = nil
  }

  /// - Returns: whether the service has said nothing since one that is overdue now was sent.
  mutating func findOverdue(at now: UInt64) -> Bool {
    var hangs = false
    for (id, request) in requests
    where !request.isOverdue && request.sentAt + answerTime <= now {
      requests[id]?.isOverdue = true
      if heardAt < request.sentAt { hangs = true }
    }
    return hangs
  }

  /// The service has said something.
  mutating func heard(at now: UInt64) {
    heardAt = now
  }

  /// Nothing is awaited any more.
  ///
  /// - Returns: the calls that are to be forgotten.
  mutating func removeAll() -> [BusCall] {
    defer { self = RequestWindow(answerTime: answerTime) }
    return requests.values.map(\.call)
  }
}
