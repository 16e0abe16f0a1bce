import LinuxSystem

/// A program's access to a service on a message bus. The service may appear and disappear at any
/// time.
///
/// The program does not start the bus or the service, and does not wait for them. inotify reports
/// when a bus appears, and the bus reports when the service appears or disappears. Every process
/// can send signals on the system bus, so this type ignores all signals that the service did not
/// send.
package final class BusService {
  /// An event of the service.
  package enum Occurrence {
    /// The program has learned ``owner``, or ``owner`` has changed. No question is outstanding any
    /// more. Also occurs if the program cannot connect to the bus within a time limit; ``owner`` is
    /// then nil.
    case ownerChanged
    /// A signal that matches one of the ``rules``.
    case signal(MessageReader)
    /// The service has answered all questions.
    case settled
  }

  /// The well-known name of the service.
  package let name: String
  /// The match rules (D-Bus specification) of the signals to receive, without `type='signal'`.
  package var rules: [String] {
    didSet {
      guard bus.state == .connected else { return }
      for rule in oldValue where !rules.contains(rule) { send("RemoveMatch", rule) }
      for rule in rules where !oldValue.contains(rule) { send("AddMatch", rule) }
    }
  }
  /// The unique name of the service on the bus; nil while the service is absent.
  package private(set) var owner: String?

  private let loop: EventLoop
  private let bus: MessageBus
  private let answerMax: Duration
  private var report: (Occurrence) -> Void = { _ in }
  private var timer: TimerSource?
  private var reconnectsAfter = BusService.reconnectMin
  /// The number of questions that ``owner`` has not answered yet.
  private var questionCount = 0

  private static let reconnectMin: Duration = .seconds(1)
  private static let reconnectMax: Duration = .seconds(3600)

  /// - Parameters:
  ///   - name: The well-known name of the service.
  ///   - address: The address of the bus.
  ///   - rules: See ``rules``.
  ///   - answerMax: The limit for each answer of the service. If no bus appears within this limit,
  ///     the service counts as absent.
  package init(
    _ name: String, loop: EventLoop, address: BusAddress, rules: [String],
    answerMax: Duration = .seconds(25)
  ) {
    self.name = name
    self.loop = loop
    self.rules = rules
    self.answerMax = answerMax
    bus = MessageBus(loop: loop, address: address)
  }

  /// Whether there is a connection to the bus.
  package var isBusConnected: Bool { bus.state == .connected }

  /// Whether no question is outstanding.
  package var isSettled: Bool { questionCount == 0 }

  /// Sets the handler for all events. It is called from the loop.
  package func listen(_ report: @escaping (Occurrence) -> Void) { self.report = report }

  /// Begins to follow the service.
  ///
  /// - Throws: The reason why the program cannot follow the service.
  package func start() throws(SystemError) {
    timer = try loop.timer { [weak self] in self?.timeIsUp() }
    bus.listen { [weak self] in self?.received($0) }
    setTimer(after: answerMax)
    // If there is no bus, inotify reports when a bus appears.
    try bus.connect(waiting: true)
  }

  // MARK: The bus

  private func received(_ occurrence: MessageBus.Occurrence) {
    switch occurrence {
    case .message(let message):
      handle(MessageReader(message))
    case .changed:
      switch bus.state {
      case .connected:
        timer?.clear()
        reconnectsAfter = Self.reconnectMin
        for rule in rules { send("AddMatch", rule) }
        send("AddMatch", ownerRule)
        findOwner()
      case .lost:
        ownerChanged(to: nil)
        setTimer(after: reconnectsAfter)
        reconnectsAfter = min(reconnectsAfter * 2, Self.reconnectMax)
      case .closed, .connecting:
        break
      }
    }
  }

  private func setTimer(after delay: Duration) {
    timer?.set(BootClock.now() + UInt64(delay / .nanoseconds(1)))
  }

  private func timeIsUp() {
    if bus.state == .connected { return }
    report(.ownerChanged)
    // If connecting is impossible, the program stops following the service.
    try? bus.connect(waiting: true)
  }

  private var ownerRule: String {
    "sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged',"
      + "arg0='\(name)'"
  }

  /// Adds a rule to the bus, or removes a rule from it. If the bus refuses to add a rule, the
  /// program does not receive the signals of this rule.
  private func send(_ member: String, _ rule: String) {
    _ = try? bus.call(
      .ofBus(member), timeout: answerMax,
      arguments: { body throws(SystemError) in try body.append("type='signal',\(rule)") },
      answer: { _ in })
  }

  private func findOwner() {
    _ = try? bus.call(
      .ofBus("GetNameOwner"), timeout: answerMax,
      arguments: { body throws(SystemError) in try body.append(name) },
      answer: { [weak self] answer in
        switch answer {
        case .reply(let values): self?.ownerChanged(to: values.text())
        case .error: self?.ownerChanged(to: nil)
        case .dropped: break
        }
      })
  }

  /// Handles the unique name of the service, which the bus has reported; nil if the service is
  /// absent.
  private func ownerChanged(to name: String?) {
    if let name, name == owner { return }
    owner = name
    questionCount = 0
    report(.ownerChanged)
  }

  private func handle(_ message: MessageReader) {
    if message.sender == "org.freedesktop.DBus" {
      guard message.isSignal("org.freedesktop.DBus", "NameOwnerChanged"),
        message.text() == name, message.text() != nil, let owner = message.text()
      else { return }
      return ownerChanged(to: owner.isEmpty ? nil : owner)
    }
    guard let owner, message.sender == owner else { return }
    report(.signal(message))
  }

  // MARK: Calls

  /// Sends the service a question, which is a method call. Does nothing while the service is
  /// absent.
  ///
  /// - Parameter answer: Called from the loop with the outcome. An error usually means that the
  ///   object has disappeared. Not called if the service disappears before it answers.
  package func ask(
    _ member: String, of interface: String, at path: String,
    arguments: (MessageBody) throws(SystemError) -> Void = { _ throws(SystemError) in },
    answer: @escaping (BusAnswer) -> Void
  ) {
    guard let owner else { return }
    let method = BusMethod(
      destination: owner, path: path, interface: interface, member: member)
    let call = try? bus.call(method, timeout: answerMax, arguments: arguments) {
      [weak self] reply in
      // If the owner has changed, the count no longer includes this question, so the answer must
      // not lower the count.
      guard let self, self.owner == owner else { return }
      questionCount -= 1
      answer(reply)
      if questionCount == 0 { report(.settled) }
    }
    if call != nil { questionCount += 1 }
  }

  /// Calls a method. The call does not count as a question.
  package func call(
    _ method: BusMethod, answer: @escaping (BusAnswer) -> Void
  ) throws(SystemError) {
    try bus.call(method, timeout: answerMax, answer: answer)
  }
}
