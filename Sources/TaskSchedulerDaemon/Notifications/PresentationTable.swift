import DequeModule
import TaskSchedulerCore

/// What one user's notification service is to show, has been asked to show, and shows. Knows of no
/// bus: what must be done is returned.
struct PresentationTable {
  private struct Entry {
    /// To be shown, or shown anew.
    var waiting: DesktopNotification?
    /// The service was asked to show it and has not answered.
    var asked: DesktopNotification?
    /// To be closed once the service has answered.
    var isCancelled = false
    /// What the service calls it.
    var shownAs: UInt32?
    var isChosen = false
    var token: String?
    /// How often the service has refused it, or ended instead of answering.
    var failures = 0
    /// What an earlier daemon has had shown, until it is known whether the service is that one.
    var remembered: Remembered?
  }

  private struct Remembered {
    var notification: DesktopNotification
    var name: DesktopName
  }

  private var entries: [NotificationID: Entry] = [:]
  private var queue: Deque<NotificationID> = []
  private var names: [UInt32: NotificationID] = [:]
  /// How many the service was asked to show and has not answered.
  private(set) var askedCount = 0

  /// A notification that the service fails on so often is given up: it may be what ends it.
  static let failuresMax = 3

  /// Nothing waits, and nothing is shown.
  var isEmpty: Bool { entries.isEmpty }
  /// Whether one waits to be shown.
  var hasWaiting: Bool { !queue.isEmpty }
  /// Whether one was shown by an earlier daemon, and the service is not known yet.
  var hasRemembered: Bool { entries.values.contains { $0.remembered != nil } }

  // MARK: What applications want

  /// Has a notification wait for its turn. One with the same id that waits or is shown is replaced.
  mutating func show(_ notification: DesktopNotification) {
    var entry = entries[notification.id] ?? Entry()
    if entry.waiting == nil, entry.asked == nil { queue.append(notification.id) }
    entry.waiting = notification
    entry.isCancelled = false
    entries[notification.id] = entry
  }

  /// Takes a notification back.
  ///
  /// - Returns: what the service is to close, as it calls it.
  mutating func close(_ id: NotificationID) -> UInt32? {
    guard var entry = entries[id] else { return nil }
    if entry.waiting != nil, entry.asked == nil { queue.removeAll { $0 == id } }
    entry.waiting = nil
    if entry.asked != nil || entry.remembered != nil {
      entry.isCancelled = true
      entries[id] = entry
      return nil
    }
    entries[id] = nil
    if let name = entry.shownAs { names[name] = nil }
    return entry.shownAs
  }

  // MARK: After a restart

  /// An earlier daemon has had a notification shown by this name.
  mutating func remember(_ notification: DesktopNotification, as name: DesktopName) {
    var entry = entries[notification.id] ?? Entry()
    entry.remembered = Remembered(notification: notification, name: name)
    entries[notification.id] = entry
  }

  /// What an earlier daemon has had shown by this service is to be shown in its own place, without
  /// a sound; what another has shown is gone with that one.
  ///
  /// - Parameter service: nil: there is none.
  /// - Returns: what is shown no longer, and what the service is to close, as it was taken back
  ///   meanwhile.
  mutating func takeUpRemembered(
    from service: String?
  ) -> (gone: [NotificationID], toClose: [(id: NotificationID, name: UInt32)]) {
    var gone: [NotificationID] = []
    var toClose: [(id: NotificationID, name: UInt32)] = []
    for id in entries.keys.sorted() {
      guard var entry = entries[id], let remembered = entry.remembered else { continue }
      let name = remembered.name.number
      entry.remembered = nil
      if remembered.name.service != service || names[name] != nil {
        gone.append(id)
        entries[id] = entry.waiting == nil ? nil : entry
      } else if entry.isCancelled {
        toClose.append((id, name))
        entries[id] = nil
      } else {
        names[name] = id
        entry.shownAs = name
        if entry.waiting == nil {
          entry.waiting = remembered.notification
          entry.waiting?.sound = nil
          queue.append(id)
        }
        entries[id] = entry
      }
    }
    return (gone, toClose)
  }

  // MARK: Showing

  /// The next to be shown, and what it replaces: 0 for nothing. The service is asked for it now.
  mutating func next() -> (notification: DesktopNotification, replaces: UInt32)? {
    guard let id = queue.popFirst() else { return nil }
    guard var entry = entries[id], let notification = entry.waiting else {
      preconditionFailure("what is in the queue waits")
    }
    entry.waiting = nil
    entry.asked = notification
    askedCount += 1
    entries[id] = entry
    return (notification, entry.shownAs ?? 0)
  }

  /// What follows from an answer.
  enum Answered: Equatable {
    case shown
    /// The service has thrown it away at once.
    case discarded
    /// It was taken back meanwhile, and this is to be closed.
    case cancelled(UInt32?)
  }

  /// The service shows a notification as `name`; 0: it has thrown it away.
  ///
  /// - Returns: what is to be done, and the notification that had the name before, which is
  ///   followed no longer.
  mutating func answered(
    _ id: NotificationID, _ name: UInt32
  ) -> (Answered, forgotten: NotificationID?) {
    guard var entry = takeAsked(id)?.entry else { return (.discarded, nil) }
    if let old = entry.shownAs { names[old] = nil }
    entry.shownAs = name == 0 ? nil : name
    entry.isChosen = false
    entry.token = nil
    entry.failures = 0
    if entry.isCancelled { return (.cancelled(entry.shownAs), nil) }
    if entry.waiting != nil { queue.append(id) }
    if entry.waiting != nil || name != 0 { entries[id] = entry }
    guard name != 0 else { return (.discarded, nil) }
    let forgotten = names.updateValue(id, forKey: name)
    if let forgotten { lose(forgotten) }
    return (.shown, forgotten)
  }

  /// What follows from a failure.
  enum Failed: Equatable {
    /// It waits again, before all others.
    case waits
    case givenUp
    /// It was taken back meanwhile, and what it was to replace is to be closed.
    case cancelled(UInt32?)
  }

  /// The service has not shown a notification.
  ///
  /// - Parameter isFault: it may be for what the notification says.
  mutating func failed(_ id: NotificationID, isFault: Bool) -> Failed {
    guard let taken = takeAsked(id) else { return .cancelled(nil) }
    var entry = taken.entry
    if isFault { entry.failures += 1 }
    if entry.isCancelled {
      if let name = entry.shownAs { names[name] = nil }
      return .cancelled(entry.shownAs)
    }
    // What is newer has another text, and the same right to be tried.
    if entry.waiting == nil, entry.failures >= Self.failuresMax {
      entry.failures = 0
      if entry.shownAs != nil { entries[id] = entry }
      return .givenUp
    }
    entry.waiting = entry.waiting ?? taken.asked
    entries[id] = entry
    queue.prepend(id)
    return .waits
  }

  /// Takes an entry that was asked for out of the table, to be put back changed.
  private mutating func takeAsked(
    _ id: NotificationID
  ) -> (entry: Entry, asked: DesktopNotification)? {
    guard var entry = entries[id], let asked = entry.asked else { return nil }
    entries[id] = nil
    entry.asked = nil
    askedCount -= 1
    return (entry, asked)
  }

  // MARK: What the service says

  /// The service does not show `name` any more.
  mutating func closed(_ name: UInt32) -> NotificationID? {
    guard let id = names.removeValue(forKey: name) else { return nil }
    lose(id)
    return id
  }

  /// The user has chosen `name`, for the first time since it was shown.
  mutating func chosen(_ name: UInt32) -> (id: NotificationID, token: String?)? {
    guard let id = names[name], var entry = entries[id], !entry.isChosen else { return nil }
    let token = entry.token
    entry.isChosen = true
    entry.token = nil
    entries[id] = entry
    return (id, token)
  }

  /// Keeps the token by which what the choice starts may take the focus.
  mutating func keep(token: String, of name: UInt32) {
    if let id = names[name] { entries[id]?.token = token }
  }

  /// The service is gone, and with it what it showed.
  ///
  /// - Returns: what is followed no longer.
  mutating func serviceEnded() -> [NotificationID] {
    let shown = names.values.sorted()
    names = [:]
    for id in shown { lose(id) }
    return shown
  }

  /// What the service calls a notification that it shows.
  func name(of id: NotificationID) -> UInt32? { entries[id]?.shownAs }

  /// What was asked for and not answered, in its order.
  var asked: [NotificationID] {
    entries.filter { $0.value.asked != nil }.keys.sorted()
  }

  /// What is not shown as it is to be, in its order.
  var unshown: [NotificationID] {
    entries.keys.filter { isUnshown($0) }.sorted()
  }

  /// Whether it waits for being shown, or for the service's answer.
  func isUnshown(_ id: NotificationID) -> Bool {
    entries[id].map { $0.waiting != nil || $0.asked != nil } ?? false
  }

  /// It is not shown any more; nothing is left of it but what waits.
  private mutating func lose(_ id: NotificationID) {
    guard var entry = entries[id] else { return }
    entry.shownAs = nil
    entry.isChosen = false
    entry.token = nil
    entries[id] = entry.waiting == nil && entry.asked == nil ? nil : entry
  }
}
