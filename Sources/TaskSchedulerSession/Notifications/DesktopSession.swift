import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerWire

/// The connection to the user's notification service (`org.freedesktop.Notifications`) over the
/// session bus. Shows notifications, and reports what happens to them. A notification waits until a
/// service can show it.
///
/// The session is connected while a notification waits or is shown, because a service sends its
/// signals to the connection that called Notify. It is also connected while an application has a
/// badge. Otherwise the session disconnects, because each signal wakes the agent. All calls are
/// asynchronous, because a service may never reply.
final class DesktopSession {
  /// The state of the service on the connected bus.
  private enum Service {
    /// The agent does not know the owner of the service's name. `asked` is true when it has called
    /// GetNameOwner.
    case unknown(asked: Bool)
    case absent
    /// The agent has asked the bus to start a service.
    case starting
    /// The service runs, and the agent called GetCapabilities at `at`, in nanoseconds since boot.
    case found(owner: String, at: UInt64)
    case ready(owner: String, DesktopCapabilities)
  }

  let report: (DesktopOccurrence) -> Void
  let bus: MessageBus
  var table = PresentationTable()
  private var service = Service.unknown(asked: false)
  var requests: PendingNotifyCalls
  /// Notifications that the service must close, and the notification whose CloseNotification is
  /// pending.
  var toClose: [(key: NotificationKey, name: UInt32)] = []
  var closing: NotificationKey?
  /// Withdrawn notifications that no service shows, and that the agent must still report as closed.
  private var withdrawn: [NotificationKey] = []
  /// Notifications that the daemon sent again although the service already shows them. The agent
  /// must still report them as shown.
  private var shownBefore: [NotificationKey] = []
  private var badges = Badges()
  /// The reason why the service cannot show notifications; nil if it can, and before the first
  /// attempt.
  var problem: DesktopFailure?
  /// Notifications for which the agent must still report the problem.
  var unreported: [NotificationKey] = []
  /// The delays between attempts to connect, to start a service, and to call Notify after an error.
  private var connecting = Backoff(), starting = Backoff()
  var notifying = Backoff()
  var worker: DeferredSource?
  private var timer: TimerSource?

  /// The time limit of calls to the bus itself.
  static let busTimeout: Duration = .seconds(25)

  /// - Parameters:
  ///   - address: the address of the session bus.
  ///   - answerTime: how long a service may take to reply before it counts as unresponsive. The
  ///     usual limit of D-Bus calls is 25 s.
  ///   - report: called from the loop only, never from within another method of the session.
  init(
    address: BusAddress, answerTime: Duration = .seconds(25), loop: EventLoop,
    report: @escaping (DesktopOccurrence) -> Void
  ) throws(SystemError) {
    self.report = report
    requests = PendingNotifyCalls(answerTime: UInt64(answerTime.microseconds) * 1000)
    bus = MessageBus(loop: loop, address: address)
    worker = try loop.soon { [weak self] in self?.work() }
    timer = try loop.timer { [weak self] in self?.work() }
    bus.listen { [weak self] in self?.received($0) }
  }

  /// Shows a notification as soon as possible. Replaces an earlier notification with the same key.
  ///
  /// An earlier agent may have shown the notification. If the same service still runs, it shows the
  /// notification again at the same place, without a sound. This is necessary because a service may
  /// report an activation only to the connection that last called Notify. If the service has
  /// changed, the notification counts as closed.
  func show(_ notification: PresentedNotification) {
    let key = notification.key
    let name = notification.content.shown.flatMap { ServiceName($0) }
    if table.show(notification, shownAs: name) != nil { shownBefore.append(key) }
    if problem != nil { unreported.append(key) }
    connecting.expedite()
    starting.expedite()
    worker?.request()
  }

  /// Withdraws a notification. If a service shows the notification, the service closes it. If it
  /// waits to be shown, it is removed.
  ///
  /// - Parameter shown: the identity under which an earlier agent had shown it.
  func close(_ key: NotificationKey, shown: SessionInterface.ShownNotification?) {
    switch table.close(key, shownAs: shown.flatMap { ServiceName($0) }) {
    case .byService(let name): toClose.append((key, name))
    case .later: break
    case .done: withdrawn.append(key)
    }
    worker?.request()
  }

  /// Sets the number on an application's icon; 0 for none.
  func setBadge(_ count: Int, of application: String) {
    badges.set(count, of: application)
    worker?.request()
  }

  /// Withdraws a daemon's notifications, except those with the given keys.
  func keep(_ keys: Set<NotificationKey>, of daemon: Int) {
    for key in table.keys(of: daemon) where !keys.contains(key) { close(key, shown: nil) }
  }

  /// Returns an identity of a service. Unlike a connection's name, it is unique across buses.
  func identity(of owner: String) -> String { "\(bus.id ?? "") \(owner)" }

  /// Adopts the notifications that an earlier agent had shown at this service. Reports as closed
  /// those that it had shown at another service.
  ///
  /// - Parameter owner: The unique name of the service; nil if no service runs.
  private func adoptRemembered(from owner: String?) {
    let (gone, toClose) = table.adoptRemembered(from: owner.map { identity(of: $0) })
    for key in gone { report(.closed(key)) }
    self.toClose += toClose
  }

  // MARK: Progress

  /// Does everything that is possible now. The timer or an event of the bus calls this function
  /// again for the rest.
  private func work() {
    reportRequests()
    if case .lost(let reason) = bus.state { disconnect(because: .noBus(reason)) }
    if table.isEmpty, toClose.isEmpty, closing == nil, badges.isEmpty {
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

  /// Reports the results of requests for which the agent did not have to call the service.
  private func reportRequests() {
    let keys = (withdrawn, shownBefore)
    withdrawn = []
    shownBefore = []
    for key in keys.0 { report(.closed(key)) }
    for key in keys.1 {
      if let shown = name(of: key) { report(.shown(key, shown)) }
    }
  }

  func name(of key: NotificationKey) -> SessionInterface.ShownNotification? {
    guard let number = table.name(of: key), let owner else { return nil }
    return ServiceName(number: number, service: identity(of: owner)).shown
  }

  private func connect(at now: UInt64) {
    guard connecting.mayTry(at: now) else { return }
    connecting.tried(at: now)
    do throws(SystemError) {
      do throws(SystemError) {
        try bus.connect(waiting: false)
      } catch where [ENOENT, ECONNREFUSED].contains(error.errno) {
        adoptRemembered(from: nil)
        if table.isEmpty, badges.isEmpty { return }
        set(problem: .noBus("\(error)"))
        try bus.connect(waiting: true)
      }
    } catch {
      set(problem: .noBus("\(error)"))
    }
  }

  /// Disconnects, and discards the state of the connection.
  ///
  /// - Parameter failure: The reason; nil if the connection is no longer needed.
  private func disconnect(because failure: DesktopFailure?) {
    endService(isFault: false)
    if let closing { closeAnswered(closing) }
    bus.disconnect()
    badges.disconnected()
    service = .unknown(asked: false)
    if !table.isEmpty, let failure { set(problem: failure) }
    if table.isEmpty { problem = nil }
    if failure == nil { connecting = Backoff() }
  }

  private func continueWork(at now: UInt64) {
    sendBadges()
    switch service {
    case .unknown(let asked):
      if !asked { findService() }
    case .absent:
      if table.hasRemembered { adoptRemembered(from: nil) }
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
      if table.hasRemembered { adoptRemembered(from: owner) }
      if requests.findOverdue(at: now) { set(problem: .noAnswer) }
      sendCloses(owner)
      sendNotifications(owner, capabilities, at: now)
    }
  }

  private func setTimer() {
    var times: [UInt64] = []
    switch bus.state {
    case .closed:
      if table.hasWaiting || table.hasRemembered || !badges.isEmpty {
        times.append(connecting.next)
      }
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

  /// Reports once why notifications cannot be shown. Reports again only if the kind of failure
  /// changes.
  func set(problem new: DesktopFailure) {
    if let problem, problem.isSameKind(as: new) { return }
    problem = new
    unreported = table.unshown
    report(.problem(new))
  }

  func clearProblem() {
    guard problem != nil else { return }
    problem = nil
    unreported = []
    report(.problem(nil))
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
        // The service has exited. NameOwnerChanged reports that too, so nothing remains to be done.
        case .error(let error) where error.isServiceUnknown || error.saysNoReply: break
        // The service does not report its capabilities, so the agent assumes only `body`, which
        // every service has.
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
    worker?.request()
  }

  /// Asks the bus to start the notification service. First asks with ListActivatableNames, which
  /// starts no program, whether the bus can start it.
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

  var owner: String? {
    switch service {
    case .unknown, .absent, .starting: nil
    case .found(let owner, _), .ready(let owner, _): owner
    }
  }

  func method(_ member: String, of owner: String) -> BusMethod {
    BusMethod(
      destination: owner, path: DesktopSignal.path, interface: DesktopSignal.service,
      member: member)
  }

  /// Handles the exit of the service, or the end of the connection. Reports the shown notifications
  /// as closed. Notifications whose Notify call is pending wait again. If the service has exited
  /// several times during calls for the same notification, the agent drops the notification.
  ///
  /// - Parameter isFault: Whether a request may have caused the exit.
  private func endService(isFault: Bool) {
    for call in requests.removeAll() { bus.forget(call) }
    for key in table.serviceEnded() { report(.closed(key)) }
    for (key, _) in toClose { report(.closed(key)) }
    toClose = []
    // Each failed request goes to the head of the queue, so the reverse order restores the original
    // one.
    for id in table.pending.reversed() {
      fail(id, isFault: isFault, "the service exited each time it received the notification")
    }
  }

  // MARK: Badges

  private func sendBadges() {
    do throws(SystemError) {
      let updates = badges.takeUpdates()
      if !updates.isEmpty { worker?.request() }
      for update in updates {
        try bus.emit("Update", of: Badges.interface, at: Badges.path) { body throws(SystemError) in
          try update.append(to: body)
        }
      }
    } catch {
      bus.lose("\(error)")
    }
  }

  // MARK: Signals

  private func received(_ occurrence: MessageBus.Occurrence) {
    switch occurrence {
    case .changed: worker?.request()
    case .message(let message):
      guard let signal = DesktopSignal(message, from: owner) else { return }
      switch signal {
      case .owner(let owner): serviceOwnerChanged(owner)
      case .dock(let isRunning):
        if isRunning { badges.dockStarted() }
        worker?.request()
      case .token(let name, let token): table.keep(token: token, of: name)
      case .chosen(let name, let action):
        if let (id, token) = table.chosen(name) {
          report(.chosen(id, action: action, activationToken: token))
        }
      case .closed(let name):
        if let id = table.closed(name) { report(.closed(id)) }
        // The service may now have room for another notification, so the next call need not wait.
        notifying = Backoff()
      }
      if signal.isOfService { serviceResponded() }
    }
  }

  func serviceResponded() {
    worker?.request()
    requests.received(at: BootClock.now())
    if problem == .noAnswer { clearProblem() }
  }
}
