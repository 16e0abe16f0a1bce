import EventLoop
import Glibc
import LinuxSystem

/// A source of KWin's windows. While KWin is on the session's bus, a script that KWin runs reports
/// the windows.
///
/// The source waits for the bus by inotify, and for KWin by NameOwnerChanged. A restarted KWin has
/// lost the script, so the source loads the script again.
final class KWinSource: WindowSource {
  static let service = "org.kde.KWin"
  private static let scriptName = "taskschedd-focus"
  private static let answerMax: Duration = .seconds(10)
  /// The shortest and the longest delay before the source connects to the bus again, after the
  /// connection has ended. The delay doubles with each attempt.
  private static let reconnectMin: Duration = .seconds(1)
  private static let reconnectMax: Duration = .seconds(64)

  private let bus: MessageBus
  private let lookUp: ProcessLookup
  private let report: (SourceReport) -> Void
  private var timer: TimerSource?
  private var reconnectsAfter = KWinSource.reconnectMin
  /// KWin's unique name on the bus.
  private var owner: String?
  /// The script's text, which KWin reads through /proc.
  private var script: FileDescriptor?

  /// Starts connecting to the bus.
  init(
    address: BusAddress, loop: EventLoop, lookUp: @escaping ProcessLookup,
    report: @escaping (SourceReport) -> Void
  ) throws(SystemError) {
    self.lookUp = lookUp
    self.report = report
    bus = MessageBus(loop: loop, address: address)
    timer = try loop.timer { [weak self] in self?.connect() }
    bus.listen { [weak self] in self?.heard($0) }
    bus.serve(path: KWinScript.path) { [weak self] call in
      self?.called(call)
      return .empty
    }
    connect()
  }

  private func connect() {
    do throws(SystemError) {
      try bus.connect(waiting: true)
    } catch {
      reconnect()
    }
  }

  private func reconnect() {
    timer?.set(BootClock.now() + UInt64(reconnectsAfter / .nanoseconds(1)))
    reconnectsAfter = min(reconnectsAfter * 2, Self.reconnectMax)
  }

  private func heard(_ occurrence: MessageBus.Occurrence) {
    switch occurrence {
    case .changed:
      switch bus.state {
      case .connected:
        reconnectsAfter = Self.reconnectMin
        lookForKWin()
      case .lost:
        setOwner(nil)
        reconnect()
      case .closed, .connecting: break
      }
    case .message(let message):
      let reader = MessageReader(message)
      guard reader.sender == "org.freedesktop.DBus",
        reader.isSignal("org.freedesktop.DBus", "NameOwnerChanged"),
        reader.text() == Self.service, reader.text() != nil, let owner = reader.text()
      else { return }
      setOwner(owner.isEmpty ? nil : owner)
    }
  }

  /// Asks the bus for KWin's unique name. If the bus does not answer, the source assumes that KWin
  /// does not run.
  private func lookForKWin() {
    let rule =
      "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
      + "member='NameOwnerChanged',arg0='\(Self.service)'"
    call(.ofBus("AddMatch"), [rule])
    call(.ofBus("GetNameOwner"), [Self.service]) { [weak self] reader in
      if let owner = reader.text() { self?.setOwner(owner) }
    }
  }

  private func setOwner(_ owner: String?) {
    guard owner != self.owner else { return }
    let hadOwner = self.owner != nil
    self.owner = owner
    if hadOwner { report(.unknown) }
    if owner != nil { loadScript() }
  }

  /// Loads the script in place of an earlier agent's script, and starts it. If KWin refuses, the
  /// source reports no windows.
  private func loadScript() {
    guard let name = bus.uniqueName,
      let script = try? MemoryFile.make(
        named: Self.scriptName, holding: Array(KWinScript.text(service: name).utf8))
    else { return }
    let path = "/proc/\(getpid())/fd/\(script.rawValue)"
    self.script = consume script
    callScripting("unloadScript", [Self.scriptName]) { [weak self] _ in
      self?.callScripting("loadScript", [path, Self.scriptName]) { [weak self] _ in
        self?.callScripting("start", [])
      }
    }
  }

  private func callScripting(
    _ member: String, _ arguments: [String], _ answer: @escaping (MessageReader) -> Void = { _ in }
  ) {
    guard let owner else { return }
    let method = BusMethod(
      destination: owner, path: "/Scripting", interface: "org.kde.kwin.Scripting", member: member)
    call(method, arguments, answer)
  }

  private func call(
    _ method: BusMethod, _ arguments: [String],
    _ answer: @escaping (MessageReader) -> Void = { _ in }
  ) {
    _ = try? bus.call(
      method, timeout: Self.answerMax,
      arguments: { body throws(SystemError) in
        for argument in arguments { try body.append(argument) }
      },
      answer: {
        switch $0 {
        case .reply(let reader): answer(reader)
        case .error, .dropped: break
        }
      })
  }

  /// Reports the windows that the script sends. Ignores malformed messages, and messages that do
  /// not come from KWin.
  private func called(_ call: BusCallToServe) {
    guard call.sender == owner, call.isCall(of: KWinScript.interface, KWinScript.member),
      let text = call.arguments.text(), let message = try? KWinReport(text)
    else { return }
    report(.windows(message.snapshot(lookUp)))
  }
}
