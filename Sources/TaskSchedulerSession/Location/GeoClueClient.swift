import EventLoop
import LinuxSystem
import TaskSchedulerWire

/// An object of GeoClue by which the agent receives locations.
///
/// GeoClue creates the object when the user has a running GeoClue agent, such as GNOME Shell. Until
/// then, GeoClue does not answer. Before GeoClue sends locations, it may ask the user.
final class GeoClueClient {
  /// An event of the client.
  enum Occurrence {
    /// GeoClue sends locations from now on.
    case started
    /// The user has switched the location off, or on again.
    case switched(Bool)
    case location(SessionInterface.Location)
    /// GeoClue has sent a location that is no place on the earth.
    case invalidLocation
    /// The agent needs no locations any more. GeoClue deletes the object.
    case unneeded
    /// GeoClue does not send locations, for this reason.
    case refused(BusError)
  }

  private enum State {
    /// GeoClue has not created the object yet.
    case creating
    /// GeoClue has not started to send locations yet.
    case starting(path: String)
    case started(path: String)
    case ended
  }

  static let service = "org.freedesktop.GeoClue2"
  private static let managerPath = "/org/freedesktop/GeoClue2/Manager"
  private static let manager = "org.freedesktop.GeoClue2.Manager"
  private static let client = "org.freedesktop.GeoClue2.Client"
  private static let location = "org.freedesktop.GeoClue2.Location"
  private static let properties = "org.freedesktop.DBus.Properties"
  /// The name under which GeoClue and its agents know this program.
  private static let desktopID = "taskschedd-session"
  /// The shortest time between two reports of locations, in nanoseconds.
  private static let interval: UInt64 = 100_000_000

  private weak var bus: MessageBus?
  /// The unique name of GeoClue.
  private let owner: String
  /// Returns the level of accuracy that the agent needs; nil if it needs no locations any more.
  private let levelNeeded: () -> UInt32?
  private let report: (Occurrence) -> Void
  private var state = State.creating
  /// The level that was requested; nil until GeoClue has created the object.
  private(set) var level: UInt32?
  private var isActive = true
  /// The object path of the newest location; nil if the location has been read.
  private var unread: String?
  private var isReading = false
  private var pace = ReportPace(interval: GeoClueClient.interval, burst: 1)
  private var timer: TimerSource?

  /// - Parameter report: called from the loop only.
  init(
    of owner: String, on bus: MessageBus, loop: EventLoop, levelNeeded: @escaping () -> UInt32?,
    report: @escaping (Occurrence) -> Void
  ) throws(SystemError) {
    self.owner = owner
    self.bus = bus
    self.levelNeeded = levelNeeded
    self.report = report
    timer = try loop.timer { [weak self] in self?.readNext() }
  }

  /// Whether GeoClue sends locations.
  var isStarted: Bool { if case .started = state { true } else { false } }

  /// Asks GeoClue to create the object.
  func begin() {
    call(method("GetClient", of: Self.manager, at: Self.managerPath)) { client, answer in
      client.created(answer)
    }
  }

  /// Deletes the object. Has no effect before GeoClue has created the object.
  func end() {
    switch state {
    case .creating, .ended: return
    case .starting(let path), .started(let path):
      state = .ended
      timer?.clear()
      send(method("Stop", of: Self.client, at: path))
      delete(path)
      send(.ofBus("RemoveMatch")) { body throws(SystemError) in
        try body.append(Self.rule(path))
      }
    }
  }

  // MARK: Starting

  private func created(_ answer: BusAnswer) {
    switch answer {
    case .reply(let values):
      guard let path = values.objectPath() else {
        return report(.refused(BusError(name: "", text: "GetClient has returned no object")))
      }
      guard let level = levelNeeded() else {
        state = .ended
        delete(path)
        return report(.unneeded)
      }
      start(path, level)
    case .error(let error): refused(error)
    case .dropped: break
    }
  }

  private func start(_ path: String, _ level: UInt32) {
    state = .starting(path: path)
    self.level = level
    send(.ofBus("AddMatch")) { body throws(SystemError) in try body.append(Self.rule(path)) }
    set("DesktopId", at: path, "s") { body throws(SystemError) in
      try body.append(Self.desktopID)
    }
    set("RequestedAccuracyLevel", at: path, "u") { body throws(SystemError) in
      try body.append(level)
    }
    // The daemon compares distances itself, for each application.
    set("DistanceThreshold", at: path, "u") { body throws(SystemError) in
      try body.append(UInt32(0))
    }
    call(method("Start", of: Self.client, at: path)) { client, answer in client.started(answer) }
  }

  private func started(_ answer: BusAnswer) {
    guard case .starting(let path) = state else { return }
    switch answer {
    case .reply:
      state = .started(path: path)
      report(.started)
      // GeoClue may have sent the first location before its reply.
      readNext()
    case .error(let error): refused(error)
    case .dropped: break
    }
  }

  private func refused(_ error: BusError) {
    // GeoClue has ended. The bus reports this too.
    if error.saysNoReply { return }
    report(.refused(error))
  }

  // MARK: Locations

  /// Handles a signal of GeoClue.
  func heard(_ message: MessageReader) {
    switch state {
    case .creating, .ended: return
    case .starting(let path), .started(let path): if message.path != path { return }
    }
    if message.isSignal(Self.client, "LocationUpdated") {
      guard message.objectPath() != nil, let path = message.objectPath() else { return }
      unread = path
      readNext()
    } else if message.isSignal(Self.properties, "PropertiesChanged"),
      message.text() == Self.client
    {
      var active: Bool?
      _ = message.properties { name in
        guard name == "Active" else { return false }
        active = message.flagInVariant()
        return active != nil
      }
      if let active { activeChanged(active) }
    }
  }

  private func activeChanged(_ isActive: Bool) {
    guard isStarted, isActive != self.isActive else { return }
    self.isActive = isActive
    report(.switched(isActive))
  }

  /// Reads the newest location. If the locations change continuously, reads one in each interval.
  private func readNext() {
    guard case .started = state, !isReading, let path = unread else { return }
    let now = BootClock.now()
    guard pace.next <= now else {
      timer?.set(pace.next)
      return
    }
    pace.count(at: now)
    unread = nil
    isReading = true
    call(method("GetAll", of: Self.properties, at: path), Self.location) { client, answer in
      client.isReading = false
      client.read(answer)
      client.readNext()
    }
  }

  private func read(_ answer: BusAnswer) {
    guard isStarted else { return }
    switch answer {
    case .reply(let values):
      let location = SessionInterface.Location(geoClue: values, now: WallClock.now())
      report(location.map { .location($0) } ?? .invalidLocation)
    // GeoClue has removed the location, because there is a newer one.
    case .error: break
    case .dropped: break
    }
  }

  // MARK: Calls

  private static func rule(_ path: String) -> String {
    "type='signal',sender='\(service)',path='\(path)'"
  }

  private func method(_ member: String, of interface: String, at path: String) -> BusMethod {
    BusMethod(destination: owner, path: path, interface: interface, member: member)
  }

  private func delete(_ path: String) {
    send(method("DeleteClient", of: Self.manager, at: Self.managerPath)) {
      body throws(SystemError) in try body.append(objectPath: path)
    }
  }

  private func set(
    _ property: String, at path: String, _ type: String,
    _ value: (MessageBody) throws(SystemError) -> Void
  ) {
    send(method("Set", of: Self.properties, at: path)) { body throws(SystemError) in
      try body.append(Self.client)
      try body.append(property)
      try body.variant(type) { () throws(SystemError) in try value(body) }
    }
  }

  private func send(
    _ method: BusMethod,
    arguments: (MessageBody) throws(SystemError) -> Void = { _ throws(SystemError) in }
  ) {
    do throws(SystemError) {
      try bus?.send(method, arguments: arguments)
    } catch {
      bus?.lose("\(error)")
    }
  }

  /// Calls a method. GeoClue may wait for the user before it answers, so there is no time limit.
  private func call(
    _ method: BusMethod, _ argument: String? = nil,
    answer: @escaping (GeoClueClient, BusAnswer) -> Void
  ) {
    do throws(SystemError) {
      try bus?.call(
        method, timeout: nil,
        arguments: { body throws(SystemError) in
          if let argument { try body.append(argument) }
        },
        answer: { [weak self] in if let self { answer(self, $0) } })
    } catch {
      bus?.lose("\(error)")
    }
  }
}
