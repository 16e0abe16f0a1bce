import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerSession

/// A monitor of GeoClue on a bus of its own, with an event loop that runs while the test waits.
final class GeoClueFixture {
  let loop: EventLoop
  let directory = TemporaryDirectory(mode: 0o755)
  var bus: SessionBus?
  private(set) var monitor: GeoClueMonitor?
  /// The reports about whether GeoClue is available, the oldest first.
  private(set) var availability: [Bool] = []
  private(set) var locations: [SessionInterface.Location] = []
  private(set) var problems: [GeoClueProblem] = []
  private(set) var solvedCount = 0
  /// The stand-ins and the service live as long as this value.
  private var standIns: [StandInGeoClue] = []
  private let service: GeoClueService?

  /// - Parameters:
  ///   - service: the real GeoClue; nil for a new bus of this fixture.
  ///   - hasBus: whether the fixture's own bus listens already.
  ///   - answerTime: the time within which GeoClue must start a client, in nanoseconds.
  ///   - coarseTime: the time within which GeoClue must send a location of a lower accuracy, in
  ///     nanoseconds.
  init(
    _ service: GeoClueService? = nil, hasBus: Bool = true,
    answerTime: UInt64 = GeoClueMonitor.answerTime, coarseTime: UInt64 = GeoClueMonitor.coarseTime
  ) throws {
    loop = try EventLoop()
    self.service = service
    if service == nil, hasBus { try startBus() }
    let address = service?.bus.address ?? "unix:path=\(directory.file("bus"))"
    monitor = try GeoClueMonitor(
      address: BusAddress(text: address), loop: loop, answerTime: answerTime,
      coarseTime: coarseTime
    ) { [unowned self] in hear($0) }
    monitor?.start()
  }

  /// Starts the fixture's own bus.
  ///
  /// - Parameter command: the program that the bus starts as GeoClue; nil if it cannot start
  ///   GeoClue.
  func startBus(starting command: String? = nil) throws {
    if let command {
      directory.write(
        "geoclue.service", "[D-BUS Service]\nName=\(GeoClueClient.service)\nExec=\(command)\n")
    }
    bus = try SessionBus(
      path: directory.file("bus"), services: command == nil ? nil : directory.path)
  }

  /// Starts a stand-in for GeoClue on the fixture's own bus.
  func startGeoClue(
    _ mode: StandInGeoClue.Mode = .normal, ownsName: Bool = true
  ) throws -> StandInGeoClue {
    let geoClue = try StandInGeoClue(on: unwrap(bus), mode, ownsName: ownsName)
    standIns.append(geoClue)
    return geoClue
  }

  private func hear(_ occurrence: GeoClueMonitor.Occurrence) {
    switch occurrence {
    case .available(let isAvailable): availability.append(isAvailable)
    case .location(let location): locations.append(location)
    case .limited(let problem): problems.append(problem)
    case .solved: solvedCount += 1
    }
  }

  /// Handles events until a condition holds.
  func wait(
    _ expectation: String, location: SourceLocation = #_sourceLocation,
    until isSatisfied: () throws -> Bool
  ) throws {
    let end = BootClock.now() + UInt64(deadline / .nanoseconds(1))
    while try !isSatisfied() {
      guard BootClock.now() < end else {
        Issue.record(
          "\(expectation): available \(availability), \(problems), \(locations)",
          sourceLocation: location)
        throw SystemError(call: "waiting: \(expectation)", errno: ETIMEDOUT)
      }
      try loop.turn(within: .milliseconds(100))
    }
  }

  /// Waits until the newest report says that GeoClue is available, or that it is not.
  func wait(
    untilAvailable isAvailable: Bool, location: SourceLocation = #_sourceLocation
  ) throws {
    try wait("available: \(isAvailable)", location: location) {
      availability.last == isAvailable
    }
  }

  /// Orders locations, and waits until the client has started.
  func order(
    _ accuracy: SessionInterface.LocationAccuracy = .best, from geoClue: StandInGeoClue,
    location: SourceLocation = #_sourceLocation
  ) throws {
    monitor?.order(accuracy)
    try wait("a client", location: location) { try geoClue.calls().last == "Start" }
  }
}
