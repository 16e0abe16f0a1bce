import Glibc
import LinuxSystem

/// The real ModemManager with an emulated modem, on a separate system bus. When the value is
/// destroyed, ModemManager, the modem and the bus end.
public final class ModemService {
  public let bus: SessionBus
  private let directory: TemporaryDirectory
  private let modem: TestProcess
  private let manager: GuardedProcess

  private static let name = "org.freedesktop.ModemManager1"
  private static let path = "/org/freedesktop/ModemManager1"
  private static let program = "/usr/sbin/ModemManager"
  /// The number of the other phone.
  public static let number = "+491234567"
  /// The program of the emulated modem.
  private static let modemProgram =
    "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/emulated-modem.py"

  /// The reason why this machine cannot run ModemManager; nil if it can.
  public static let missing: String? =
    SessionBus.missing
    ?? (access(program, X_OK) == 0
      ? nil : "there is no \(program); `make test-setup` installs it")

  /// Starts the bus, ModemManager and the modem, and waits until calls can reach the modem.
  public init() throws {
    directory = TemporaryDirectory(mode: 0o755)
    bus = try SessionBus(path: directory.file("bus"))
    // The name of an abstract socket. ModemManager recognizes such a name by this prefix.
    let port = "abstract:\(directory.path)"
    modem = try TestProcess("/usr/bin/python3", ["python3", "-I", "-u", Self.modemProgram, port])
    guard try modem.readLine() == "ready" else {
      throw SystemError(call: "starting the emulated modem", errno: ECHILD)
    }
    manager = try GuardedProcess(
      [
        Self.program, "--test-session", "--test-enable", "--test-no-udev",
        "--test-no-suspend-resume", "--test-no-qrtr",
      ], environment: bus.environment)
    try bus.wait(for: Self.name)
    let monitor = try TestProcess(
      "/usr/bin/gdbus", ["gdbus", "monitor", "--session", "--dest", Self.name]
    ) { [bus] in $0.environment = bus.environment }
    // The monitor prints a line with these words when it has begun to receive signals.
    try Self.wait(for: "is owned by", in: monitor)
    try call(
      at: Self.path, "\(Self.name).Test.SetProfile", "modem", "generic", "['\(port)']")
    try Self.wait(for: "InterfacesAdded (objectpath '\(Self.path)/Modem/0'", in: monitor)
    try call(at: modemPath, "\(Self.name).Modem.Enable", "true")
  }

  // Ends ModemManager before its bus and modem. Without the bus or modem, it would end slowly.
  deinit { manager.end() }

  private var modemPath: String { "\(Self.path)/Modem/0" }

  private static func wait(for text: String, in process: TestProcess) throws {
    while let line = try process.readLine() {
      if line.contains(text) { return }
    }
    throw SystemError(call: "waiting for ModemManager: \(text)", errno: ECHILD)
  }

  /// Ends ModemManager.
  public func end() { manager.end() }

  // MARK: Calls

  /// Begins a call from another phone, and waits until ModemManager lists the call.
  ///
  /// - Returns: the object path of the call.
  @discardableResult
  public func ring() throws -> String {
    let before = try callPaths()
    try run("ring")
    let end = BootClock.now() + UInt64(deadline.components.seconds) * 1_000_000_000
    while BootClock.now() < end {
      let paths = try callPaths()
      if paths != before, let path = paths.first { return path }
    }
    throw SystemError(call: "waiting for a call", errno: ETIMEDOUT)
  }

  /// Answers the newest call, as a telephone application does.
  public func accept() throws { try callNewest("Accept") }

  /// Ends the newest call, as a telephone application does.
  public func hangUp() throws { try callNewest("Hangup") }

  /// Returns the state of the newest call (MMCallState of ModemManager); nil if there is none.
  public func state() throws -> Int? {
    guard let path = try callPaths().first else { return nil }
    let text = try call(
      at: path, "org.freedesktop.DBus.Properties.Get", "\(Self.name).Call", "State")
    return Int(text.filter(\.isNumber))
  }

  /// Ends the call, as the other phone does. ModemManager may notice this two seconds later.
  public func endByOtherPhone() throws { try run("end") }

  // MARK: Cells

  /// Connects the modem to another cell, to simulate that the machine has moved.
  ///
  /// - Parameters:
  ///   - area: the code of the location area, as four hexadecimal digits.
  ///   - id: the id of the cell, as eight hexadecimal digits.
  public func moveToCell(area: String, id: String) throws { try run("cell \(area) \(id)") }

  /// Makes the modem lose its network.
  public func loseNetwork() throws { try run("no cell") }

  /// The settings of ModemManager for reports of locations.
  public struct LocationSetup: Hashable, Sendable {
    /// The enabled sources (MMModemLocationSource).
    public var sources: Int
    /// Whether ModemManager sends signals about locations.
    public var sendsSignals: Bool

    public init(sources: Int, sendsSignals: Bool) {
      self.sources = sources
      self.sendsSignals = sendsSignals
    }
  }

  /// Returns ModemManager's present settings for reports of locations.
  public func locationSetup() throws -> LocationSetup {
    func property(_ name: String) throws -> String {
      try call(
        at: modemPath, "org.freedesktop.DBus.Properties.Get", "\(Self.name).Modem.Location", name)
    }
    // The reply is "(<uint32 1>,)".
    let sources = try property("Enabled").split { !$0.isNumber }.last.flatMap { Int($0) }
    return LocationSetup(
      sources: sources ?? -1, sendsSignals: try property("SignalsLocation").contains("true"))
  }

  /// Changes the settings for reports of locations, as another program does.
  public func setUpLocation(sources: Int, sendsSignals: Bool) throws {
    try call(
      at: modemPath, "\(Self.name).Modem.Location.Setup", "uint32 \(sources)", "\(sendsSignals)")
  }

  /// Enables the modem, or disables it.
  public func setEnabled(_ isEnabled: Bool) throws {
    try call(at: modemPath, "\(Self.name).Modem.Enable", "\(isEnabled)")
  }

  private func callNewest(_ method: String) throws {
    guard let path = try callPaths().first else {
      throw SystemError(call: "\(method) of a call", errno: ENOENT)
    }
    try call(at: path, "\(Self.name).Call.\(method)")
  }

  /// Returns the object paths of the calls, the newest first. ModemManager also lists calls that
  /// have ended.
  private func callPaths() throws -> [String] {
    try call(at: modemPath, "\(Self.name).Modem.Voice.ListCalls").split(separator: "'")
      .filter { $0.hasPrefix("/") }.map(String.init)
  }

  private func run(_ command: String) throws {
    try modem.writeLine(command)
    guard try modem.readLine() == command else {
      throw SystemError(call: "emulated modem: \(command)", errno: ECHILD)
    }
  }

  @discardableResult
  private func call(at path: String, _ method: String, _ arguments: String...) throws -> String {
    try bus.run(
      "gdbus",
      ["call", "--session", "--dest", Self.name, "--object-path", path, "--method", method]
        + arguments)
  }
}
