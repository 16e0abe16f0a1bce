import DequeModule
import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// One user's notification service, reached over the user's session bus.
///
/// Connected for as long as something is to be shown or is shown, and no longer: signals reach only
/// the connection that notified, and each wakes the daemon. Every answer comes later, or never.
final class DesktopSession {
  typealias Failure = DesktopNotifications.Failure

  /// What is known of the service on the bus that we are connected to.
  private enum Service {
    /// The bus has been asked, or is to be.
    case unknown(asked: Bool)
    case absent
    /// The bus has been asked to start one.
    case starting
    /// Its capabilities have been asked for.
    case met(owner: String, at: UInt64)
    case ready(owner: String, DesktopCapabilities)
  }

  private let user: UserID
  private let loop: EventLoop
  private let log: Log
  private let report: (DesktopNotifications.Occurrence) -> Void
  private let bus: MessageBus
  private var table = PresentationTable()
  private var service = Service.unknown(asked: false)
  private var requests: RequestWindow
  /// What the service is to close, and the one for which CloseNotification is not answered.
  private var toClose: Deque<(id: NotificationID, name: UInt32)> = []
  private var closing: NotificationID?
  /// Why nothing can be shown; nil while it can, and before it was tried.
  private var trouble: Failure?
  /// Notifications of which the trouble has not been told.
  private var untold: [NotificationID] = []
  /// Tries to connect, to have a service started, and to ask again what was refused for now.
  private var connecting = Backoff(), starting = Backoff(), asking = Backoff()
  private var worker: DeferredSource?
  private var timer: TimerSource?
  private var mounts: MountWatch?

  /// For calls of the bus's own methods.
  static let busTimeout: Duration = .seconds(25)

  init(
    user: UserID, address: BusAddress, answerTime: Duration, loop: EventLoop, log: Log,
    report: @escaping (DesktopNotifications.Occurrence) -> Void
  ) throws(SystemError) {
    self.user = user
    self.loop = loop
    self.log = log
    self.report = report
    requests = RequestWindow(answerTime: UInt64(answerTime.microseconds) * 1000)
    bus = MessageBus(loop: loop, address: address)
    worker = try loop.soon { [weak self] in self?.work() }
    timer = try loop.timer { [weak self] in self?.work() }
    bus.listen { [weak self] in self?.heard($0) }
  }

  func show(_ notification: DesktopNotification) {
    table.show(notification)
    if trouble != nil { untold.append(notification.id) }
    connecting.wanted()
    starting.wanted()
    worker?.request()
  }

  /// Takes up a notification that an earlier daemon has had shown.
  func remember(_ notification: DesktopNotification, as name: DesktopName) {
    table.remember(notification, as: name)
    worker?.request()
  }

  /// By what name a notification is shown; nil where it is not.
  func name(of id: NotificationID) -> DesktopName? {
    guard let number = table.name(of: id), let owner else { return nil }
    return DesktopName(number: number, service: identity(of: owner))
  }

  /// The service as no other is called: connections are numbered anew on each bus.
  private func identity(of owner: String) -> String { "\(bus.id ?? "") \(owner)" }

  /// What an earlier daemon has had shown is taken up from this service, which may be another.
  ///
  /// - Parameter owner: nil: there is no service.
  private func takeUp(from owner: String?) {
    let (gone, toClose) = table.takeUpRemembered(from: owner.map { identity(of: $0) })
    for id in gone { report(.closed(id, .serviceEnded)) }
    self.toClose += toClose
  }

  func close(_ id: NotificationID) {
    if let name = table.close(id) { toClose.append((id, name)) }
    worker?.request()
  }

  // MARK: Going on

  /// Does what can be done now, and has the rest wait for its time or for an event.
  private func work() {
    if case .lost(let reason) = bus.state { leave(because: .noBus(reason)) }
    if table.isEmpty, toClose.isEmpty, closing == nil {
      if bus.state != .closed { leave(because: nil) }
    } else {
      let now = BootClock.now()
      switch bus.state {
      case .closed: connect(at: now)
      case .connecting, .lost: break
      case .connected: goOn(at: now)
      }
    }
    tellTrouble()
    setTimer()
  }

  private func connect(at now: UInt64) {
    guard connecting.mayTry(at: now) else { return }
    connecting.tried(at: now)
    do throws(SystemError) {
      do throws(SystemError) {
        try bus.connect(waiting: false)
      } catch where [ENOENT, ECONNREFUSED].contains(error.errno) {
        takeUp(from: nil)
        if table.isEmpty { return }
        set(trouble: .noBus("\(error)"))
        try bus.connect(waiting: true)
        // Otherwise the daemon misses a bus whose directory is mounted later, until the next
        // notification.
        mounts = try? MountWatch(loop: loop) { [weak self] in self?.lookAnew() }
      }
    } catch {
      set(trouble: .noBus("\(error)"))
    }
  }

  /// Waits for a listener in the directories that exist now.
  private func lookAnew() {
    guard bus.state == .connecting else { return }
    try? bus.connect(waiting: true)
    worker?.request()
  }

  /// Drops the connection, and what was known by it. nil: it is not needed any more.
  private func leave(because failure: Failure?) {
    endService(isFault: false)
    if let closing { isClosed(closing) }
    mounts = nil
    bus.disconnect()
    service = .unknown(asked: false)
    if !table.isEmpty, let failure { set(trouble: failure) }
    if table.isEmpty { trouble = nil }
    if failure == nil { connecting = Backoff() }
  }

  private func goOn(at now: UInt64) {
    mounts = nil
    switch service {
    case .unknown(let asked):
      if !asked { lookForService() }
    case .absent:
      guard table.hasWaiting else { break }
      if starting.mayTry(at: now) {
        startService(at: now)
      } else {
        set(trouble: .noService("none runs there"))
      }
    case .starting: break
    case .met(_, let at):
      if now >= at + requests.answerTime { set(trouble: .noAnswer) }
    case .ready(let owner, let capabilities):
      if requests.findOverdue(at: now) { set(trouble: .noAnswer) }
      askToClose(owner)
      ask(owner, capabilities, at: now)
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
      case .met(_, let at):
        if trouble != .noAnswer { times.append(at + requests.answerTime) }
      case .ready:
        if let next = requests.nextOverdue { times.append(next) }
        if table.hasWaiting, requests.hasRoom, closing == nil { times.append(asking.next) }
      }
    }
    if let next = times.min() { timer?.set(next) } else { timer?.clear() }
  }

  // MARK: Trouble

  /// Says once that nothing can be shown and why; again only when it is for another kind of reason.
  private func set(trouble new: Failure) {
    if let trouble, trouble.isSameKind(as: new) { return }
    trouble = new
    untold = table.unshown
    log.write(
      .notice, "cannot show notifications to user \(user.uid): \(new)", id: .desktopMissing)
  }

  private func endTrouble() {
    guard trouble != nil else { return }
    trouble = nil
    untold = []
    log.write(.notice, "notifications can be shown to user \(user.uid) again", id: .desktopFound)
  }

  private func tellTrouble() {
    guard let trouble else { return }
    let ids = untold
    untold = []
    for id in ids where table.isUnshown(id) { report(.failed(id, trouble)) }
  }

  // MARK: The service

  private func lookForService() {
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
        case .reply(let values): self?.meet(values.text())
        case .error(let error) where error.saysNobodyThere: self?.meet(nil)
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

  /// The service's name is now owned by `owner`.
  private func meet(_ owner: String?) {
    worker?.request()
    if let owner, owner == self.owner { return }
    endService(isFault: true)
    takeUp(from: owner)
    guard let owner else {
      service = .absent
      return
    }
    service = .met(owner: owner, at: BootClock.now())
    do throws(SystemError) {
      try bus.call(method("GetCapabilities", of: owner), timeout: nil) { [weak self] answer in
        guard let self, owner == self.owner else { return }
        switch answer {
        case .reply(let values): ready(owner, .named(values.texts() ?? []))
        // It has gone, of which we are told besides.
        case .error(let error) where error.saysNobodyThere || error.saysNoReply: break
        // Then nothing is to be relied on.
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
    asking = Backoff()
    endTrouble()
    report(.available(user))
    worker?.request()
  }

  /// Has the bus start a service, where it knows of one. To ask whether it does starts none.
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
          startFailed("none runs there, and none can be started")
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
          // That it has started is told by its name's having an owner.
          guard let self, case .starting = service, case .error(let error) = answer else { return }
          startFailed("it cannot be started: \(error)")
        })
    } catch {
      bus.lose("\(error)")
    }
  }

  private func startFailed(_ reason: String) {
    service = .absent
    set(trouble: .noService(reason))
    worker?.request()
  }

  private var owner: String? {
    switch service {
    case .unknown, .absent, .starting: nil
    case .met(let owner, _), .ready(let owner, _): owner
    }
  }

  private func method(_ member: String, of owner: String) -> BusMethod {
    BusMethod(
      destination: owner, path: DesktopSignal.path, interface: DesktopSignal.service,
      member: member)
  }

  /// Handles the end of the service. Pending requests wait again; shown notifications are gone.
  ///
  /// - Parameter isFault: Whether a request may have caused the end.
  private func endService(isFault: Bool) {
    for call in requests.removeAll() { bus.forget(call) }
    for id in table.serviceEnded() { report(.closed(id, .serviceEnded)) }
    for (id, _) in toClose { report(.closed(id, .closedByCall)) }
    toClose = []
    // The first of them is to be the first again.
    for id in table.asked.reversed() {
      fail(id, isFault: isFault, "it has ended each time that it was asked to show this")
    }
  }

  // MARK: Showing

  private func ask(_ owner: String, _ capabilities: DesktopCapabilities, at now: UInt64) {
    while table.hasWaiting, requests.hasRoom, closing == nil, asking.mayTry(at: now) {
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
      asking = Backoff()
      isHeard()
      endTrouble()
      guard let name = values.number() else {
        return fail(id, isFault: true, "its answer is none that it may give")
      }
      shown(id, as: name)
    case .error(let error):
      // Not at once: what it cannot take now it may take later.
      asking.tried(at: BootClock.now())
      if error.saysNotNow { set(trouble: .noService("\(error)")) }
      fail(id, isFault: !error.saysNobodyThere && !error.saysNotNow, "\(error)")
    case .dropped:
      fail(id, isFault: false, "the bus has ended")
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
    case .cancelled(let name): takeBack(id, name)
    }
  }

  private func fail(_ id: NotificationID, isFault: Bool, _ reason: String) {
    switch table.failed(id, isFault: isFault) {
    case .waits: if trouble != nil { untold.append(id) }
    case .givenUp: report(.failed(id, .refused(reason)))
    case .cancelled(let name): takeBack(id, name)
    }
  }

  /// Closes what was taken back while the service was asked for it.
  private func takeBack(_ id: NotificationID, _ name: UInt32?) {
    if let name { toClose.append((id, name)) } else { report(.closed(id, .closedByCall)) }
  }

  private func askToClose(_ owner: String) {
    while requests.hasRoom, closing == nil, let (id, name) = toClose.popFirst() {
      closing = id
      do throws(SystemError) {
        try bus.call(
          // Whatever comes of it: who is asked again closes nothing twice.
          method("CloseNotification", of: owner),
          timeout: .nanoseconds(Int64(requests.answerTime)),
          arguments: { body throws(SystemError) in try body.append(name) },
          answer: { [weak self] _ in self?.isClosed(id) })
      } catch {
        return bus.lose("\(error)")
      }
    }
  }

  /// Also where the service knew nothing of it any more.
  private func isClosed(_ id: NotificationID) {
    worker?.request()
    guard id == closing else { return }
    closing = nil
    report(.closed(id, .closedByCall))
  }

  // MARK: What is heard

  private func heard(_ occurrence: MessageBus.Occurrence) {
    switch occurrence {
    case .changed: worker?.request()
    case .message(let message):
      guard let signal = DesktopSignal(message, from: owner) else { return }
      switch signal {
      case .owner(let owner): meet(owner)
      case .token(let name, let token): table.keep(token: token, of: name)
      case .chosen(let name):
        if let (id, token) = table.chosen(name) { report(.chosen(id, activationToken: token)) }
      case .closed(let name, let reason):
        if let id = table.closed(name) { report(.closed(id, reason)) }
        // There is room for another.
        asking = Backoff()
      }
      if signal.isOfService { isHeard() }
    }
  }

  private func isHeard() {
    worker?.request()
    requests.heard(at: BootClock.now())
    if trouble == .noAnswer { endTrouble() }
  }
}
