import DequeModule
import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// The connection to one user's notification service over the user's session bus.
///
/// The session is connected only while a notification waits or is shown. A service sends its
/// signals to the connection that called Notify, and each signal wakes the daemon. All calls are
/// asynchronous, and a service may never reply.
final class DesktopSession {
  typealias Failure = DesktopNotifications.Failure

  /// The state of the service on the connected bus.
  private enum Service {
    /// The daemon does not know the owner of the service's name. `asked`: whether it has called
    /// GetNameOwner.
    case unknown(asked: Bool)
    case absent
    /// The daemon has asked the bus to start a service.
    case starting
    /// The service runs, and the daemon called GetCapabilities at `at`, in nanoseconds since boot.
    case found(owner: String, at: UInt64)
    case ready(owner: String, DesktopCapabilities)
  }

  private let user: UserID
  private let loop: EventLoop
  private let log: Log
  private let report: (DesktopNotifications.Occurrence) -> Void
  private let bus: MessageBus
  private var table = PresentationTable()
  private var service = Service.unknown(asked: false)
  private var requests: PendingNotifyCalls
  /// Notifications that the service must close, and the notification whose CloseNotification is
  /// pending.
  private var toClose: Deque<(id: NotificationID, name: UInt32)> = []
  private var closing: NotificationID?
  /// The reason why the service cannot show notifications; nil if it can, and before the first
  /// attempt.
  private var problem: Failure?
  /// Notifications for which the daemon has not reported the problem yet.
  private var unreported: [NotificationID] = []
  /// The delays between attempts to connect, to start a service, and to call Notify after an error.
  private var connecting = Backoff(), starting = Backoff(), notifying = Backoff()
  private var worker: DeferredSource?
  private var timer: TimerSource?
  private var mounts: MountWatch?

  /// The time limit of calls to the bus itself.
  static let busTimeout: Duration = .seconds(25)

  init(
    user: UserID, address: BusAddress, answerTime: Duration, loop: EventLoop, log: Log,
    report: @escaping (DesktopNotifications.Occurrence) -> Void
  ) throws(SystemError) {
    self.user = user
    self.loop = loop
    self.log = log
    self.report = report
    requests = PendingNotifyCalls(answerTime: UInt64(answerTime.microseconds) * 1000)
    bus = MessageBus(loop: loop, address: address)
    worker = try loop.soon { [weak self] in self?.work() }
    timer = try loop.timer { [weak self] in self?.work() }
    bus.listen { [weak self] in self?.received($0) }
  }

  func show(_ notification: DesktopNotification) {
    table.show(notification)
    if problem != nil { unreported.append(notification.id) }
    connecting.expedite()
    starting.expedite()
    worker?.request()
  }

  /// Adopts a notification that an earlier daemon had shown under this name.
  func adopt(_ notification: DesktopNotification, as name: DesktopName) {
    table.remember(notification, as: name)
    worker?.request()
  }

  /// Returns the name under which a notification is shown; nil if it is not shown.
  func name(of id: NotificationID) -> DesktopName? {
    guard let number = table.name(of: id), let owner else { return nil }
    return DesktopName(number: number, service: identity(of: owner))
  }

  /// Returns an identity of a service that is unique across buses, unlike a connection's name.
  private func identity(of owner: String) -> String { "\(bus.id ?? "") \(owner)" }

  /// Adopts notifications that an earlier daemon had shown, if this is the same service. Reports
  /// the others as closed.
  ///
  /// - Parameter owner: The unique name of the service; nil if no service runs.
  private func adoptRemembered(from owner: String?) {
    let (gone, toClose) = table.adoptRemembered(from: owner.map { identity(of: $0) })
    for id in gone { report(.closed(id, .serviceEnded)) }
    self.toClose += toClose
  }

  func close(_ id: NotificationID) {
    if let name = table.close(id) { toClose.append((id, name)) }
    worker?.request()
  }

  // MARK: Progress

  /// Does everything that is possible now. The timer or an event of the bus triggers the rest.
  private func work() {
    if case .lost(let reason) = bus.state { disconnect(because: .noBus(reason)) }
    if table.isEmpty, toClose.isEmpty, closing == nil {
      if bus.state != .closed { disconnect(because: nil) }
    } else {
      let now = BootClock.now()
      switch bus.state {
      case .closed: connect(at: now)
      case .connecting, .lost: break
      case .connected: continueWork(at: now)
      }
    }
    reportProblem()
    setTimer()
  }

  private func connect(at now: UInt64) {
    guard connecting.mayTry(at: now) else { return }
    connecting.tried(at: now)
    do throws(SystemError) {
      do throws(SystemError) {
        try bus.connect(waiting: false)
      } catch where [ENOENT, ECONNREFUSED].contains(error.errno) {
        adoptRemembered(from: nil)
        if table.isEmpty { return }
        set(problem: .noBus("\(error)"))
        try bus.connect(waiting: true)
        // Without the watch, the daemon would not notice a bus whose directory is mounted later.
        mounts = try? MountWatch(loop: loop) { [weak self] in self?.reconnect() }
      }
    } catch {
      set(problem: .noBus("\(error)"))
    }
  }

  /// Connects again, so that the wait also covers directories that have been mounted meanwhile.
  private func reconnect() {
    guard bus.state == .connecting else { return }
    try? bus.connect(waiting: true)
    worker?.request()
  }

  /// Disconnects, and discards the state of the connection.
  ///
  /// - Parameter failure: The reason; nil if the connection is no longer needed.
  private func disconnect(because failure: Failure?) {
    endService(isFault: false)
    if let closing { closeAnswered(closing) }
    mounts = nil
    bus.disconnect()
    service = .unknown(asked: false)
    if !table.isEmpty, let failure { set(problem: failure) }
    if table.isEmpty { problem = nil }
    if failure == nil { connecting = Backoff() }
  }

  private func continueWork(at now: UInt64) {
    mounts = nil
    switch service {
    case .unknown(let asked):
      if !asked { findService() }
    case .absent:
      guard table.hasWaiting else { break }
      if starting.mayTry(at: now) {
        startService(at: now)
      } else {
        set(problem: .noService("none is running"))
      }
    case .starting: break
    case .found(_, let at):
      if now >= at + requests.answerTime { set(problem: .noAnswer) }
    case .ready(let owner, let capabilities):
      if requests.findOverdue(at: now) { set(problem: .noAnswer) }
      sendCloses(owner)
      sendNotifications(owner, capabilities, at: now)
    }
  }

  private func setTimer() {
    var times: [UInt64] = []
    switch bus.state {
    case .closed:
      if table.hasWaiting || table.hasRemembered { times.append(connecting.next) }
    case .connecting, .lost: break
    case .connected:
      switch service {
      case .unknown, .absent, .starting: break
      case .found(_, let at):
        if problem != .noAnswer { times.append(at + requests.answerTime) }
      case .ready:
        if let next = requests.nextOverdue { times.append(next) }
        if table.hasWaiting, requests.hasRoom, closing == nil { times.append(notifying.next) }
      }
    }
    if let next = times.min() { timer?.set(next) } else { timer?.clear() }
  }

  // MARK: Problems

  /// Logs once that notifications cannot be shown and why. Logs again only if the kind of failure
  /// changes.
  private func set(problem new: Failure) {
    if let problem, problem.isSameKind(as: new) { return }
    problem = new
    unreported = table.unshown
    log.write(
      .notice, "cannot show notifications to user \(user.uid): \(new)", id: .desktopMissing)
  }

  private func clearProblem() {
    guard problem != nil else { return }
    problem = nil
    unreported = []
    log.write(.notice, "can show notifications to user \(user.uid) again", id: .desktopFound)
  }

  private func reportProblem() {
    guard let problem else { return }
    let ids = unreported
    unreported = []
    for id in ids where table.isUnshown(id) { report(.failed(id, problem)) }
  }

  // MARK: The service

  private func findService() {
    service = .unknown(asked: true)
    do throws(SystemError) {
      for rule in DesktopSignal.rules {
        try bus.call(
          .ofBus("AddMatch"), timeout: Self.busTimeout,
          arguments: { body throws(SystemError) in try body.append(rule) },
          answer: { [weak self] answer in
            if case .error(let error) = answer { self?.bus.lose("\(error)") }
          })
      }
      try callBus("GetNameOwner", of: DesktopSignal.service) { [weak self] answer in
        switch answer {
        case .reply(let values): self?.serviceOwnerChanged(values.text())
        case .error(let error) where error.isServiceUnknown: self?.serviceOwnerChanged(nil)
        case .error(let error): self?.bus.lose("\(error)")
        case .dropped: break
        }
      }
    } catch {
      bus.lose("\(error)")
    }
  }

  private func callBus(
    _ member: String, of name: String, _ answer: @escaping (BusAnswer) -> Void
  ) throws(SystemError) {
    try bus.call(
      .ofBus(member), timeout: Self.busTimeout,
      arguments: { body throws(SystemError) in try body.append(name) }, answer: answer)
  }

  /// Handles a change of the owner of the service's name.
  private func serviceOwnerChanged(_ owner: String?) {
    worker?.request()
    if let owner, owner == self.owner { return }
    endService(isFault: true)
    adoptRemembered(from: owner)
    guard let owner else {
      service = .absent
      return
    }
    service = .found(owner: owner, at: BootClock.now())
    do throws(SystemError) {
      try bus.call(method("GetCapabilities", of: owner), timeout: nil) { [weak self] answer in
        guard let self, owner == self.owner else { return }
        switch answer {
        case .reply(let values): ready(owner, .named(values.texts() ?? []))
        // The service has exited; NameOwnerChanged reports that too.
        case .error(let error) where error.isServiceUnknown || error.saysNoReply: break
        // The daemon assumes only what every service can show.
        case .error: ready(owner, .body)
        case .dropped: break
        }
      }
    } catch {
      bus.lose("\(error)")
    }
  }

  private func ready(_ owner: String, _ capabilities: DesktopCapabilities) {
    service = .ready(owner: owner, capabilities)
    connecting.succeeded()
    starting.succeeded()
    notifying = Backoff()
    clearProblem()
    report(.available(user))
    worker?.request()
  }

  /// Asks the bus to start a service, if one is activatable. ListActivatableNames itself starts no
  /// program.
  private func startService(at now: UInt64) {
    starting.tried(at: now)
    service = .starting
    do throws(SystemError) {
      try bus.call(.ofBus("ListActivatableNames"), timeout: Self.busTimeout) { [weak self] answer in
        guard let self, case .starting = service else { return }
        if case .reply(let values) = answer,
          values.texts()?.contains(DesktopSignal.service) == true
        {
          startKnownService()
        } else {
          startFailed("none is running and none can be started")
        }
      }
    } catch {
      bus.lose("\(error)")
    }
  }

  private func startKnownService() {
    do throws(SystemError) {
      try bus.call(
        .ofBus("StartServiceByName"), timeout: Self.busTimeout,
        arguments: { body throws(SystemError) in
          try body.append(DesktopSignal.service)
          try body.append(UInt32(0))
        },
        answer: { [weak self] answer in
          // NameOwnerChanged reports a successful start.
          guard let self, case .starting = service, case .error(let error) = answer else { return }
          startFailed("the service cannot be started: \(error)")
        })
    } catch {
      bus.lose("\(error)")
    }
  }

  private func startFailed(_ reason: String) {
    service = .absent
    set(problem: .noService(reason))
    worker?.request()
  }

  private var owner: String? {
    switch service {
    case .unknown, .absent, .starting: nil
    case .found(let owner, _), .ready(let owner, _): owner
    }
  }

  private func method(_ member: String, of owner: String) -> BusMethod {
    BusMethod(
      destination: owner, path: DesktopSignal.path, interface: DesktopSignal.service,
      member: member)
  }

  /// Handles the exit of the service. Pending requests wait again. The shown notifications are
  /// gone.
  ///
  /// - Parameter isFault: Whether a request may have caused the exit.
  private func endService(isFault: Bool) {
    for call in requests.removeAll() { bus.forget(call) }
    for id in table.serviceEnded() { report(.closed(id, .serviceEnded)) }
    for (id, _) in toClose { report(.closed(id, .closedByCall)) }
    toClose = []
    // Each failed request goes to the head of the queue, so the reverse order restores the original
    // one.
    for id in table.pending.reversed() {
      fail(id, isFault: isFault, "the service exited each time it received the notification")
    }
  }

  // MARK: Showing

  private func sendNotifications(
    _ owner: String, _ capabilities: DesktopCapabilities, at now: UInt64
  ) {
    while table.hasWaiting, requests.hasRoom, closing == nil, notifying.mayTry(at: now) {
      guard let (notification, replaced) = table.next() else { return }
      let id = notification.id
      let message = DesktopMessage(notification, replacing: replaced, for: capabilities)
      do throws(SystemError) {
        let call = try bus.call(
          method("Notify", of: owner), timeout: nil,
          arguments: { body throws(SystemError) in try message.append(to: body) },
          answer: { [weak self] in self?.answered(id, $0) })
        requests.sent(id, call, at: now)
      } catch {
        let isFault = error.errno == EINVAL
        fail(id, isFault: isFault, "\(error)")
        if !isFault { return bus.lose("\(error)") }
      }
    }
  }

  private func answered(_ id: NotificationID, _ answer: BusAnswer) {
    worker?.request()
    requests.answered(id)
    switch answer {
    case .reply(let values):
      notifying = Backoff()
      serviceResponded()
      clearProblem()
      guard let name = values.number() else {
        return fail(id, isFault: true, "the reply to Notify has no notification id")
      }
      shown(id, as: name)
    case .error(let error):
      // The service may accept later what it refuses now.
      notifying.tried(at: BootClock.now())
      if error.isTemporary { set(problem: .noService("\(error)")) }
      fail(id, isFault: !error.isServiceUnknown && !error.isTemporary, "\(error)")
    case .dropped:
      fail(id, isFault: false, "the connection to the bus was closed")
    }
  }

  private func shown(_ id: NotificationID, as name: UInt32) {
    let (answered, forgotten) = table.answered(id, name)
    if let forgotten { report(.closed(forgotten, .undefined)) }
    switch answered {
    case .shown: report(.shown(id))
    case .discarded:
      report(.shown(id))
      report(.closed(id, .undefined))
    case .cancelled(let name): withdraw(id, name)
    }
  }

  private func fail(_ id: NotificationID, isFault: Bool, _ reason: String) {
    switch table.failed(id, isFault: isFault) {
    case .waits: if problem != nil { unreported.append(id) }
    case .givenUp: report(.failed(id, .refused(reason)))
    case .cancelled(let name): withdraw(id, name)
    }
  }

  /// Closes a notification that the application cancelled while its Notify call was pending.
  private func withdraw(_ id: NotificationID, _ name: UInt32?) {
    if let name { toClose.append((id, name)) } else { report(.closed(id, .closedByCall)) }
  }

  private func sendCloses(_ owner: String) {
    while requests.hasRoom, closing == nil, let (id, name) = toClose.popFirst() {
      closing = id
      do throws(SystemError) {
        try bus.call(
          // The daemon ignores the result, because closing a notification twice has no effect.
          method("CloseNotification", of: owner),
          timeout: .nanoseconds(Int64(requests.answerTime)),
          arguments: { body throws(SystemError) in try body.append(name) },
          answer: { [weak self] _ in self?.closeAnswered(id) })
      } catch {
        return bus.lose("\(error)")
      }
    }
  }

  /// Reports a notification as closed, even if the service replied that it does not know the
  /// notification.
  private func closeAnswered(_ id: NotificationID) {
    worker?.request()
    guard id == closing else { return }
    closing = nil
    report(.closed(id, .closedByCall))
  }

  // MARK: Signals

  private func received(_ occurrence: MessageBus.Occurrence) {
    switch occurrence {
    case .changed: worker?.request()
    case .message(let message):
      guard let signal = DesktopSignal(message, from: owner) else { return }
      switch signal {
      case .owner(let owner): serviceOwnerChanged(owner)
      case .token(let name, let token): table.keep(token: token, of: name)
      case .chosen(let name):
        if let (id, token) = table.chosen(name) { report(.chosen(id, activationToken: token)) }
      case .closed(let name, let reason):
        if let id = table.closed(name) { report(.closed(id, reason)) }
        // The service now has room for another notification.
        notifying = Backoff()
      }
      if signal.isOfService { serviceResponded() }
    }
  }

  private func serviceResponded() {
    worker?.request()
    requests.received(at: BootClock.now())
    if problem == .noAnswer { clearProblem() }
  }
}
