import EventLoop
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

/// Tests with a program that owns the name of ModemManager. `ModemCallTests` uses the real
/// ModemManager.
@Suite(
  "§13: Watching the calls of modems (contract.md#call-interrupts)",
  .enabled(
    if: StandInModemManager.missing == nil,
    Comment(rawValue: StandInModemManager.missing ?? "possible")))
struct ModemCallsTests {
  private let directory = TemporaryDirectory()
  private let watcher: ChangeWatcher
  private let reports = Reports()
  private let watching = Watching()

  private final class Reports {
    var all: [[ModemCall]] = []
    var incoming: [[IncomingCall]] = []
  }

  private final class Watching {
    var modemCalls: ModemCalls?
  }

  init() throws { watcher = try ChangeWatcher() }

  private func startBus() throws -> SessionBus { try SessionBus(path: directory.file("bus")) }

  /// Starts to watch the calls.
  ///
  /// - Parameter calls: the calls that the scheduler knows.
  private func watch(
    knowing calls: [ModemCall] = [], answerMax: Duration = .seconds(25)
  ) throws {
    let address = BusAddress(text: "unix:path=\(directory.file("bus"))")
    let modemCalls = ModemCalls(
      loop: watcher.loop, address: address, calls: calls, answerMax: answerMax
    ) { [reports] event in
      if case .modemCalls(let calls) = event { reports.all.append(calls) }
    }
    modemCalls.incomingChanged = { [reports] in reports.incoming.append($0) }
    watching.modemCalls = modemCalls
    try modemCalls.start()
  }

  /// Waits for the next report, and returns it.
  private func next() throws -> [ModemCall] {
    try watcher.wait(for: "a report of calls") { !reports.all.isEmpty }
    return reports.all.removeFirst()
  }

  private func ringing(_ number: Int) -> ModemCall {
    ModemCall(StandInModemManager.call(number), isAnswered: false)
  }

  private func answered(_ number: Int) -> ModemCall {
    ModemCall(StandInModemManager.call(number), isAnswered: true)
  }

  // MARK: Calls

  @Test("A call that is dialed, rings or waits is not an answered call", arguments: [1, 2, 3, 6])
  func rings(_ state: Int) throws {
    let bus = try startBus()
    let manager = try StandInModemManager(on: bus)
    try watch()
    try manager.add(0, state)
    #expect(try next() == [ringing(0)])
    try manager.change(0, to: 7)
    #expect(try next() == [])
  }

  @Test("A call that is put on hold is still an answered call; one that ends is no call")
  func follows() throws {
    let bus = try startBus()
    let manager = try StandInModemManager(on: bus)
    try watch()
    try manager.add(0, 3)
    #expect(try next() == [ringing(0)])
    try manager.change(0, to: 4)
    #expect(try next() == [answered(0)])
    try manager.change(0, to: 5)
    try manager.add(1, 6)
    #expect(try next() == [answered(0), ringing(1)])
    try manager.delete(1)
    #expect(try next() == [answered(0)])
    try manager.change(0, to: 7)
    #expect(try next() == [])
  }

  @Test("The calls that ModemManager has at the start are reported together, ordered by id")
  func reads() throws {
    let bus = try startBus()
    let manager = try StandInModemManager(on: bus)
    try manager.set(2, 4)
    try manager.set(1, 3)
    try manager.set(0, 7)
    try watch()
    #expect(try next() == [ringing(1), answered(2)])
  }

  @Test("A modem that is removed has no calls; the calls of a modem that is added are read")
  func modems() throws {
    let bus = try startBus()
    let manager = try StandInModemManager(on: bus)
    try manager.set(0, 4)
    try watch()
    #expect(try next() == [answered(0)])
    try manager.setModem(isPresent: false)
    #expect(try next() == [])
    try manager.set(1, 3)
    try manager.setModem(isPresent: true)
    #expect(try next() == [answered(0), ringing(1)])
  }

  // MARK: Incoming calls

  /// Waits for the next report of incoming calls, and returns it.
  private func nextIncoming() throws -> [IncomingCall] {
    try watcher.wait(for: "a report of incoming calls") { !reports.incoming.isEmpty }
    return reports.incoming.removeFirst()
  }

  @Test("A call that rings or waits is incoming until it is answered; a dialed call never is")
  func incoming() throws {
    let bus = try startBus()
    let manager = try StandInModemManager(on: bus)
    try manager.describe(0, number: "+49123")
    try manager.set(0, 3)
    try manager.describe(1, number: "+49456", isOutgoing: true)
    try manager.set(1, 3)
    try watch()
    let call = try #require(try nextIncoming().first)
    #expect(call.path == StandInModemManager.call(0))
    #expect(call.number == "+49123")
    try manager.change(0, to: 4)
    #expect(try nextIncoming() == [])
    try manager.add(2, 6)
    #expect(try nextIncoming().map(\.number) == [""])
    try manager.describe(2, number: "+49789", withSignal: true)
    #expect(try nextIncoming().map(\.number) == ["+49789"])
  }

  @Test("Without ModemManager, no call is incoming, and the daemon knows that")
  func noneIncoming() throws {
    let bus = try startBus()
    try watch()
    #expect(try nextIncoming() == [])
    withExtendedLifetime(bus) {}
  }

  /// The method of ModemManager that the daemon must call to carry out an answer to a phone call.
  /// The method depends on the state of the phone call.
  struct Method: CustomTestStringConvertible {
    let answer: CallAnswer
    let state: Int
    let name: String

    var testDescription: String { name }
  }

  @Test(
    "ModemManager accepts and ends calls; another call is put on hold if the call waits",
    arguments: [
      Method(answer: .accept, state: 3, name: "Accept 0"),
      Method(answer: .accept, state: 6, name: "HoldAndAccept 0"),
      Method(answer: .decline, state: 3, name: "Hangup 0"),
    ])
  func answers(_ method: Method) throws {
    let bus = try startBus()
    let manager = try StandInModemManager(on: bus)
    try manager.set(0, method.state)
    try watch()
    let call = try #require(try nextIncoming().first)
    watching.modemCalls?.answer(call, method.answer) { Issue.record("refused: \($0)") }
    #expect(try manager.nextAnswer() == method.name)
  }

  @Test("The reason is reported if ModemManager refuses an answer, or the call has ended")
  func refuses() throws {
    let bus = try startBus()
    let manager = try StandInModemManager(on: bus)
    try manager.set(0, 3)
    try manager.refuseAnswers()
    try watch()
    let call = try #require(try nextIncoming().first)
    let reasons = Reasons()
    watching.modemCalls?.answer(call, .accept) { reasons.all.append($0) }
    try watcher.wait(for: "the refusal") { !reasons.all.isEmpty }
    #expect(reasons.all.first?.contains("the modem refuses") == true)
    try manager.change(0, to: 7)
    #expect(try nextIncoming() == [])
    watching.modemCalls?.answer(call, .accept) { reasons.all.append($0) }
    #expect(reasons.all.last == "the call has ended")
  }

  private final class Reasons {
    var all: [String] = []
  }

  // MARK: Absent services

  @Test("When ModemManager leaves the bus, its calls end")
  func managerEnds() throws {
    let bus = try startBus()
    let manager = try StandInModemManager(on: bus)
    try manager.set(0, 4)
    try watch()
    #expect(try next() == [answered(0)])
    try manager.end()
    #expect(try next() == [])
    let second = try StandInModemManager(on: bus)
    try second.add(0, 3)
    #expect(try next() == [ringing(0)])
  }

  @Test("When the bus ends, all calls end; the calls on the next bus are reported")
  func busEnds() throws {
    let first = try startBus()
    let manager = try StandInModemManager(on: first)
    try manager.set(0, 4)
    try watch()
    #expect(try next() == [answered(0)])
    first.process.end()
    #expect(try next() == [])
    let second = try startBus()
    let successor = try StandInModemManager(on: second)
    try successor.set(1, 3)
    #expect(try next() == [ringing(1)])
  }

  // MARK: Calls that a previous daemon reported

  @Test("Without ModemManager, the calls that a previous daemon reported end")
  func absentManager() throws {
    let bus = try startBus()
    try watch(knowing: [answered(0)])
    #expect(try next() == [])
    let manager = try StandInModemManager(on: bus)
    try manager.add(1, 3)
    #expect(try next() == [ringing(1)])
  }

  @Test("Without a bus, the calls that a previous daemon reported end after a time limit")
  func absentBus() throws {
    try watch(knowing: [answered(0)], answerMax: .milliseconds(50))
    #expect(try next() == [])
  }

  @Test("If ModemManager hangs, the calls that a previous daemon reported end after a time limit")
  func hangingManager() throws {
    let bus = try startBus()
    let manager = try StandInModemManager(on: bus, isHanging: true)
    try watch(knowing: [answered(0)], answerMax: .milliseconds(500))
    #expect(try next() == [])
    withExtendedLifetime(manager) {}
  }

  @Test("A call that a previous daemon reported, and that continues, is not reported again")
  func continues() throws {
    let bus = try startBus()
    let manager = try StandInModemManager(on: bus)
    try manager.set(0, 3)
    try watch(knowing: [ringing(0)])
    try manager.add(1, 4)
    #expect(try next() == [ringing(0), answered(1)])
  }

  // MARK: Input

  @Test("Signals of programs other than ModemManager are ignored")
  func impostor() throws {
    let bus = try startBus()
    let manager = try StandInModemManager(on: bus)
    try manager.set(0, 3)
    try watch()
    #expect(try next() == [ringing(0)])
    let impostor = try StandInModemManager(on: bus, name: nil)
    try impostor.signalState(of: 0, 7)
    try impostor.add(1, 3)
    try impostor.setModem(isPresent: false)
    try manager.change(0, to: 4)
    #expect(try next() == [answered(0)])
  }

  @Test("§15: Malformed signals are ignored, and an unknown state is no call")
  func malformed() throws {
    let bus = try startBus()
    let manager = try StandInModemManager(on: bus)
    try manager.set(0, 3)
    try watch()
    #expect(try next() == [ringing(0)])
    let call = StandInModemManager.call(0), modem = StandInModemManager.modem
    let voice = StandInModemManager.voice, objects = StandInModemManager.objects
    let interface = "org.freedesktop.ModemManager1.Call"
    try manager.signal(call, interface, "StateChanged", "s", #""7""#)
    try manager.signal(call, interface, "StateChanged", "i", "7")
    try manager.signal(call, interface, "StateChanged", "", "")
    try manager.signal(modem, voice, "CallAdded", "s", #""/call""#)
    try manager.signal(modem, voice, "CallDeleted", "s", "\"\(call)\"")
    let manages = "/org/freedesktop/ModemManager1"
    try manager.signal(manages, objects, "InterfacesAdded", "o", "\"\(modem)\"")
    try manager.signal(manages, objects, "InterfacesAdded", "oas", "\"\(modem)\", [\"\(voice)\"]")
    try manager.signal(manages, objects, "InterfacesRemoved", "os", "\"\(modem)\", \"\(voice)\"")
    try manager.change(0, to: 4)
    #expect(try next() == [answered(0)])
    try manager.change(0, to: 99)
    #expect(try next() == [])
  }

  @Test("§15: The daemon knows 64 calls at most, and none with an object path over 255 bytes")
  func limits() throws {
    let bus = try startBus()
    let manager = try StandInModemManager(on: bus)
    let longest = "/" + String(repeating: "a", count: 254)
    try manager.set(longest, 3)
    try manager.set(longest + "a", 3)
    try watch()
    #expect(try next() == [ModemCall(longest, isAnswered: false)])
    for number in 1...63 { try manager.set(number, 3) }
    // This signal makes the daemon read the modem again, with all calls.
    try manager.setModem(isPresent: true)
    #expect(try next().count == 64)
    try manager.add(100, 4)
    try manager.change(1, to: 7)
    #expect(try next().count == 63)
    try manager.add(101, 4)
    #expect(try next().contains(answered(101)))
  }

  @Test("The objects of calls that have ended do not count against the maximum")
  func endedCalls() throws {
    let bus = try startBus()
    let manager = try StandInModemManager(on: bus)
    for number in 0..<70 { try manager.set(number, 7) }
    try watch()
    try manager.add(70, 3)
    #expect(try next() == [ringing(70)])
  }
}
