import TaskSchedulerWire

/// The name of a notification at the service that shows it.
struct ServiceName: Hashable {
  /// The service's id of the notification.
  var number: UInt32
  /// The bus id and the service's connection name. No other service has the same combination.
  var service: String

  init(number: UInt32, service: String) {
    self.number = number
    self.service = service
  }

  /// Creates the name that an earlier agent has reported; nil for a number that no service uses.
  init?(_ shown: SessionInterface.ShownNotification) {
    guard let number = UInt32(exactly: shown.id) else { return nil }
    self.init(number: number, service: shown.service)
  }

  var shown: SessionInterface.ShownNotification { .init(id: Int(number), service: service) }
}

/// The user's notifications: those that wait for a service, those with a pending Notify call, and
/// those that a service shows.
///
/// The table does not use the bus. Its functions return what the caller must do.
struct PresentationTable {
  private struct Entry {
    /// The notification to show. It replaces the shown notification, if there is one.
    var waiting: PresentedNotification?
    /// The notification whose Notify call is pending.
    var pending: PresentedNotification?
    /// Whether the daemon has withdrawn the notification, which the service may still show.
    var isCancelled = false
    /// The service's id of the notification, if it is shown.
    var shownAs: UInt32?
    var isChosen = false
    var token: String?
    /// The number of times that the service refused the notification, or exited instead of
    /// replying.
    var failures = 0
    /// The notification that an earlier agent had shown. It is kept until the agent knows whether
    /// the same service still runs.
    var remembered: Remembered?
    /// The notification that ``show(_:shownAs:)`` received last. With it, the table recognizes a
    /// notification that the daemon sends again.
    var last: PresentedNotification?
  }

  private struct Remembered {
    /// Nil if the service must only close the notification.
    var notification: PresentedNotification?
    var name: ServiceName
  }

  private var entries: [NotificationKey: Entry] = [:]
  private var queue: [NotificationKey] = []
  private var names: [UInt32: NotificationKey] = [:]
  /// The number of pending Notify calls.
  private(set) var pendingCount = 0

  /// The number of failures after which the agent drops a notification, because the notification
  /// may make the service exit.
  static let failuresMax = 3

  /// Whether no notification waits, is pending or is shown.
  var isEmpty: Bool { entries.isEmpty }
  /// Whether a notification waits to be shown.
  var hasWaiting: Bool { !queue.isEmpty }
  /// Whether the table has notifications of an earlier agent, which wait until the agent knows the
  /// service.
  var hasRemembered: Bool { entries.values.contains { $0.remembered != nil } }

  // MARK: Requests

  /// Queues a notification. If a notification with the same key waits or is shown, the new one
  /// replaces it. Ignores a firing that the table has received before.
  ///
  /// - Returns: The service's id if the service shows the same notification already.
  mutating func show(_ notification: PresentedNotification, shownAs name: ServiceName?) -> UInt32? {
    var entry = entries[notification.key] ?? Entry()
    if !entry.isCancelled, let last = entry.last, notification.isSameFiring(as: last) {
      return entry.waiting == nil && entry.pending == nil ? entry.shownAs : nil
    }
    entry.last = notification
    entry.isCancelled = false
    if let name, entry.shownAs == nil, entry.waiting == nil, entry.pending == nil {
      entry.remembered = Remembered(notification: notification, name: name)
    } else {
      if entry.waiting == nil, entry.pending == nil { queue.append(notification.key) }
      entry.waiting = notification
    }
    entries[notification.key] = entry
    return nil
  }

  /// The action that the caller must take after ``close(_:shownAs:)``.
  enum Closing: Equatable {
    /// Make the service close the notification with this id.
    case byService(UInt32)
    /// Nothing yet, because the agent does not know whether the service shows the notification.
    case later
    /// Report the notification as closed, because no service shows it.
    case done
  }

  /// Withdraws a notification.
  ///
  /// - Parameter name: the name under which an earlier agent had shown the notification, if any.
  mutating func close(_ key: NotificationKey, shownAs name: ServiceName?) -> Closing {
    guard var entry = entries[key] else {
      guard let name else { return .done }
      entries[key] = Entry(isCancelled: true, remembered: Remembered(name: name))
      return .later
    }
    if entry.waiting != nil, entry.pending == nil { queue.removeAll { $0 == key } }
    entry.waiting = nil
    if entry.pending != nil || entry.remembered != nil {
      entry.isCancelled = true
      entries[key] = entry
      return .later
    }
    entries[key] = nil
    guard let name = entry.shownAs else { return .done }
    names[name] = nil
    return .byService(name)
  }

  /// Returns the keys of a daemon's notifications that wait, are pending or are shown, in order.
  func keys(of daemon: Int) -> [NotificationKey] {
    entries.keys.filter { $0.daemon == daemon && entries[$0]?.isCancelled == false }.sorted()
  }

  // MARK: After a restart of the agent

  /// Queues the remembered notifications of this service, to show them again at the same places
  /// without a sound. Drops those that another service had shown, because they ended with that
  /// service.
  ///
  /// - Parameter service: The identity of the service; nil if no service runs.
  /// - Returns: The notifications that are no longer shown, and those that the service must close
  ///   because the daemon has withdrawn them.
  mutating func adoptRemembered(
    from service: String?
  ) -> (gone: [NotificationKey], toClose: [(key: NotificationKey, name: UInt32)]) {
    var gone: [NotificationKey] = []
    var toClose: [(key: NotificationKey, name: UInt32)] = []
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
          entry.waiting?.isSilent = true
          queue.append(id)
        }
        entries[id] = entry
      }
    }
    return (gone, toClose)
  }

  // MARK: Showing

  /// Removes the next notification from the queue and marks it as pending.
  ///
  /// - Returns: The notification, and the service's id of the notification that it replaces, or 0.
  mutating func next() -> (notification: PresentedNotification, replaces: UInt32)? {
    guard !queue.isEmpty else { return nil }
    let id = queue.removeFirst()
    guard var entry = entries[id], let notification = entry.waiting else {
      preconditionFailure("the queue has a key without a notification to show")
    }
    entry.waiting = nil
    entry.pending = notification
    pendingCount += 1
    entries[id] = entry
    return (notification, entry.shownAs ?? 0)
  }

  /// The result of a reply to Notify.
  enum Answered: Equatable {
    case shown
    /// The service discarded the notification at once.
    case discarded
    /// The daemon has withdrawn the notification since the call. The service must close the
    /// notification with this id; nil if the service does not show it.
    case cancelled(UInt32?)
  }

  /// Handles a reply to Notify.
  ///
  /// - Parameter name: The service's id of the notification; 0 if the service discarded it.
  /// - Returns: The result, and the notification to which the service had given the same id before.
  ///   That earlier notification no longer counts as shown.
  mutating func answered(
    _ id: NotificationKey, _ name: UInt32
  ) -> (Answered, forgotten: NotificationKey?) {
    guard var entry = takePending(id)?.entry else { return (.discarded, nil) }
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
    if let forgotten { markNotShown(forgotten) }
    return (.shown, forgotten)
  }

  /// The result of a failed Notify call.
  enum Failed: Equatable {
    /// The notification waits again, at the head of the queue.
    case waits
    case givenUp
    /// The daemon has withdrawn the notification since the call. The service must close the earlier
    /// notification with this id, which the withdrawn notification would have replaced. The id is
    /// nil if there is no earlier notification.
    case cancelled(UInt32?)
  }

  /// Handles a failed Notify call.
  ///
  /// - Parameter isFault: Whether the content of the notification may have caused the failure.
  mutating func failed(_ id: NotificationKey, isFault: Bool) -> Failed {
    guard let taken = takePending(id) else { return .cancelled(nil) }
    var entry = taken.entry
    if isFault { entry.failures += 1 }
    if entry.isCancelled {
      if let name = entry.shownAs { names[name] = nil }
      return .cancelled(entry.shownAs)
    }
    // A newer notification with the same key has other content, so the agent does not drop it.
    if entry.waiting == nil, entry.failures >= Self.failuresMax {
      entry.failures = 0
      if entry.shownAs != nil { entries[id] = entry }
      return .givenUp
    }
    entry.waiting = entry.waiting ?? taken.pending
    entries[id] = entry
    queue.insert(id, at: 0)
    return .waits
  }

  /// Removes the entry of a notification whose Notify call is pending. The caller inserts the
  /// changed entry again.
  private mutating func takePending(
    _ id: NotificationKey
  ) -> (entry: Entry, pending: PresentedNotification)? {
    guard var entry = entries[id], let pending = entry.pending else { return nil }
    entries[id] = nil
    entry.pending = nil
    pendingCount -= 1
    return (entry, pending)
  }

  // MARK: Signals

  /// Handles NotificationClosed. Returns the notification with the service's id `name`; nil if
  /// there is none.
  mutating func closed(_ name: UInt32) -> NotificationKey? {
    guard let id = names.removeValue(forKey: name) else { return nil }
    markNotShown(id)
    return id
  }

  /// Handles ActionInvoked. Returns nil if the service shows no notification with this id, or the
  /// user has chosen the notification before.
  mutating func chosen(_ name: UInt32) -> (id: NotificationKey, token: String?)? {
    guard let id = names[name], var entry = entries[id], !entry.isChosen else { return nil }
    let token = entry.token
    entry.isChosen = true
    entry.token = nil
    entries[id] = entry
    return (id, token)
  }

  /// Stores the activation token, which arrives before ActionInvoked.
  mutating func keep(token: String, of name: UInt32) {
    if let id = names[name] { entries[id]?.token = token }
  }

  /// Handles the exit of the service. All shown notifications end with the service.
  ///
  /// - Returns: The notifications that are no longer shown.
  mutating func serviceEnded() -> [NotificationKey] {
    let shown = names.values.sorted()
    names = [:]
    for id in shown { markNotShown(id) }
    return shown
  }

  /// Returns the service's id of a notification that it shows.
  func name(of id: NotificationKey) -> UInt32? { entries[id]?.shownAs }

  /// The notifications whose Notify call is pending, in the order of their keys.
  var pending: [NotificationKey] {
    entries.filter { $0.value.pending != nil }.keys.sorted()
  }

  /// The notifications that wait or whose Notify call is pending, in the order of their keys.
  var unshown: [NotificationKey] {
    entries.keys.filter { isUnshown($0) }.sorted()
  }

  /// Returns whether a notification waits or its Notify call is pending.
  func isUnshown(_ id: NotificationKey) -> Bool {
    entries[id].map { $0.waiting != nil || $0.pending != nil } ?? false
  }

  /// Marks a notification as no longer shown. Removes its entry, unless the notification waits or
  /// is pending.
  private mutating func markNotShown(_ id: NotificationKey) {
    guard var entry = entries[id] else { return }
    entry.shownAs = nil
    entry.isChosen = false
    entry.token = nil
    entries[id] = entry.waiting == nil && entry.pending == nil ? nil : entry
  }
}
