import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §17: the example with regions, which uses the client library, with the real daemon and
/// simulated locations.
@Suite("The example with places is launched where the user arrives")
struct PlacesExampleTests {
  private let id = "org.example.places"
  /// The argument of the example: a place on the equator, with a region of 200 m.
  private let library = "library=0,0.01,200"
  private let inside = 0.01
  private let outside = 0.02

  private func fixture(after earlier: DaemonFixture? = nil) throws -> DaemonFixture {
    try DaemonFixture(
      .init(
        policy: [("RegionDwell", "10ms")],
        manifests: [
          (
            id,
            """
            location = ["regions"]
            command = ["\(Programs.path(of: "places-example"))", "\(library)"]
            """
          )
        ]), after: earlier)
  }

  /// Simulates a location again and again until the condition holds.
  private func stay(
    at longitude: Double, _ daemon: DaemonFixture, until what: String,
    _ condition: () throws -> Bool
  ) throws {
    try waitUntil(what) {
      try daemon.post(latitude: 0, longitude: longitude)
      return try condition()
    }
  }

  private func region(_ daemon: DaemonFixture) throws -> ControlInterface.RegionUse? {
    try daemon.call(ControlInterface.GetLocation.self, .init()).uses
      .first { $0.application == id }?.regions.first
  }

  /// Returns the titles of the notifications.
  private func notifications(_ daemon: DaemonFixture) throws -> [String] {
    try daemon.notifications(of: id).map(\.content.title)
  }

  /// Starts a daemon and the example, waits until the daemon knows that the machine is outside the
  /// region, and kills the example.
  private func outsideAndNotRunning() throws -> DaemonFixture {
    let daemon = try fixture()
    try daemon.post(latitude: 0, longitude: outside)
    let places = try TestProcess(
      Programs.path(of: "places-example"), ["places-example", library]
    ) { $0.environment = daemon.environment().map { SystemString($0) } }
    while try places.nextLine() != "monitoring library (notDetermined)" {}
    try daemon.call(
      ControlInterface.SetLocationAuthorization.self,
      .init(application: id, authorization: .authorized))
    while try places.nextLine() != "location: authorized" {}
    try stay(at: outside, daemon, until: "the side is known") {
      try region(daemon)?.inside == false
    }
    _ = try places.pidfd.send(signal: SIGKILL)
    try waitUntil("the example has ended") { try daemon.application(id).state == .notRunning }
    return daemon
  }

  @Test(
    """
    §17: The example with places is launched for the entry into a region, is told of it, and is \
    resumed for the exit
    """)
  func launched() throws {
    let daemon = try outsideAndNotRunning()
    try stay(at: inside, daemon, until: "the user is welcome") {
      try notifications(daemon) == ["Welcome to: library"]
    }
    #expect(daemon.logged.contains("launched (location, region library)"))
    #expect(try daemon.application(id).instance?.launchReason == .location)
    try waitUntil("the example is suspended") { try daemon.application(id).state == .suspended }
    // The launched example has not requested the region again, because the daemon still monitors
    // it.
    #expect(!daemon.logged.contains("monitoring library"))
    try stay(at: outside, daemon, until: "the user has left") {
      try notifications(daemon).contains("You have left: library")
    }
    #expect(try notifications(daemon).count == 2)
    try waitUntil("the example is suspended") { try daemon.application(id).state == .suspended }
  }

  @Test("§17: The example with places is launched after kill -9 of the daemon, too")
  func remembered() throws {
    let daemon = try outsideAndNotRunning()
    try daemon.die()
    let next = try fixture(after: daemon)
    #expect(try region(next)?.inside == false)
    try stay(at: inside, next, until: "the user is welcome") {
      try notifications(next) == ["Welcome to: library"]
    }
    #expect(next.logged.contains("launched (location, region library)"))
  }
}
