import EventLoop
import LinuxSystem

/// A source that shows when the machine moves: the access points of wireless networks, as
/// NetworkManager reports them.
///
/// The daemon reads the access point whenever a wireless device connects, to know whether the
/// source is available. NetworkManager reports changed properties of wireless devices every few
/// seconds. The daemon receives these signals only while it watches for moves.
final class AccessPointSource {
  /// Called with each event, from the loop. The owner sets it once.
  var report: (RadioOccurrence) -> Void = { _ in }

  private let networkManager: BusService
  private var devices: [String: Device] = [:]
  private var changes = RadioChanges()

  /// A network device.
  private struct Device {
    /// Whether the device is wireless; nil until this is known.
    var isWireless: Bool?
    /// The hardware address of the access point to which the device is connected.
    var accessPoint: String?
    var isAsked = false
    /// Whether the device has changed since the daemon last asked about it.
    var isStale = false
  }

  private static let name = "org.freedesktop.NetworkManager"
  private static let path = "/org/freedesktop/NetworkManager"
  private static let device = "org.freedesktop.NetworkManager.Device"
  private static let wireless = "org.freedesktop.NetworkManager.Device.Wireless"
  private static let accessPointInterface = "org.freedesktop.NetworkManager.AccessPoint"
  private static let properties = "org.freedesktop.DBus.Properties"
  /// NM_DEVICE_TYPE_WIFI of NetworkManager.
  private static let typeOfWireless: UInt32 = 2
  /// NM_802_11_MODE_AP of NetworkManager: the device is an access point itself.
  private static let modeOfAccessPoint: UInt32 = 3
  /// NM_DEVICE_STATE_DISCONNECTED, NM_DEVICE_STATE_ACTIVATED and NM_DEVICE_STATE_FAILED of
  /// NetworkManager.
  private static let disconnected: UInt32 = 30
  private static let activated: UInt32 = 100
  private static let failed: UInt32 = 120
  /// The maximum number of devices. The daemon ignores further devices.
  private static let countMax = 256
  /// The maximum length of an object path, and of an address, in bytes. The daemon ignores longer
  /// ones.
  private static let textMax = 255

  private static let rules = [
    "sender='\(name)',interface='\(name)',member='DeviceAdded'",
    "sender='\(name)',interface='\(name)',member='DeviceRemoved'",
    "sender='\(name)',interface='\(device)',member='StateChanged'",
  ]
  private static let ruleOfAccessPoints =
    "sender='\(name)',interface='\(properties)',member='PropertiesChanged',arg0='\(wireless)'"

  /// - Parameter answerMax: The time within which NetworkManager must answer, and the bus must
  ///   appear.
  init(loop: EventLoop, systemBus: BusAddress, answerMax: Duration = .seconds(25)) {
    networkManager = BusService(
      Self.name, loop: loop, address: systemBus, rules: Self.rules, answerMax: answerMax)
  }

  /// Reports whether the source is available, and begins to follow NetworkManager.
  ///
  /// - Throws: The reason why the daemon cannot follow NetworkManager.
  func start() throws(SystemError) {
    networkManager.listen { [weak self] in self?.heard($0) }
    try networkManager.start()
  }

  /// Begins to report moves, or stops reporting them.
  func watch(_ isWatched: Bool) {
    guard isWatched != changes.isWatched else { return }
    changes.isWatched = isWatched
    networkManager.rules = isWatched ? Self.rules + [Self.ruleOfAccessPoints] : Self.rules
    if isWatched {
      for path in devices.keys { read(path) }
    }
  }

  var state: LocationSourceState {
    LocationSourceState(
      name: "access point", isAvailable: changes.isAvailable ?? false, problem: problem)
  }

  private var problem: String? {
    if changes.isAvailable == true { return nil }
    if !networkManager.isBusConnected { return "the message bus is not running" }
    if networkManager.owner == nil { return "NetworkManager is not running" }
    return devices.values.contains { $0.isWireless == true }
      ? "no wireless device is connected to an access point" : "there is no wireless device"
  }

  private func reconsider() {
    guard networkManager.isSettled else { return }
    let present = Set(devices.values.compactMap(\.accessPoint))
    for occurrence in changes.update(present) { report(occurrence) }
  }

  // MARK: Signals

  private func heard(_ occurrence: BusService.Occurrence) {
    switch occurrence {
    case .ownerChanged:
      devices = [:]
      listDevices()
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
      guard message.text() == Self.wireless, changes.isWatched else { return }
      readChange(message, of: path)
    } else if message.isSignal(Self.device, "StateChanged") {
      guard devices[path]?.isWireless == true, let state = message.number() else { return }
      if state == Self.activated {
        read(path)
      } else if state <= Self.disconnected || state == Self.failed {
        devices[path]?.accessPoint = nil
        // The answer to an earlier question must not restore the old access point.
        if devices[path]?.isAsked == true { devices[path]?.isStale = true }
      }
    } else if message.isSignal(Self.name, "DeviceAdded") {
      if let device = message.objectPath() { add(device) }
    } else if message.isSignal(Self.name, "DeviceRemoved") {
      if let device = message.objectPath() { devices[device] = nil }
    }
  }

  private func readChange(_ message: MessageReader, of path: String) {
    guard devices[path]?.isWireless == true else { return }
    var hasChanged = false
    _ = message.properties { name in
      if name == "ActiveAccessPoint" || name == "Mode" { hasChanged = true }
      return false
    }
    if hasChanged { read(path) }
  }

  // MARK: Reading

  private func listDevices() {
    ask("GetDevices", of: Self.name, at: Self.path) { source, answer in
      guard case .reply(let values) = answer else { return }
      for device in values.objectPaths(countMax: Self.countMax) ?? [] { source.add(device) }
    }
  }

  private func add(_ device: String) {
    guard devices[device] == nil, devices.count < Self.countMax, device.utf8.count <= Self.textMax
    else { return }
    devices[device] = Device()
    get("DeviceType", of: Self.device, at: device) { source, answer in
      // NetworkManager answers with an error if the device has disappeared.
      guard case .reply(let values) = answer, let type = values.numberInVariant() else {
        return source.devices[device] = nil
      }
      source.devices[device]?.isWireless = type == Self.typeOfWireless
      source.read(device)
    }
  }

  /// Reads to which access point a wireless device is connected, and then the hardware address of
  /// this access point.
  private func read(_ path: String) {
    guard var device = devices[path], device.isWireless == true else { return }
    device.isStale = device.isAsked
    let isNew = !device.isAsked
    device.isAsked = true
    devices[path] = device
    guard isNew else { return }
    ask(
      "GetAll", of: Self.properties, at: path,
      arguments: { body throws(SystemError) in try body.append(Self.wireless) },
      answer: { source, answer in
        guard case .reply(let values) = answer, let accessPoint = Self.accessPoint(in: values)
        else { return source.isRead(path, nil) }
        source.readAddress(of: accessPoint, on: path)
      })
  }

  /// Returns the object path of the access point to which a device is connected; nil if there is
  /// none, or the device is an access point itself.
  private static func accessPoint(in properties: MessageReader) -> String? {
    var accessPoint: String?
    var mode: UInt32?
    _ = properties.properties { name in
      switch name {
      case "ActiveAccessPoint":
        accessPoint = properties.objectPathInVariant()
        return accessPoint != nil
      case "Mode":
        mode = properties.numberInVariant()
        return mode != nil
      default:
        return false
      }
    }
    return accessPoint == "/" || mode == modeOfAccessPoint ? nil : accessPoint
  }

  private func readAddress(of accessPoint: String, on path: String) {
    get("HwAddress", of: Self.accessPointInterface, at: accessPoint) { source, answer in
      // If the access point has disappeared, a signal about the device follows.
      guard case .reply(let values) = answer, let address = values.textInVariant(),
        !address.isEmpty, address.utf8.count <= Self.textMax
      else { return source.isRead(path, nil) }
      source.isRead(path, address)
    }
  }

  private func isRead(_ path: String, _ accessPoint: String?) {
    guard let device = devices[path] else { return }
    devices[path]?.isAsked = false
    if device.isStale { return read(path) }
    devices[path]?.accessPoint = accessPoint
  }

  private func get(
    _ property: String, of interface: String, at path: String,
    answer: @escaping (AccessPointSource, BusAnswer) -> Void
  ) {
    ask(
      "Get", of: Self.properties, at: path,
      arguments: { body throws(SystemError) in
        try body.append(interface)
        try body.append(property)
      }, answer: answer)
  }

  private func ask(
    _ member: String, of interface: String, at path: String,
    arguments: (MessageBody) throws(SystemError) -> Void = { _ throws(SystemError) in },
    answer: @escaping (AccessPointSource, BusAnswer) -> Void
  ) {
    networkManager.ask(
      member, of: interface, at: path, arguments: arguments
    ) { [weak self] reply in
      if let self { answer(self, reply) }
    }
  }
}
