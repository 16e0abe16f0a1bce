import Glibc
import LinuxSystem

/// A mock of NetworkManager by dbusmock, with an Ethernet device and, by default, a wireless
/// device. It ends when the value is destroyed.
public final class MockNetworkManager {
  private let bus: SessionBus
  private let process: GuardedProcess

  private static let name = "org.freedesktop.NetworkManager"
  private static let path = "/org/freedesktop/NetworkManager"
  private static let device = "\(path)/Devices/wlan0"
  private static let wireless = "\(name).Device.Wireless"

  /// The reason why this machine cannot run the mock; nil if it can.
  public static let missing: String? =
    SessionBus.missing
    ?? ((try? TestProcess.python("import dbusmock").waitForExit()) == .exited(code: 0)
      ? nil : "Python has no module dbusmock; `make test-setup` installs it")

  /// Starts the mock, and waits until it owns the name.
  ///
  /// - Parameter hasWireless: whether there is a wireless device.
  public init(on bus: SessionBus, hasWireless: Bool = true) throws {
    self.bus = bus
    process = try GuardedProcess(
      ["python3", "-I", "-m", "dbusmock", "--template", "networkmanager", "--logfile", "/dev/null"],
      environment: bus.environment + [SystemString("DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)")])
    try bus.wait(for: Self.name)
    try mock("AddEthernetDevice", "eth0", "eth0", "100")
    if hasWireless { try addWireless() }
  }

  /// Adds the wireless device, which is not connected.
  public func addWireless() throws {
    try mock("AddWiFiDevice", "wlan0", "wlan0", "30")
    // The device of dbusmock's template lacks the property that names its access point.
    try call(
      Self.device, "org.freedesktop.DBus.Mock.AddProperty", Self.wireless, "ActiveAccessPoint",
      "<objectpath '/'>")
  }

  /// Adds an access point, which is named after its hardware address.
  public func addAccessPoint(_ address: String) throws {
    try mock(
      "AddAccessPoint", Self.device, Self.name(of: address), "Network", address, "2", "2425",
      "5400", "82", "0")
  }

  /// Connects the device, which must be disconnected, to an access point that was added.
  public func connect(to address: String) throws {
    try setAccessPoint(Self.path(of: address))
    try changeState(to: 100)
  }

  /// Connects the connected device to another access point of the same network.
  public func roam(to address: String) throws { try setAccessPoint(Self.path(of: address)) }

  /// Disconnects the device.
  public func disconnect() throws {
    try setAccessPoint("/")
    try changeState(to: 30)
  }

  /// Sets whether the wireless device is itself an access point, rather than a client of one.
  public func setIsAccessPoint(_ isAccessPoint: Bool) throws {
    try set("Mode", "uint32 \(isAccessPoint ? 3 : 2)")
  }

  /// Changes a property that does not concern the access point, as NetworkManager does every few
  /// seconds.
  public func setBitRate(_ rate: Int) throws { try set("Bitrate", "uint32 \(rate)") }

  /// Ends the mock.
  public func end() { process.end() }

  private static func name(of address: String) -> String { "Mock_" + address.filter { $0 != ":" } }

  private static func path(of address: String) -> String {
    "\(path)/AccessPoint/\(name(of: address))"
  }

  private func setAccessPoint(_ path: String) throws {
    try set("ActiveAccessPoint", "objectpath '\(path)'")
  }

  private func changeState(to state: Int) throws {
    try call(
      Self.device, "org.freedesktop.DBus.Mock.EmitSignal", "\(Self.name).Device", "StateChanged",
      "uuu", "[<uint32 \(state)>, <uint32 30>, <uint32 1>]")
  }

  private func set(_ property: String, _ value: String) throws {
    try call(
      Self.device, "org.freedesktop.DBus.Properties.Set", Self.wireless, property, "<\(value)>")
  }

  private func mock(_ method: String, _ arguments: String...) throws {
    try call(Self.path, "org.freedesktop.DBus.Mock.\(method)", arguments)
  }

  private func call(_ path: String, _ method: String, _ arguments: String...) throws {
    try call(path, method, arguments)
  }

  private func call(_ path: String, _ method: String, _ arguments: [String]) throws {
    _ = try bus.run(
      "gdbus",
      ["call", "--session", "--dest", Self.name, "--object-path", path, "--method", method]
        + arguments)
  }
}
