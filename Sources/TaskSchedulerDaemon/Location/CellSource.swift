import EventLoop
import LinuxSystem

/// A source that shows when the machine moves: the cells of modems, as ModemManager reports them.
///
/// ModemManager reports the cell when asked. It sends signals about cells only after a call of
/// `Setup`. The daemon makes this call when it begins to watch for moves, and restores the earlier
/// setup when the watch ends. If the daemon dies during the watch, the signals stay enabled. While
/// the daemon does not watch for moves, it reads the cell when a modem appears, is enabled or
/// registers with a network, to know whether the source is available.
final class CellSource {
  /// Called with each event, from the loop. The owner sets it once.
  var report: (RadioOccurrence) -> Void = { _ in }

  private let modemManager: BusService
  private var modems: [String: Modem] = [:]
  private var changes = RadioChanges()
  /// The reason why ModemManager does not report the cell of a modem that is enabled.
  private var refusal: String?

  /// A modem that can report its cell.
  private struct Modem {
    /// The sources of locations that are enabled (MMModemLocationSource); nil until the daemon has
    /// read them.
    var enabled: UInt32?
    /// Whether ModemManager sends signals about locations.
    var sendsSignals = false
    /// The cell: "MCC,MNC,LAC,CI,TAC".
    var cell: String?
    var isAsked = false
    /// Whether the modem has changed since the daemon last asked about it.
    var isStale = false
    /// Whether the daemon has enabled reports of the cell, and signals about it. When the watch
    /// ends, the daemon disables what it has enabled.
    var hasEnabledCell = false
    var hasEnabledSignals = false
  }

  private static let name = "org.freedesktop.ModemManager1"
  private static let path = "/org/freedesktop/ModemManager1"
  private static let modem = "org.freedesktop.ModemManager1.Modem"
  private static let network = "org.freedesktop.ModemManager1.Modem.Modem3gpp"
  private static let location = "org.freedesktop.ModemManager1.Modem.Location"
  private static let objects = "org.freedesktop.DBus.ObjectManager"
  private static let properties = "org.freedesktop.DBus.Properties"
  /// MM_MODEM_LOCATION_SOURCE_3GPP_LAC_CI of ModemManager.
  private static let cellSource: UInt32 = 1
  /// The error for a modem that is not enabled.
  private static let wrongState = "org.freedesktop.ModemManager1.Error.Core.WrongState"
  /// The maximum number of modems. The daemon ignores further modems.
  private static let countMax = 16
  /// The maximum length of an object path, and of a cell, in bytes. The daemon ignores longer
  /// ones.
  private static let textMax = 255

  private static let rules = [
    "sender='\(name)',interface='\(objects)',path='\(path)'",
    "sender='\(name)',interface='\(modem)',member='StateChanged'",
    "sender='\(name)',interface='\(properties)',member='PropertiesChanged',arg0='\(network)'",
  ]
  private static let ruleOfCells =
    "sender='\(name)',interface='\(properties)',member='PropertiesChanged',arg0='\(location)'"

  /// - Parameter answerMax: The time within which ModemManager must answer, and the bus must
  ///   appear.
  init(loop: EventLoop, systemBus: BusAddress, answerMax: Duration = .seconds(25)) {
    modemManager = BusService(
      Self.name, loop: loop, address: systemBus, rules: Self.rules, answerMax: answerMax)
  }

  /// Reports whether the source is available, and begins to follow ModemManager.
  ///
  /// - Throws: The reason why the daemon cannot follow ModemManager.
  func start() throws(SystemError) {
    modemManager.listen { [weak self] in self?.heard($0) }
    try modemManager.start()
  }

  /// Begins to report moves, or stops reporting them.
  func watch(_ isWatched: Bool) {
    guard isWatched != changes.isWatched else { return }
    changes.isWatched = isWatched
    modemManager.rules = isWatched ? Self.rules + [Self.ruleOfCells] : Self.rules
    for path in modems.keys {
      if isWatched { read(path) } else { restore(path) }
    }
  }

  var state: LocationSourceState {
    LocationSourceState(name: "modem", isAvailable: changes.isAvailable ?? false, problem: problem)
  }

  private var problem: String? {
    if changes.isAvailable == true { return nil }
    if !modemManager.isBusConnected { return "the message bus is not running" }
    if modemManager.owner == nil { return "ModemManager is not running" }
    if modems.isEmpty { return "there is no modem" }
    return refusal.map { "ModemManager does not report the cell: \($0)" }
      ?? "the modem reports no cell"
  }

  private func reconsider() {
    guard modemManager.isSettled else { return }
    let present = Set(modems.values.compactMap(\.cell))
    for occurrence in changes.update(present) { report(occurrence) }
  }

  // MARK: Signals

  private func heard(_ occurrence: BusService.Occurrence) {
    switch occurrence {
    case .ownerChanged:
      (modems, refusal) = ([:], nil)
      listModems()
    case .signal(let message):
      handle(message)
    case .settled:
      break
    }
    reconsider()
  }

  private func handle(_ message: MessageReader) {
    guard let path = message.path else { return }
    if message.isSignal(Self.properties, "PropertiesChanged") {
      guard let interface = message.text() else { return }
      if interface == Self.network { read(path) }
      if interface == Self.location, changes.isWatched { readChange(message, of: path) }
    } else if message.isSignal(Self.modem, "StateChanged") {
      read(path)
    } else if message.isSignal(Self.objects, "InterfacesAdded") {
      guard let modem = message.objectPath(),
        message.interfaces()?.contains(Self.location) == true
      else { return }
      add(modem)
    } else if message.isSignal(Self.objects, "InterfacesRemoved") {
      guard let modem = message.objectPath(), message.texts()?.contains(Self.location) == true
      else { return }
      modems[modem] = nil
    }
  }

  /// Reads the changed properties of a modem's interface for locations.
  private func readChange(_ message: MessageReader, of path: String) {
    guard let modem = modems[path] else { return }
    let cells = readSetup(message, of: path)
    guard modems[path]?.sendsSignals == true else {
      // If another program has turned the signals off, the property is empty even though the modem
      // has a cell. The daemon then asks for the cell.
      if modem.sendsSignals { read(path) }
      return
    }
    if let cells { modems[path]?.cell = Self.cell(in: cells) }
  }

  // MARK: Reading

  private func listModems() {
    ask("GetManagedObjects", of: Self.objects, at: Self.path) { cells, answer in
      guard case .reply(let values) = answer else { return }
      values.objects { modem, interfaces in
        if interfaces.contains(Self.location) { cells.add(modem) }
      }
    }
  }

  private func add(_ modem: String) {
    guard modems[modem] == nil, modems.count < Self.countMax, modem.utf8.count <= Self.textMax
    else { return }
    modems[modem] = Modem()
    read(modem)
  }

  /// Reads the setup of a modem, and then the cell. Afterwards, enables the signals if the daemon
  /// watches for moves.
  private func read(_ path: String) {
    guard var modem = modems[path] else { return }
    modem.isStale = modem.isAsked
    let isNew = !modem.isAsked
    modem.isAsked = true
    modems[path] = modem
    guard isNew else { return }
    ask(
      "GetAll", of: Self.properties, at: path,
      arguments: { body throws(SystemError) in try body.append(Self.location) },
      answer: { cells, answer in
        if case .reply(let values) = answer { _ = cells.readSetup(values, of: path) }
        cells.readCell(of: path)
      })
  }

  private func readCell(of path: String) {
    ask("GetLocation", of: Self.location, at: path) { cells, answer in
      cells.modems[path]?.isAsked = false
      switch answer {
      case .reply(let values):
        cells.refusal = nil
        cells.modems[path]?.cell = values.numberedTexts().flatMap(Self.cell)
        // The reply shows that the modem is enabled. When ModemManager enables a modem, it discards
        // the earlier setup, so the daemon must set up the modem again.
        if cells.changes.isWatched { cells.setUp(path) }
      case .error(let error):
        cells.modems[path]?.cell = nil
        if cells.modems[path] != nil { cells.isRefused(error) }
      case .dropped: break
      }
      if cells.modems[path]?.isStale == true { cells.read(path) }
    }
  }

  /// Reads the setup of a modem from properties.
  ///
  /// - Returns: The value of the property `Location`; nil if it is not among the properties.
  private func readSetup(_ values: MessageReader, of path: String) -> [UInt32: String]? {
    guard var modem = modems[path] else { return nil }
    var locations: [UInt32: String]?
    _ = values.properties { name in
      switch name {
      case "Enabled":
        guard let enabled = values.numberInVariant() else { return false }
        modem.enabled = enabled
      case "SignalsLocation":
        guard let sendsSignals = values.flagInVariant() else { return false }
        modem.sendsSignals = sendsSignals
      case "Location":
        locations = values.numberedTextsInVariant()
        return locations != nil
      default:
        return false
      }
      return true
    }
    modems[path] = modem
    return locations
  }

  private static func cell(in locations: [UInt32: String]) -> String? {
    locations[cellSource].flatMap { $0.isEmpty || $0.utf8.count > textMax ? nil : $0 }
  }

  // MARK: Setting up

  private func setUp(_ path: String) {
    guard let modem = modems[path], let enabled = modem.enabled else { return }
    let hasCell = enabled & Self.cellSource != 0
    if hasCell, modem.sendsSignals { return }
    setUp(path, enabled | Self.cellSource, sendsSignals: true) { cells in
      cells.modems[path]?.enabled = enabled | Self.cellSource
      cells.modems[path]?.sendsSignals = true
      if !hasCell { cells.modems[path]?.hasEnabledCell = true }
      if !modem.sendsSignals { cells.modems[path]?.hasEnabledSignals = true }
      // The watch may have ended in the meantime.
      if !cells.changes.isWatched { cells.restore(path) }
    }
  }

  /// Undoes the daemon's changes to the setup of a modem. Keeps the changes of other programs.
  private func restore(_ path: String) {
    guard let modem = modems[path], let enabled = modem.enabled,
      modem.hasEnabledCell || modem.hasEnabledSignals
    else { return }
    let before = modem.hasEnabledCell ? enabled & ~Self.cellSource : enabled
    let sendsSignals = modem.sendsSignals && !modem.hasEnabledSignals
    modems[path]?.hasEnabledCell = false
    modems[path]?.hasEnabledSignals = false
    setUp(path, before, sendsSignals: sendsSignals) { cells in
      cells.modems[path]?.enabled = before
      cells.modems[path]?.sendsSignals = sendsSignals
      if modem.hasEnabledCell || cells.changes.isWatched { cells.read(path) }
    }
  }

  /// - Parameter done: Called when ModemManager has carried out the call.
  private func setUp(
    _ path: String, _ sources: UInt32, sendsSignals: Bool, done: @escaping (CellSource) -> Void
  ) {
    ask(
      "Setup", of: Self.location, at: path,
      arguments: { body throws(SystemError) in
        try body.append(sources)
        try body.append(sendsSignals)
      },
      answer: { cells, answer in
        switch answer {
        case .reply: done(cells)
        case .error(let error): if cells.changes.isWatched { cells.isRefused(error) }
        case .dropped: break
        }
      })
  }

  private func isRefused(_ error: BusError) {
    if error.name != Self.wrongState { refusal = "\(error)" }
  }

  private func ask(
    _ member: String, of interface: String, at path: String,
    arguments: (MessageBody) throws(SystemError) -> Void = { _ throws(SystemError) in },
    answer: @escaping (CellSource, BusAnswer) -> Void
  ) {
    modemManager.ask(member, of: interface, at: path, arguments: arguments) { [weak self] reply in
      if let self { answer(self, reply) }
    }
  }
}
