import EventLoop
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

/// Tests with the real ModemManager and an emulated modem.
@Suite(
  "§17: The cells of modems, with the real ModemManager", .serialized,
  .enabled(if: ModemService.missing == nil, Comment(rawValue: ModemService.missing ?? "possible")))
struct CellSourceTests {
  private let watcher: LocationWatcher
  private let directory = TemporaryDirectory()

  init() throws { watcher = try LocationWatcher() }

  private func sources(_ bus: BusAddress) -> LocationSources {
    let sources = LocationSources(
      loop: watcher.loop, log: Log(target: .stderr, level: .error),
      gpsdSocket: directory.file("no-gpsd"), systemBus: bus, post: watcher.post)
    sources.start()
    return sources
  }

  private func sources(_ modem: ModemService) -> LocationSources {
    sources(BusAddress(text: modem.bus.address))
  }

  private func waitForMoves(_ count: Int) throws {
    try watcher.wait(for: "\(count) moves") { watcher.moveCount >= count }
  }

  /// Waits until ModemManager has the given settings for reports of locations.
  private func wait(for setup: ModemService.LocationSetup, of modem: ModemService) throws {
    try watcher.wait(for: "the setup of locations") {
      try watcher.loop.turn(within: .zero)
      return try modem.locationSetup() == setup
    }
  }

  private static func setup(_ sources: Int, sendsSignals: Bool) -> ModemService.LocationSetup {
    ModemService.LocationSetup(sources: sources, sendsSignals: sendsSignals)
  }

  @Test("A modem with a cell is available; another cell is a move only while moves are watched")
  func moves() throws {
    let modem = try ModemService()
    let sources = sources(modem)
    try watcher.wait(for: .cell, toBeAvailable: true)
    #expect(sources.states[1] == LocationSourceState(name: "modem", isAvailable: true))
    #expect(try modem.locationSetup() == Self.setup(1, sendsSignals: false))
    try modem.moveToCell(area: "04D8", id: "00000001")
    try watcher.settle()
    #expect(watcher.moveCount == 0)

    sources.need(LocationNeeds(watchesRadio: true))
    try wait(for: Self.setup(1, sendsSignals: true), of: modem)
    try watcher.settle()
    #expect(watcher.moveCount == 0, "the first cell of the watch is not a move")
    try modem.moveToCell(area: "04D8", id: "00000002")
    try waitForMoves(1)
    try modem.moveToCell(area: "04D9", id: "00000002")
    try waitForMoves(2)
    // The same cell again is not a move.
    try modem.moveToCell(area: "04D9", id: "00000002")
    try modem.loseNetwork()
    try watcher.wait(for: .cell, toBeAvailable: false)
    #expect(sources.states[1].problem == "the modem reports no cell")
    try modem.moveToCell(area: "04D9", id: "00000002")
    try watcher.wait(for: .cell, toBeAvailable: true)
    #expect(watcher.moveCount == 2, "the same cell as before the interruption")
    try modem.moveToCell(area: "04D9", id: "00000003")
    try waitForMoves(3)

    sources.need(LocationNeeds())
    try wait(for: Self.setup(1, sendsSignals: false), of: modem)
    #expect(watcher.availability(of: .cell) == true)
    // Without a watch, the state of the modem still shows whether it has a cell.
    try modem.loseNetwork()
    try watcher.wait(for: .cell, toBeAvailable: false)
    try modem.moveToCell(area: "04DA", id: "00000004")
    try watcher.wait(for: .cell, toBeAvailable: true)
    #expect(watcher.moveCount == 3)
  }

  @Test("What was set up before the watch is restored after it")
  func restores() throws {
    let modem = try ModemService()
    let sources = sources(modem)
    try watcher.wait(for: .cell, toBeAvailable: true)
    // Another program turns off the reports of the cell.
    try modem.setUpLocation(sources: 0, sendsSignals: false)
    sources.need(LocationNeeds(watchesRadio: true))
    try wait(for: Self.setup(1, sendsSignals: true), of: modem)
    try watcher.wait(for: .cell, toBeAvailable: true)
    sources.need(LocationNeeds())
    try wait(for: Self.setup(0, sendsSignals: false), of: modem)
    try watcher.wait(for: .cell, toBeAvailable: false)
    // Another program needs the signals.
    try modem.setUpLocation(sources: 1, sendsSignals: true)
    sources.need(LocationNeeds(watchesRadio: true))
    try watcher.wait(for: .cell, toBeAvailable: true)
    sources.need(LocationNeeds())
    try watcher.settle()
    #expect(try modem.locationSetup() == Self.setup(1, sendsSignals: true))
  }

  @Test("Signals that another program turns off are turned on again during a watch")
  func otherProgram() throws {
    let modem = try ModemService()
    let sources = sources(modem)
    sources.need(LocationNeeds(watchesRadio: true))
    try wait(for: Self.setup(1, sendsSignals: true), of: modem)
    try modem.setUpLocation(sources: 1, sendsSignals: false)
    try wait(for: Self.setup(1, sendsSignals: true), of: modem)
    try modem.moveToCell(area: "04D8", id: "00000005")
    try waitForMoves(1)
    #expect(watcher.availability(of: .cell) == true)
    // When ModemManager enables a modem, it resets the modem's settings.
    try modem.setEnabled(false)
    try watcher.wait(for: .cell, toBeAvailable: false)
    try modem.setEnabled(true)
    try watcher.wait(for: .cell, toBeAvailable: true)
    try wait(for: Self.setup(1, sendsSignals: true), of: modem)
    try modem.moveToCell(area: "04D8", id: "00000006")
    try waitForMoves(2)
  }

  @Test("When ModemManager ends, the source is not available")
  func managerEnds() throws {
    let modem = try ModemService()
    let sources = sources(modem)
    sources.need(LocationNeeds(watchesRadio: true))
    try watcher.wait(for: .cell, toBeAvailable: true)
    modem.end()
    try watcher.wait(for: .cell, toBeAvailable: false)
    #expect(sources.states[1].problem == "ModemManager is not running")
  }

  @Test("Without ModemManager or a bus, the source says what is missing")
  func absent() throws {
    let bus = try SessionBus(path: directory.file("bus"))
    let sources = sources(BusAddress(text: bus.address))
    try watcher.wait(for: .cell, toBeAvailable: false)
    try watcher.wait(for: .accessPoint, toBeAvailable: false)
    #expect(sources.states.map(\.isAvailable) == [false, false, false])
    #expect(
      sources.states.map(\.problem) == [
        "no socket at \(directory.file("no-gpsd"))", "ModemManager is not running",
        "NetworkManager is not running",
      ])
    bus.process.end()
    try watcher.wait(for: "the end of the bus") {
      sources.states[1].problem == "the message bus is not running"
    }
  }
}
