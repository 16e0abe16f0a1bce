import TaskSchedulerCore

// What wakes applications, and what they are told without a callback.
extension TraceHash {
  mutating func add(_ event: SocketEvent) {
    switch event {
    case .manage(let request, let id, let socket):
      add(tag: 60, request.number, id.number, socket.number)
    case .release(let request, let id, let socket):
      add(tag: 61, request.number, id.number, socket.number)
    case .ready(let id, let sockets):
      add(tag: 62, id.number)
      add(sockets)
    case .closed(let id, let sockets):
      add(tag: 68, id.number)
      for socket in sockets { add(socket.number) }
    case .lost(let id, let sockets):
      add(tag: 63, id.number)
      for socket in sockets { add(socket.number) }
    }
  }

  mutating func add(_ effect: SocketEffect) {
    switch effect {
    case .hold(let id, let socket): add(tag: 64, id.number, socket.number)
    case .letGo(let id, let socket): add(tag: 65, id.number, socket.number)
    case .watch(let id): add(tag: 66, id.number)
    case .stopWatching(let id): add(tag: 67, id.number)
    }
  }

  mutating func add(_ event: NotificationEvent) {
    switch event {
    case .schedule(let request, let key, let draft, let unshown):
      add(tag: 70, request.number)
      add(key)
      add(draft)
      add(unshown ?? 0)
    case .stored(let id): add(tag: 71, id.number)
    case .storeFailed(let id, let reason):
      add(tag: 72, id.number)
      add(reason)
    case .cancel(let request, let key, let id, let stored):
      add(tag: 73, request.number, id?.number ?? 0)
      add(key)
      for id in stored { add(id.number) }
    case .nextFound(let id, let next):
      add(tag: 74, id.number)
      add(next)
    case .chosen(let id, let key):
      add(tag: 75, id.number)
      add(key)
    case .setBadge(let request, let key, let badge):
      add(tag: 76, request.number)
      add(key)
      add(badge)
    case .loaded(let notifications, let idLast):
      add(tag: 77, idLast)
      for notification in notifications { add(notification) }
    }
  }

  mutating func add(_ effect: NotificationEffect) {
    switch effect {
    case .store(let id, let transaction):
      add(tag: 80, id.number)
      add(transaction)
    case .fire(let id, let key, let at, let receiver):
      add(tag: 81, id.number, receiver?.number ?? 0)
      add(key)
      add(at)
    case .findNext(let id, let time):
      add(tag: 82, id.number)
      add(time)
    }
  }

  private mutating func add(_ transaction: NotificationTransaction) {
    switch transaction {
    case .schedule(let id, let key, let draft):
      add(tag: 83, id.number)
      add(key)
      add(draft)
    case .cancel(let ids, let key):
      add(tag: 84)
      add(key)
      for id in ids { add(id.number) }
    case .setBadge(let key, let badge):
      add(tag: 85)
      add(key)
      add(badge)
    case .fire(let id, let key, let at, let receiver):
      add(tag: 86, id.number, receiver?.number ?? 0)
      add(key)
      add(at)
    }
  }

  mutating func add(_ notice: Notice) {
    switch notice {
    case .socketsReady(let id, let sockets):
      add(tag: 90, id.number)
      add(sockets)
    case .systemChanges(let changes):
      add(tag: 91)
      for change in changes { add(change) }
    case .notificationFired(let id): add(tag: 92, id.number)
    case .notificationChosen(let id): add(tag: 93, id.number)
    case .memoryWarning: add(tag: 94)
    }
  }

  mutating func add(_ change: SystemChange) {
    switch change.kind {
    case .timeZone: add(tag: 1)
    case .clock: add(tag: 2)
    case .day: add(tag: 3)
    case .locale: add(tag: 4)
    case .network: add(tag: 5)
    case .powerSource: add(tag: 6)
    case .custom(let name):
      add(tag: 7)
      add(name)
    }
    add(change.value)
  }

  mutating func add(_ sockets: [SocketReadiness]) {
    for socket in sockets { add(tag: UInt64(socket.conditions.rawValue), socket.socket.number) }
  }

  private mutating func add(_ draft: NotificationDraft) {
    add(draft.content.title)
    add(draft.content.body)
    add(draft.content.sound)
    add(draft.content.badge ?? -1)
    add(draft.content.userData)
    add(draft.schedule?.date)
    add(draft.schedule?.timeZone)
    add(draft.schedule?.repeats?.rawValue)
    add(draft.firesAt)
  }

  private mutating func add(_ notification: ScheduledNotification) {
    add(notification.id.number)
    add(notification.application)
    add(notification.firesAt)
    add(notification.repeats)
  }

  private mutating func add(_ time: WallTime?) {
    add(time != nil)
    if let time { add(UInt64(bitPattern: time.nanoseconds)) }
  }
}
