import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// Asks logind about the login sessions, and reports which seats are locked (contract §20).
///
/// The daemon does not start the bus or logind, and does not wait for them. While one of them is
/// absent, the last known state stays valid. When both have appeared, the daemon reads the state
/// again.
///
/// When a signal reports a changed property, the daemon asks logind for the value. logind stores no
/// value for the signals Lock and Unlock, so the daemon must rely on these signals. Every process
/// can send signals on the system bus, so the daemon accepts signals about sessions only from
/// logind.
final class LoginSessions {
  private let loop: EventLoop
  /// The only user whose sessions count; nil for all users.
  private let user: UInt32?
  private let report: (SessionEvent) -> Void
  private let bus: MessageBus
  private var timer: TimerSource?
  private var reconnectsAfter = LoginSessions.reconnectMin
  /// The unique name of logind on the bus; nil while logind is absent.
  private var logind: String?
  /// The sessions by their object paths.
  private var entries: [String: Entry] = [:]
  private var isListed = false
  /// Whether a session appeared or disappeared while logind listed the sessions.
  private var isListOutdated = false
  private var readAt: UInt64 = 0
  private var reportedAt: UInt64 = 0
  /// The seats that the scheduler knows as locked.
  private(set) var locked: Set<SeatID>
  /// The seats in ``locked`` that count as locked only because a program requested the lock.
  private var requested: Set<SeatID>
  /// The value of ``requested`` when the previous daemon ended.
  private let requestedBefore: Set<SeatID>
  /// The users at the machine's own screens. While logind is absent, the last known value stays.
  private(set) var localUsers = LocalUsers.unknown
  /// Called when ``localUsers`` has changed. The owner sets this function once.
  var localUsersChanged: () -> Void = {}

  /// A session that logind has named.
  private struct Entry {
    /// The session; nil until logind has answered the first question about it.
    var session: LoginSession?
    var lock = SessionLock.unlocked
    var isAsked = false
    var isStale = true
  }

  private static let service = "org.freedesktop.login1"
  private static let path = "/org/freedesktop/login1"
  private static let manager = "org.freedesktop.login1.Manager"
  private static let session = "org.freedesktop.login1.Session"
  private static let properties = "org.freedesktop.DBus.Properties"
  private static let answerMax: Duration = .seconds(25)
  /// The minimum interval between questions to logind, and between reports of seats, however many
  /// signals arrive.
  private static let pause: Duration = .milliseconds(100)
  private static let reconnectMin: Duration = .seconds(1)
  private static let reconnectMax: Duration = .seconds(3600)

  /// - Parameters:
  ///   - user: The user that runs the daemon; nil for the system's daemon.
  ///   - locked: The seats that the scheduler knows as locked.
  ///   - requested: The seats in `locked` that count as locked only because a program requested the
  ///     lock.
  init(
    loop: EventLoop, address: BusAddress, user: UInt32?, locked: Set<SeatID>,
    requested: Set<SeatID>, report: @escaping (SessionEvent) -> Void
  ) {
    self.loop = loop
    self.user = user
    self.locked = locked
    self.requested = requested
    requestedBefore = requested
    self.report = report
    bus = MessageBus(loop: loop, address: address)
  }

  /// Begins to watch the login sessions.
  ///
  /// - Throws: The reason why the daemon cannot watch sessions. After an error, it reports nothing.
  func start() throws(SystemError) {
    timer = try loop.timer { [weak self] in self?.timeIsUp() }
    bus.listen { [weak self] in self?.received($0) }
    // If there is no bus, inotify reports when a bus appears.
    try bus.connect(waiting: true)
  }

  /// The sessions that may show applications, ordered by user and id.
  var desktops: [(session: LoginSession, isLocked: Bool)] {
    known.filter(\.session.isDesktop)
      .sorted { ($0.session.uid, $0.session.id) < ($1.session.uid, $1.session.id) }
  }

  private var known: [(session: LoginSession, isLocked: Bool)] { sessions(\.isLocked) }

  /// Returns the sessions of ``user``, or of all users. The closure determines from the lock of a
  /// session whether the session counts as locked.
  private func sessions(
    _ isLocked: (SessionLock) -> Bool
  ) -> [(session: LoginSession, isLocked: Bool)] {
    entries.values.compactMap { entry in
      guard let session = entry.session, user == nil || session.uid == user else { return nil }
      return (session, isLocked(entry.lock))
    }
  }

  /// Unlocks a user's sessions because the user has moved the focus. A session whose LockedHint is
  /// true stays locked.
  ///
  /// The user can move the focus only while the screen is unlocked. A screen locker that does not
  /// use logind, such as swaylock, does not report the unlock. If the daemon waited for this
  /// report, the application that gets the focus would stay suspended in front of the user.
  func focusMoved(by uid: UInt32) {
    for path in entries.keys where entries[path]?.session?.uid == uid {
      entries[path]?.lock.unlockRequested()
    }
    reconsider()
  }

  // MARK: The bus

  private func received(_ occurrence: MessageBus.Occurrence) {
    switch occurrence {
    case .message(let message):
      handle(MessageReader(message))
    case .changed:
      switch bus.state {
      case .connected:
        reconnectsAfter = Self.reconnectMin
        subscribe()
        findLogind()
      case .lost:
        logind = nil
        timer?.set(BootClock.after(reconnectsAfter))
        reconnectsAfter = min(reconnectsAfter * 2, Self.reconnectMax)
      case .closed, .connecting:
        break
      }
    }
  }

  private func timeIsUp() {
    if bus.state == .connected {
      readStale()
      return reconsider()
    }
    // If connecting is impossible, the daemon stops watching sessions.
    try? bus.connect(waiting: true)
  }

  private func subscribe() {
    let logind = "sender='\(Self.service)',"
    let rules = [
      logind + "interface='\(Self.manager)',member='SessionNew'",
      logind + "interface='\(Self.manager)',member='SessionRemoved'",
      logind + "interface='\(Self.session)'",
      logind + "interface='\(Self.properties)',member='PropertiesChanged',arg0='\(Self.session)'",
      "sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
        + "member='NameOwnerChanged',arg0='\(Self.service)'",
    ]
    for rule in rules {
      _ = try? bus.call(
        .ofBus("AddMatch"), timeout: Self.answerMax,
        arguments: { body throws(SystemError) in try body.append("type='signal',\(rule)") },
        answer: { _ in })
    }
  }

  private func findLogind() {
    _ = try? bus.call(
      .ofBus("GetNameOwner"), timeout: Self.answerMax,
      arguments: { body throws(SystemError) in try body.append(Self.service) },
      answer: { [weak self] answer in
        switch answer {
        case .reply(let values): self?.logindAppeared(values.text())
        case .error: self?.logindAppeared(nil)
        case .dropped: break
        }
      })
  }

  private func logindAppeared(_ name: String?) {
    logind = name
    if name != nil { return list() }
    if localUsers == .unknown { set(.noLogind) }
  }

  private func set(_ users: LocalUsers) {
    guard users != localUsers else { return }
    localUsers = users
    localUsersChanged()
  }

  private func handle(_ message: MessageReader) {
    if message.sender == "org.freedesktop.DBus" {
      guard message.isSignal("org.freedesktop.DBus", "NameOwnerChanged"),
        message.text() == Self.service, message.text() != nil, let owner = message.text()
      else { return }
      return logindAppeared(owner.isEmpty ? nil : owner)
    }
    guard let logind, message.sender == logind, let path = message.path else { return }
    if message.isSignal(Self.session, "Lock") {
      entries[path]?.lock.lockRequested()
      reconsider()
    } else if message.isSignal(Self.session, "Unlock") {
      entries[path]?.lock.unlockRequested()
      reconsider()
    } else if message.isSignal(Self.properties, "PropertiesChanged") {
      entries[path]?.isStale = true
      readStale()
    } else if message.isSignal(Self.manager, "SessionNew") {
      guard message.text() != nil, let session = message.objectPath() else { return }
      if !isListed { isListOutdated = true }
      if entries[session] == nil { entries[session] = Entry() }
      readStale()
    } else if message.isSignal(Self.manager, "SessionRemoved") {
      guard message.text() != nil, let session = message.objectPath() else { return }
      if !isListed { isListOutdated = true }
      entries[session] = nil
      reconsider()
    }
  }

  // MARK: Reading

  private func list() {
    isListed = false
    isListOutdated = false
    let method = BusMethod(
      destination: Self.service, path: Self.path, interface: Self.manager, member: "ListSessions")
    _ = try? bus.call(method, timeout: Self.answerMax) { [weak self] in self?.listed($0) }
  }

  private func listed(_ answer: BusAnswer) {
    guard case .reply(let values) = answer else { return }
    if isListOutdated { return list() }
    var paths: Set<String> = []
    values.structures("susso") {
      guard values.text() != nil, values.number() != nil, values.text() != nil,
        values.text() != nil, let path = values.objectPath()
      else { return false }
      paths.insert(path)
      return true
    }
    for path in entries.keys where !paths.contains(path) { entries[path] = nil }
    for path in paths {
      entries[path, default: Entry()].isStale = true
      // If the connection to the bus was lost, an earlier question never gets an answer.
      entries[path]?.isAsked = false
    }
    isListed = true
    readStale(isFirst: true)
    reconsider()
  }

  /// Asks logind about the sessions that may have changed.
  private func readStale(isFirst: Bool = false) {
    let stale = entries.filter { $0.value.isStale && !$0.value.isAsked }.keys
    guard logind != nil, !stale.isEmpty else { return }
    let now = BootClock.now()
    let next = readAt + UInt64(Self.pause.microseconds) * 1000
    if !isFirst, readAt != 0, now < next {
      timer?.set(next)
      return
    }
    readAt = now
    for path in stale { read(path) }
  }

  private func read(_ path: String) {
    let method = BusMethod(
      destination: Self.service, path: path, interface: Self.properties, member: "GetAll")
    let call = try? bus.call(
      method, timeout: Self.answerMax,
      arguments: { body throws(SystemError) in try body.append(Self.session) },
      answer: { [weak self] in self?.answered($0, path) })
    entries[path]?.isStale = false
    entries[path]?.isAsked = call != nil
  }

  private func answered(_ answer: BusAnswer, _ path: String) {
    guard var entry = entries[path] else { return }
    entry.isAsked = false
    switch answer {
    case .reply(let values):
      guard let session = LoginSession(values) else { break }
      if entry.session == nil, !session.isLockedByHint, session.isActive,
        requestedBefore.contains(DefaultSeats().ofUser(session.uid))
      {
        // The previous daemon had received the signal Lock, which logind does not store.
        entry.lock.lockRequested()
      }
      entry.session = session
      entry.lock.hintRead(session.isLockedByHint)
    case .error, .dropped:
      // The session has ended, or logind or the bus restarts.
      break
    }
    entries[path] = entry.session == nil ? nil : entry
    readStale()
    reconsider()
  }

  // MARK: Reporting

  /// Reports each seat whose lock differs from the lock that the scheduler knows. Does nothing
  /// while the state of a session is unknown.
  private func reconsider() {
    guard logind != nil, isListed, entries.values.allSatisfy({ $0.session != nil }) else { return }
    set(.known(Set(known.filter(\.session.isAtScreen).map { UserID($0.session.uid) })))
    let next = LockedSeats.seats(of: known)
    let withoutRequests = LockedSeats.seats(of: sessions { $0 == .confirmed })
    let byRequest = next.subtracting(withoutRequests)
    let unlocked = locked.subtracting(next)
    let changed = next.subtracting(locked)
      .union(next.intersection(byRequest.symmetricDifference(requested)))
    if unlocked.isEmpty, changed.isEmpty { return }
    let now = BootClock.now()
    let earliest = reportedAt + UInt64(Self.pause.microseconds) * 1000
    if reportedAt != 0, now < earliest {
      timer?.set(earliest)
      return
    }
    reportedAt = now
    (locked, requested) = (next, byRequest)
    for seat in unlocked.sorted() { report(.unlocked(seat)) }
    for seat in changed.sorted() { report(.locked(seat, byRequest: byRequest.contains(seat))) }
  }
}

extension LoginSession {
  /// Reads the reply of GetAll; nil if it is not about a session.
  init?(_ values: MessageReader) {
    var session = LoginSession(id: "", uid: 0)
    var uid: UInt32?
    let isRead = values.properties { name in
      switch name {
      case "Id": read(values.textInVariant()) { session.id = $0 }
      case "User":
        read(
          values.structureInVariant("uo") {
            let uid = values.number()
            return values.objectPath() == nil ? nil : uid
          }
        ) { uid = $0 }
      case "Seat":
        read(
          values.structureInVariant("so") {
            let seat = values.text()
            return values.objectPath() == nil ? nil : seat
          }
        ) { session.seat = $0.isEmpty ? nil : $0 }
      case "Type": read(values.textInVariant()) { session.type = $0 }
      case "Class": read(values.textInVariant()) { session.sessionClass = $0 }
      case "State": read(values.textInVariant()) { session.isClosing = $0 == "closing" }
      case "Remote": read(values.flagInVariant()) { session.isRemote = $0 }
      case "Active": read(values.flagInVariant()) { session.isActive = $0 }
      case "LockedHint": read(values.flagInVariant()) { session.isLockedByHint = $0 }
      default: false
      }
    }
    guard isRead, !session.id.isEmpty, let uid else { return nil }
    session.uid = uid
    self = session
  }
}

/// Calls `use` with a value, unless the value is nil. Returns whether there is a value.
private func read<Value>(_ value: Value?, _ use: (Value) -> Void) -> Bool {
  guard let value else { return false }
  use(value)
  return true
}
