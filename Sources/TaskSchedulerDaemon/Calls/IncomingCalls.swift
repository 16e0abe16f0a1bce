import EventLoop
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerWire

/// Shows the incoming calls of modems to users, and carries out the users' answers (contract §13).
///
/// A notification about a call fires again every ``ringInterval`` with its sound, until the call
/// has been answered or has ended. The users at the machine's own screens see the notification,
/// because ModemManager lets the same users answer calls. The number of the other phone is private,
/// so no other user receives it, and the log does not contain it.
///
/// The daemon stores nothing about the notifications. After a restart, it shows them again with the
/// same ids, once ModemManager has reported the calls and logind has reported the users. Until
/// then, the daemon keeps the last answer that each user gave to a call.
final class IncomingCalls: DaemonNotices {
  /// The functions and values that ``IncomingCalls`` gets from other parts of the daemon.
  struct Environment {
    var localUsers: () -> LocalUsers
    /// The daemon's own user, who sees calls on a machine without logind. The daemon answers calls
    /// with the rights of this user.
    var ownUser: UserID
    var isAttached: (UserID) -> Bool
    /// Returns the application that the setting `CallApplication` names, if any, and its manifest.
    var application: () -> (id: ApplicationID, manifest: Manifest?)?
    /// Orders ModemManager to carry out an answer. If this fails, calls `failed` with the reason.
    var answer: (IncomingCall, CallAnswer, _ failed: @escaping (String) -> Void) -> Void
    var post: (SessionEvent) -> Void
  }

  private struct Ringing {
    var call: IncomingCall
    /// The time at which the notification last fired, in nanoseconds since 1970.
    var firedAt: Int
    /// The users who see the notification.
    var users: Set<UserID> = []
    /// For each user, the name that the notification service gave to the shown notification.
    var names: [UserID: DesktopName] = [:]
    /// Whether the daemon has told `CallApplication` of the call.
    var isAnnounced: Bool
    /// Whether a user has answered the call, and ModemManager has not refused the answer.
    var isAnswered = false
  }

  /// The time between two firings of a notification. Source: this project; a telephone rings about
  /// every 5 s, and the ringing sounds of sound themes last a few seconds.
  static let ringInterval: Duration = .seconds(4)

  private let agents: AgentNotifications
  private let log: Log
  private let environment: Environment
  private let ringInterval: Duration
  private var timer: TimerSource?
  /// The calls that ring, by the ids of their notifications.
  private var ringing: [UInt64: Ringing] = [:]
  /// The paths of the calls that an earlier daemon has reported to the scheduler; empty after the
  /// first update. `CallApplication` does not learn of these calls again.
  private var announcedBefore: Set<String>
  /// Whether the daemon knows which calls ring.
  private var isKnown = false
  /// For each user, the last answer that arrived before the calls and users were known.
  private var early: [UserID: (id: UInt64, answer: CallAnswer)] = [:]

  /// - Parameters:
  ///   - announced: The paths of the calls that the scheduler knows from an earlier daemon.
  init(
    _ agents: AgentNotifications, loop: EventLoop, log: Log, announced: Set<String>,
    ringInterval: Duration = IncomingCalls.ringInterval, _ environment: Environment
  ) throws(SystemError) {
    self.agents = agents
    self.log = log
    self.environment = environment
    self.ringInterval = ringInterval
    announcedBefore = announced
    timer = try loop.timer { [weak self] in self?.ring() }
  }

  // MARK: Calls and users

  /// Replaces the ringing calls with `calls`. Shows new and changed calls, and withdraws the
  /// notifications about calls that no longer ring.
  func update(_ calls: [IncomingCall]) {
    isKnown = true
    let wasSilent = isSilent
    let ids = Set(calls.map(\.id))
    for id in ringing.sortedKeys where !ids.contains(id) {
      withdraw(id)
      ringing[id] = nil
    }
    for call in calls {
      if ringing[call.id] == nil {
        ringing[call.id] = Ringing(
          call: call, firedAt: Self.now, isAnnounced: announcedBefore.contains(call.path))
      } else if ringing[call.id]?.call != call {
        ringing[call.id]?.call = call
        fire(call.id)
      }
    }
    announcedBefore = []
    usersChanged()
    if isSilent {
      timer?.clear()
    } else if wasSilent {
      timer?.set(BootClock.after(ringInterval))
    }
  }

  /// Shows the ringing calls to the users that may answer calls now. Withdraws the notifications of
  /// all other users.
  func usersChanged() {
    let users = viewers
    for id in ringing.sortedKeys {
      for user in (ringing[id]?.users ?? []).subtracting(users).sorted() {
        withdraw(id, from: user)
      }
      for user in users.subtracting(ringing[id]?.users ?? []).sorted() { show(id, to: user) }
    }
    if environment.localUsers() != .unknown { announce() }
    carryOutEarlyAnswers()
  }

  /// Withdraws all notifications, because the daemon stops.
  func stop() {
    timer?.clear()
    for id in ringing.sortedKeys { withdraw(id) }
    ringing = [:]
  }

  /// The users that may see and answer calls.
  private var viewers: Set<UserID> {
    switch environment.localUsers() {
    case .unknown: []
    case .noLogind: environment.isAttached(environment.ownUser) ? [environment.ownUser] : []
    case .known(let users): users
    }
  }

  // MARK: Ringing

  /// Whether no call rings, or users have answered all ringing calls.
  private var isSilent: Bool { ringing.values.allSatisfy(\.isAnswered) }

  private static var now: Int { Int(clamping: WallClock.nanoseconds) }

  private func ring() {
    if isSilent { return }
    for id in ringing.sortedKeys where ringing[id]?.isAnswered == false { fire(id) }
    // The application must learn of the calls even if logind does not answer.
    announce()
    timer?.set(BootClock.after(ringInterval))
  }

  /// Shows a notification again, with its sound, to the users that already have it.
  private func fire(_ id: UInt64) {
    guard let last = ringing[id]?.firedAt else { return }
    // Each firing needs a new time, by which the agent recognizes it. The clock may have been set
    // back since the last firing.
    ringing[id]?.firedAt = max(Self.now, last + 1)
    for user in (ringing[id]?.users ?? []).sorted() { show(id, to: user) }
  }

  private func show(_ id: UInt64, to user: UserID) {
    if let order = order(id, for: user) { agents.show(order, to: user) }
  }

  private func order(_ id: UInt64, for user: UserID) -> SessionInterface.Notification? {
    guard let entry = ringing[id] else { return nil }
    ringing[id]?.users.insert(user)
    let application = environment.application()
    return SessionInterface.Notification(
      id: Int(clamping: id), firedAt: entry.firedAt,
      application: application?.id.name ?? "taskschedd",
      applicationName: application == nil ? "Phone" : application?.manifest?.displayName,
      icon: "call-start", title: entry.call.title, body: "Incoming call",
      sound: "phone-incoming-call", urgency: .critical, category: "call.incoming",
      actions: [.init(id: "answer", title: "Answer"), .init(id: "decline", title: "Decline")],
      shown: entry.names[user].map { .init($0) })
  }

  private func withdraw(_ id: UInt64) {
    for user in (ringing[id]?.users ?? []).sorted() { withdraw(id, from: user) }
  }

  private func withdraw(_ id: UInt64, from user: UserID) {
    let name = ringing[id]?.names.removeValue(forKey: user)
    ringing[id]?.users.remove(user)
    agents.withdraw(NotificationID(id), shownAs: name, of: user)
  }

  // MARK: The application

  /// Tells `CallApplication` of the calls that have begun to ring.
  ///
  /// Posts one event for each user at the machine's screens, and for the user that the manifest
  /// names. If there is no such user, posts one event for the daemon's own user.
  private func announce() {
    let ids = ringing.sortedKeys.filter { ringing[$0]?.isAnnounced == false }
    if ids.isEmpty { return }
    for id in ids { ringing[id]?.isAnnounced = true }
    guard let application = environment.application() else { return }
    var owners: Set<UserID> =
      switch environment.localUsers() {
      case .unknown, .noLogind: []
      case .known(let users): users
      }
    if owners.isEmpty || application.manifest?.namesUser == true {
      owners.insert(application.manifest?.owner ?? environment.ownUser)
    }
    for owner in owners.sorted() {
      environment.post(.incomingCall(ApplicationKey(application.id, owner: owner)))
    }
  }

  // MARK: Answers

  private func carryOutEarlyAnswers() {
    guard isKnown, environment.localUsers() != .unknown else { return }
    let answers = early.sortedByKey
    early = [:]
    for (user, (id, answer)) in answers { carryOut(answer, of: id, by: user) }
  }

  private func carryOut(_ answer: CallAnswer, of id: UInt64, by user: UserID) {
    guard let entry = ringing[id], !entry.isAnswered, viewers.contains(user) else { return }
    ringing[id]?.isAnswered = true
    if isSilent { timer?.clear() }
    environment.answer(entry.call, answer) { [weak self] in self?.failed(answer, of: id, $0) }
    // If the order failed at once, `failed` has made the call ring again. The call then counts as
    // not answered.
    guard ringing[id]?.isAnswered == true else { return }
    if answer == .accept, let application = environment.application() {
      environment.post(.callAnswered(ApplicationKey(application.id, owner: user)))
    }
  }

  /// Lets a call ring again, because ModemManager has not carried out the user's answer.
  private func failed(_ answer: CallAnswer, of id: UInt64, _ reason: String) {
    let what =
      switch answer {
      case .accept: "answer"
      case .decline: "decline"
      }
    log.write(.warning, "cannot \(what) an incoming call: \(reason)")
    guard ringing[id]?.isAnswered == true else { return }
    ringing[id]?.isAnswered = false
    fire(id)
    timer?.set(BootClock.after(ringInterval))
  }

  // MARK: DaemonNotices

  func orders(for user: UserID) -> [SessionInterface.Notification] {
    guard viewers.contains(user) else { return [] }
    return ringing.sortedKeys.compactMap { order($0, for: user) }
  }

  func contains(_ id: Int) -> Bool {
    guard let id = UInt64(exactly: id) else { return false }
    return id >= IncomingCall.idBase && id < RecordingNotices.idBase
  }

  func isShown(_ id: Int, as name: DesktopName, to user: UserID) {
    guard contains(id), ringing[UInt64(id)]?.users.contains(user) == true else { return }
    ringing[UInt64(id)]?.names[user] = name
  }

  func isClosed(_ id: Int, of user: UserID) {
    if contains(id) { ringing[UInt64(id)]?.names[user] = nil }
  }

  func choose(_ id: Int, action: String?, by user: UserID) {
    guard contains(id), let answer = CallAnswer(action: action) else { return }
    early[user] = (UInt64(id), answer)
    carryOutEarlyAnswers()
  }
}
