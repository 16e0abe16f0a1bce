import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// Reports the phone calls of the machine's modems, as ModemManager knows them (contract §13).
///
/// When ModemManager has appeared, the daemon reads the calls of all modems, and from then on
/// follows ModemManager's signals. When ModemManager or the bus disappears, the daemon reports that
/// all calls have ended. When a user accepts or declines a call that rings here, the daemon orders
/// ModemManager to accept or end the call.
///
/// The scheduler may know calls that a previous daemon reported, and that have ended meanwhile. The
/// daemon reports the calls once it has read all of them, or has learned that there are none. If
/// neither happens within `answerMax`, because there is no bus or ModemManager hangs, the daemon
/// reports that all calls have ended.
final class ModemCalls {
  private let modemManager: BusService
  private let report: (SessionEvent) -> Void
  /// The calls by their object paths.
  private var entries: [String: Entry] = [:]
  /// The calls that the scheduler knows, ordered by id.
  private(set) var calls: [ModemCall]
  /// The calls that ring here, ordered by path; nil until ModemManager has reported all calls.
  private var incoming: [IncomingCall]?
  /// A function that receives the calls that ring here: once all calls are known, and after each
  /// change. It runs before ``report``. The owner of this object sets it once.
  var incomingChanged: ([IncomingCall]) -> Void = { _ in }

  private struct Entry {
    /// The object path of the call's modem.
    var modem: String
    /// The state of the call; nil until ModemManager has reported it.
    var state: ModemCallState?
    /// Whether the user has dialed the call.
    var isOutgoing = false
    /// The number of the other phone; empty if it is not known.
    var number = ""
  }

  private static let name = "org.freedesktop.ModemManager1"
  private static let path = "/org/freedesktop/ModemManager1"
  private static let voice = "org.freedesktop.ModemManager1.Modem.Voice"
  private static let call = "org.freedesktop.ModemManager1.Call"
  private static let objects = "org.freedesktop.DBus.ObjectManager"
  private static let properties = "org.freedesktop.DBus.Properties"
  /// The maximum number of calls. The daemon ignores further calls.
  static let countMax = 64
  /// The maximum length of a call's object path in bytes. The daemon ignores a call with a longer
  /// path.
  static let pathMax = 255
  /// MM_CALL_DIRECTION_OUTGOING of ModemManager.
  private static let outgoing: Int32 = 2
  private static let rules = [
    "sender='\(name)',interface='\(objects)',path='\(path)'",
    "sender='\(name)',interface='\(voice)'",
    "sender='\(name)',interface='\(call)',member='StateChanged'",
    "sender='\(name)',interface='\(properties)',member='PropertiesChanged',arg0='\(call)'",
  ]

  /// - Parameters:
  ///   - calls: The calls that the scheduler knows, ordered by id.
  ///   - answerMax: The time within which ModemManager must answer, and the bus must appear.
  init(
    loop: EventLoop, address: BusAddress, calls: [ModemCall], answerMax: Duration = .seconds(25),
    report: @escaping (SessionEvent) -> Void
  ) {
    self.calls = calls
    self.report = report
    modemManager = BusService(
      Self.name, loop: loop, address: address, rules: Self.rules, answerMax: answerMax)
  }

  /// - Throws: The reason why the daemon cannot watch calls. The daemon then reports that all calls
  ///   have ended.
  func start() throws(SystemError) {
    modemManager.listen { [weak self] in self?.heard($0) }
    do throws(SystemError) {
      try modemManager.start()
    } catch {
      reconsider()
      throw error
    }
  }

  private func heard(_ occurrence: BusService.Occurrence) {
    switch occurrence {
    case .ownerChanged:
      entries = [:]
      if modemManager.owner != nil { listModems() }
    case .signal(let message):
      handle(message)
    case .settled:
      break
    }
    reconsider()
  }

  // MARK: Signals

  private func handle(_ message: MessageReader) {
    guard let path = message.path else { return }
    if message.isSignal(Self.call, "StateChanged") {
      guard message.integer() != nil, let state = message.integer() else { return }
      set(state, of: path)
    } else if message.isSignal(Self.properties, "PropertiesChanged") {
      // The number of the other phone may arrive after the first ring, so the daemon reads it
      // again.
      if message.text() == Self.call { read(message, of: path) }
    } else if message.isSignal(Self.voice, "CallAdded") {
      if let call = message.objectPath() { add(call, of: path) }
    } else if message.isSignal(Self.voice, "CallDeleted") {
      if let call = message.objectPath() { entries[call] = nil }
    } else if message.isSignal(Self.objects, "InterfacesAdded") {
      guard let modem = message.objectPath(), message.interfaces()?.contains(Self.voice) == true
      else { return }
      listCalls(of: modem)
    } else if message.isSignal(Self.objects, "InterfacesRemoved") {
      guard let modem = message.objectPath(), message.texts()?.contains(Self.voice) == true
      else { return }
      entries = entries.filter { $0.value.modem != modem }
    }
  }

  // MARK: Reading

  private func listModems() {
    ask("GetManagedObjects", of: Self.objects, at: Self.path) { modemCalls, values in
      values.objects { modem, interfaces in
        if interfaces.contains(Self.voice) { modemCalls.listCalls(of: modem) }
      }
    }
  }

  private func listCalls(of modem: String) {
    ask("ListCalls", of: Self.voice, at: modem) { modemCalls, values in
      // ModemManager lists the newest calls first, so the limit excludes only the oldest calls.
      for call in values.objectPaths(countMax: Self.countMax) ?? [] {
        modemCalls.add(call, of: modem)
      }
    }
  }

  private func add(_ call: String, of modem: String) {
    guard entries[call] == nil, entries.count < Self.countMax, call.utf8.count <= Self.pathMax
    else { return }
    entries[call] = Entry(modem: modem)
    ask("GetAll", of: Self.properties, at: call, [Self.call]) { modemCalls, values in
      if let state = modemCalls.read(values, of: call) { modemCalls.set(state, of: call) }
    }
  }

  /// Reads the direction and the number of a call from its properties. Returns the state, which
  /// the signal StateChanged reports too.
  @discardableResult
  private func read(_ properties: MessageReader, of call: String) -> Int32? {
    var state: Int32?
    var entry = entries[call]
    _ = properties.properties { name in
      switch name {
      case "State":
        state = properties.integerInVariant()
        return state != nil
      case "Direction":
        guard let direction = properties.integerInVariant() else { return false }
        entry?.isOutgoing = direction == Self.outgoing
        return true
      case "Number":
        guard let number = properties.textInVariant() else { return false }
        entry?.number = IncomingCall.bounded(number)
        return true
      default:
        return false
      }
    }
    entries[call] = entry
    return state
  }

  private func set(_ number: Int32, of call: String) {
    let state = ModemCallState(number)
    // ModemManager keeps the objects of some ended calls. These must not count against the maximum.
    if state == .terminated { entries[call] = nil } else { entries[call]?.state = state }
  }

  /// Calls a method of ModemManager.
  ///
  /// - Parameter read: Reads the reply. ModemManager replies with an error if the object has
  ///   disappeared; the daemon ignores errors.
  private func ask(
    _ member: String, of interface: String, at path: String, _ arguments: [String] = [],
    read: @escaping (ModemCalls, MessageReader) -> Void
  ) {
    modemManager.ask(
      member, of: interface, at: path,
      arguments: { body throws(SystemError) in
        for argument in arguments { try body.append(argument) }
      },
      answer: { [weak self] answer in
        if let self, case .reply(let values) = answer { read(self, values) }
      })
  }

  // MARK: Answering

  /// Carries out the user's answer to a call that rings here.
  ///
  /// - Parameter failed: Called with the reason if ModemManager does not carry out the answer.
  func answer(
    _ call: IncomingCall, _ answer: CallAnswer, failed: @escaping (String) -> Void
  ) {
    guard let entry = entries[call.path], call.service == modemManager.owner else {
      return failed("the call has ended")
    }
    var method = BusMethod(
      destination: call.service, path: call.path, interface: Self.call, member: "Hangup")
    if answer == .accept, entry.state == .waiting {
      // While the user has another call, ModemManager does not accept a waiting call by `Accept`.
      (method.path, method.interface) = (entry.modem, Self.voice)
      method.member = "HoldAndAccept"
    } else if answer == .accept {
      method.member = "Accept"
    }
    do throws(SystemError) {
      try modemManager.call(method) { reply in
        switch reply {
        case .reply: break
        case .error(let error): failed("\(error)")
        case .dropped: failed("the message bus has closed the connection")
        }
      }
    } catch {
      failed("\(error)")
    }
  }

  // MARK: Reporting

  /// Reports the calls if they differ from those that the scheduler knows. Does nothing until
  /// ModemManager has answered all questions.
  private func reconsider() {
    guard modemManager.isSettled else { return }
    reconsiderIncoming()
    let next = entries.sortedByKey.compactMap { id, entry in
      entry.state?.isAnswered.map { ModemCall(id, isAnswered: $0) }
    }
    guard next != calls else { return }
    calls = next
    report(.modemCalls(next))
  }

  private func reconsiderIncoming() {
    let service = modemManager.owner ?? ""
    let next = entries.sortedByKey.compactMap { path, entry in
      entry.state?.ringsHere == true && !entry.isOutgoing
        ? IncomingCall(path: path, service: service, number: entry.number) : nil
    }
    guard next != incoming else { return }
    incoming = next
    incomingChanged(next)
  }
}

/// The state of a call: MMCallState of ModemManager.
enum ModemCallState: Int32 {
  case unknown, dialing, ringingOut, ringingIn, active, held, waiting, terminated

  /// - Parameter number: The state as a number. A number that this daemon does not know counts as
  ///   ``unknown``.
  init(_ number: Int32) { self = Self(rawValue: number) ?? .unknown }

  /// Whether the call has been answered; nil if the call has ended or its state is unknown.
  var isAnswered: Bool? {
    switch self {
    case .active, .held: true
    case .dialing, .ringingOut, .ringingIn, .waiting: false
    case .unknown, .terminated: nil
    }
  }

  /// Whether the call rings on this machine, perhaps while another call is active.
  var ringsHere: Bool {
    switch self {
    case .ringingIn, .waiting: true
    case .unknown, .dialing, .ringingOut, .active, .held, .terminated: false
    }
  }
}
