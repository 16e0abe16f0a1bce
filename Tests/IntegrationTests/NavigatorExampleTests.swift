import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §17: the example navigator, which uses the client library, with the real daemon and
/// simulated locations.
@Suite("The example navigator receives locations in the background and gives hints", .serialized)
struct NavigatorExampleTests {
  private static let id = "org.example.navigator"
  private static let other = "org.test.other"
  private let id = Self.id

  /// A daemon, and the example navigator on a route of 2 km to the east along the equator.
  private final class Scene {
    let daemon: DaemonFixture
    let monitor: Monitor
    let navigator: TestProcess

    /// Starts the daemon and the navigator, and waits until the navigator has requested locations.
    ///
    /// - Parameter audio: The audio server on which the chimes play; nil for no chimes.
    init(audio: AudioServer? = nil) throws {
      let daemon = try DaemonFixture(
        .init(
          policy: [("AudioGraceTime", "1s")],
          manifests: [
            (
              NavigatorExampleTests.id,
              "background-modes = [\"location\", \"audio\"]\nlocation = [\"updates\"]"
            )
          ]))
      self.daemon = daemon
      monitor = try Monitor(daemon)
      daemon.folder.write("route", "0 0.01 turn left\n0 0.02 you arrive\n")
      // A simulated location counts as a source. Without a source, the daemon would refuse to
      // start updates.
      try daemon.post(eastward: 0)
      navigator = try TestProcess(
        Programs.path(of: "navigator-example"),
        ["navigator-example", daemon.folder.file("route")]
          + (audio == nil ? ["true"] : [])
      ) {
        $0.environment = daemon.environment().map { SystemString($0) }
        if let audio {
          $0.environment += [
            SystemString("HOME=\(audio.runtime)"), SystemString("PULSE_SERVER=unix:\(audio.path)"),
          ]
        }
      }
      try wait(for: "location updates: notDetermined")
    }

    func decide(_ authorization: ControlInterface.LocationAuthorization) throws {
      try daemon.call(
        ControlInterface.SetLocationAuthorization.self,
        .init(application: NavigatorExampleTests.id, authorization: authorization))
    }

    /// Waits until the navigator has printed a line with the text. Returns the line.
    @discardableResult
    func wait(for text: String) throws -> String {
      while true {
        let line = try navigator.nextLine()
        if line.contains(text) { return line }
      }
    }
  }

  @Test(
    """
    §17: The example navigator receives locations in the background, gives each hint once, and is \
    suspended at the destination
    """)
  func background() throws {
    let scene = try Scene()
    try scene.decide(.authorized)
    try scene.wait(for: "location: authorized")
    try scene.daemon.sendToBackground(id)
    try scene.wait(for: "in the background")
    try scene.monitor.transition(id, to: .background)
    for meters in [0, 500] { try scene.daemon.post(eastward: meters) }
    #expect(try scene.wait(for: "at ") == "at 0.00000, 0.00000 ± 10 m")
    #expect(try scene.navigator.nextLine() == "at 0.00000, 0.00450 ± 10 m")
    for meters in [1000, 1100] { try scene.daemon.post(eastward: meters) }
    #expect(try scene.navigator.nextLine() == "at 0.00000, 0.00899 ± 10 m")
    #expect(try scene.navigator.nextLine() == "hint: in 110 m, turn left")
    #expect(try scene.navigator.nextLine() == "at 0.00000, 0.00989 ± 10 m")
    #expect(try scene.daemon.application(id).state == .background)
    for meters in [2100, 2220] { try scene.daemon.post(eastward: meters) }
    try scene.wait(for: "hint: in 120 m, you arrive")
    try scene.wait(for: "arrived")
    try scene.monitor.transition(id, to: .suspended)
    #expect(try scene.daemon.call(ControlInterface.GetLocation.self, .init()).needed == nil)
  }

  @Test("§17: The example navigator learns that the user denies the location")
  func denied() throws {
    let scene = try Scene()
    try scene.decide(.denied)
    try scene.wait(for: "location: denied")
    try scene.daemon.sendToBackground(id)
    try scene.monitor.transition(id, to: .suspended)
  }

  @Test(
    "§17, §13: Other applications are quieter while a hint of the example navigator plays",
    .enabled(if: AudioServerKind.available.contains(.pulseAudio), "PulseAudio is not installed"))
  func hint() throws {
    let server = try AudioServer(.pulseAudio)
    let scene = try Scene(audio: server)
    let agents = SessionAgents()
    let music = try AudioClient(of: server.path) {
      $0.environment += [SystemString("TASKSCHEDD_SOCKET=\(scene.daemon.socketPath)")]
    }
    try agents.start(
      scene.daemon, bus: "unix:path=\(server.runtime)/none", runtime: server.runtime)
    try music.run("play")
    try scene.daemon.adopt(Self.other, music.process)
    try waitUntil("the other application plays") {
      try scene.daemon.application(Self.other).instance?.audio == [.playing]
    }
    try scene.decide(.authorized)
    try scene.daemon.post(eastward: 1000)
    try scene.wait(for: "hint: in 110 m, turn left")
    try scene.monitor.next(.audioDucked, of: Self.other)
    try waitUntil("the volume is restored") {
      try scene.daemon.application(Self.other).instance?.audio == [.playing]
    }
  }
}

extension DaemonFixture {
  /// Simulates a location on the equator, the given number of meters east of the prime meridian.
  fileprivate func post(eastward meters: Int) throws {
    try post(latitude: 0, longitude: Double(meters) / 111_195)
  }
}
