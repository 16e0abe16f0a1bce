import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerSimulation
import TaskSchedulerWire
import TestSupport
import Testing

@testable import taskctl

/// Returns a point `east` kilometers east of a place on the equator.
private func point(
  _ east: Double, at seconds: Int? = nil, altitude: Double? = nil, line: Int = 1
) -> Track.Point {
  .init(
    Coordinate(latitude: 0, longitude: east / 111.195)!, altitude: altitude,
    time: seconds.map { WallTime(nanoseconds: Int64($0) * 1_000_000_000) }, line: line)
}

private func plan(
  _ points: [Track.Point], speed: Double? = nil, factor: Double = 1
) throws -> TrackPlan {
  try TrackPlan(#require(Track(points)), speed: speed, factor: factor)
}

extension TrackPlan {
  fileprivate var stops: [Stop] { (0..<count).map(stop) }
  /// The times of the locations, in seconds.
  fileprivate var seconds: [Double] { stops.map { $0.at / .seconds(1) } }
}

@Suite("The plan of a track: which location is posted when")
struct TrackPlanTests {
  @Test("A track is played by its times, and the speed and the course come from the points")
  func times() throws {
    let points = [point(0, at: 1000), point(0.03, at: 1002), point(0.03, at: 1062)]
    let plan = try plan(points)
    #expect(plan.seconds == [0, 2, 62])
    #expect(plan.duration == .seconds(62))
    #expect(plan.stops[0].point == points[0])
    let speed = try #require(plan.stops[1].point.speed)
    #expect(abs(speed - 15) < 0.01)
    #expect(plan.stops[1].point.course == 90)
    #expect(plan.stops[2].point.speed == 0)
    #expect(plan.stops[2].point.course == nil)
  }

  @Test("The speed and the course of the file come before the computed ones")
  func recorded() throws {
    var points = [point(0, at: 0), point(1, at: 1), point(2, at: 1)]
    (points[1].speed, points[1].course) = (3, 4)
    let stops = try plan(points).stops
    #expect((stops[1].point.speed, stops[1].point.course) == (3, 4))
    #expect(stops[2].point.speed == nil, "the time between the points is 0")
  }

  @Test(
    "A factor divides the times",
    arguments: [(10, [0, 0.2, 6.2]), (0.5, [0, 4, 124])] as [(Double, [Double])])
  func factor(_ factor: Double, _ seconds: [Double]) throws {
    let points = [point(0, at: 1000), point(0.03, at: 1002), point(0.03, at: 1062)]
    let played = try plan(points, factor: factor).seconds
    #expect(zip(played, seconds).allSatisfy { abs($0 - $1) < 1e-6 })
  }

  @Test("Without times, a point follows each second, with only the values that the file contains")
  func untimed() throws {
    let points = [point(0), point(5), point(6)]
    #expect(try plan(points).seconds == [0, 1, 2])
    #expect(try plan(points, factor: 4).seconds == [0, 0.25, 0.5])
    #expect(try plan(points).stops.map(\.point) == points)
  }

  @Test("A point without a time among points with times is a mistake in its line")
  func mixed() {
    let points = [point(0, at: 1), point(1, line: 7), point(2, at: 2, line: 8)]
    #expect(throws: TrackProblem.self) { try plan(points) }
    do throws(TrackProblem) {
      _ = try TrackPlan(Track(points)!, speed: nil, factor: 1)
      Issue.record("the plan has no problem")
    } catch {
      #expect(error.line == 7)
      #expect(error.message.contains("has no time, but other points have"))
    }
    #expect(throws: Never.self) { try plan(points, speed: 1) }
  }

  @Test("A time that goes back is a mistake in its line")
  func backwards() {
    let points = [point(0, at: 5), point(1, at: 5), point(2, at: 4, line: 9)]
    do throws(TrackProblem) {
      _ = try TrackPlan(Track(points)!, speed: nil, factor: 1)
      Issue.record("the plan has no problem")
    } catch {
      #expect(error.line == 9)
      #expect(error.message.contains("is before that of the previous point"))
    }
  }

  @Test("With a speed, a location follows each second on the line through the points")
  func speed() throws {
    let points = [
      point(0, at: 9, altitude: 100), point(0.02, at: 1, altitude: 120), point(0.02), point(0.035),
    ]
    let plan = try plan(points, speed: 10)
    #expect(plan.count == 5)
    #expect(zip(plan.seconds, [0, 1, 2, 3, 3.5]).allSatisfy { abs($0 - $1) < 0.001 })
    let distances = plan.stops.map { points[0].coordinate.distance(to: $0.point.coordinate) }
    #expect(zip(distances, [0, 10, 20, 30, 35]).allSatisfy { abs($0 - $1) < 0.01 })
    #expect(plan.stops.allSatisfy { $0.point.speed == 10 && $0.point.course == 90 })
    #expect(abs(try #require(plan.stops[1].point.altitude) - 110) < 0.1)
    #expect(plan.stops[3].point.altitude == nil)
  }

  @Test("With a speed and a factor, the steps are longer and the speed is that of the journey")
  func fastSpeed() throws {
    let plan = try plan([point(0), point(0.99)], speed: 10, factor: 20)
    #expect(plan.count == 6)
    #expect(abs(plan.duration / .seconds(1) - 4.95) < 0.001)
    #expect(plan.stops[3].point.speed == 10)
  }

  @Test("The line crosses the meridian at 180 degrees on the short side")
  func dateLine() throws {
    let (west, east) = (
      Coordinate(latitude: 10, longitude: -179.9)!, Coordinate(latitude: 10, longitude: 179.9)!
    )
    for (from, to) in [(east, west), (west, east)] {
      let plan = try plan([.init(from), .init(to)], speed: 1000)
      #expect(plan.count < 30)
      for stop in plan.stops { #expect(abs(stop.point.coordinate.longitude) > 179.89) }
      let course = try #require(plan.stops[0].point.course)
      #expect(abs(course - (from == east ? 90 : 270)) < 0.1)
    }
  }

  @Test("A track of one point is one location, with and without a speed")
  func single() throws {
    #expect(try plan([point(3, at: 7)]).stops.map(\.at) == [.zero])
    let resting = try plan([point(3), point(3)], speed: 5)
    #expect(resting.stops.map(\.at) == [.zero])
  }

  @Test("The longest track at the lowest speed and the shortest steps does not overflow")
  func extremes() throws {
    let ends = [
      Track.Point(Coordinate(latitude: 90, longitude: 0)!),
      Track.Point(Coordinate(latitude: -90, longitude: 0)!),
    ]
    let points = (0..<1000).map { ends[$0 % 2] }
    for (speed, factor) in [(0.1, 0.001), (10_000, 1_000_000), (0.1, 1_000_000)] {
      let played = try plan(points, speed: speed, factor: factor)
      _ = played.stop(played.count - 1)
      #expect(played.duration > .zero)
    }
    let late = Track.Point(ends[0].coordinate, time: WallTime(nanoseconds: .max))
    let slowest = try plan([point(0, at: 0), late], factor: 0.001)
    #expect(slowest.duration > .seconds(9_000_000_000_000))
  }
}

/// A clock that jumps to the end of each wait.
private final class SkippingClock {
  var now: UInt64 = 1_000_000_000_000

  var clock: TrackPlayer.Clock {
    .init(now: { self.now }, sleep: { self.now = max(self.now, $0) })
  }
}

@Suite("The player of tracks")
struct TrackPlayerTests {
  /// Returns the time of each posted location in seconds after the start, and the location's speed.
  private func played(_ plan: TrackPlan) throws -> [(second: Double, speed: Double?)] {
    let clock = SkippingClock()
    let start = clock.now
    var posts: [(Double, Double?)] = []
    let player = TrackPlayer(clock: clock.clock) {
      posts.append((Double(clock.now - start) / 1e9, $0.speed))
    }
    var counts: [Int] = []
    try player.play(plan) { count, _ in counts.append(count) }
    #expect(counts == Array(1...plan.count))
    return posts
  }

  @Test("Locations are posted at their times")
  func times() throws {
    let posts = try played(try plan([point(0, at: 0), point(1, at: 5), point(2, at: 25)]))
    #expect(posts.map(\.second) == [0, 5, 25])
  }

  @Test("§17: While a track pauses, its last location is repeated, at rest, every 30 s")
  func pause() throws {
    let points = [point(0, at: 0), point(1, at: 10), point(1, at: 110), point(2, at: 140)]
    let posts = try played(try plan(points))
    #expect(posts.map(\.second) == [0, 10, 40, 70, 100, 110, 140])
    #expect(posts[2...4].allSatisfy { $0.speed == nil })
    #expect(posts[1].speed != nil)
  }

  @Test("A clock that has passed the next time posts the location at once")
  func late() throws {
    let clock = SkippingClock()
    var count = 0
    let player = TrackPlayer(clock: clock.clock) { _ in
      count += 1
      clock.now += 100_000_000_000
    }
    try player.play(try plan([point(0, at: 0), point(1, at: 5), point(2, at: 25)])) { _, _ in }
    #expect(count == 3)
  }

  @Test("The first refusal ends the track")
  func refused() throws {
    struct Refused: Error {}
    var count = 0
    let player = TrackPlayer(clock: SkippingClock().clock) { _ in
      count += 1
      if count == 2 { throw Refused() }
    }
    let plan = try plan([point(0), point(1), point(2)])
    #expect(throws: Refused.self) { try player.play(plan) { _, _ in } }
    #expect(count == 2)
  }

  @Test("The progress shows the number, the place and the time that is left")
  func progress() throws {
    let plan = try plan([point(0, at: 0), point(1.11195, at: 60), point(2, at: 270)])
    #expect(
      TrackProgress(plan).text(2, plan.stop(1))
        == "2 of 3: 0.000000, 0.010000; 3 min 30 s left")
  }
}

@Suite("The command post-location with a GPX file, and a daemon that the test simulates")
struct GPXCommandTests {
  private typealias Control = ControlInterface

  private static func gpx(_ points: String) -> String {
    "<gpx version=\"1.1\">\n<trk><trkseg>\n\(points)</trkseg></trk></gpx>\n"
  }

  private func write(_ text: String, to path: String) throws {
    let number = creat(path, 0o600)
    let bytes = Array(text.utf8)
    #expect(Glibc.write(number, bytes, bytes.count) == bytes.count)
    close(number)
  }

  /// Starts taskctl with a new file and a new daemon.
  private func start(
    _ text: String, _ options: String...
  ) throws -> (daemon: FakeDaemon, taskctl: TaskctlProcess, path: String) {
    let daemon = try FakeDaemon()
    let path = daemon.file("walk.gpx")
    try write(text, to: path)
    let taskctl = try TaskctlProcess(
      ["post-location", "--gpx", path] + options, socket: daemon.socket)
    return (daemon, taskctl, path)
  }

  @Test("§17: The points are posted one after the other, each with the present time")
  func points() throws {
    let (daemon, taskctl, _) = try start(
      Self.gpx(
        """
        <trkpt lat="52.5" lon="13.4"><time>2020-01-01T00:00:00Z</time><ele>35</ele></trkpt>
        <trkpt lat="52.6" lon="-13.5"><time>2020-01-01T01:00:00Z</time></trkpt>

        """), "--speed-factor", "1000000", "--accuracy", "5", "--owner", "0")
    let (connection, first) = try daemon.accept(Control.PostLocation.self)
    #expect(first.owner == 0)
    let now = Int(WallClock.now())
    #expect((now - 60_000_000...now).contains(first.location.measuredAtUSec))
    #expect(
      (first.location.latitude, first.location.longitude, first.location.altitude) == (
        52.5, 13.4, 35
      ))
    try connection.reply(Control.PostLocation.Output())
    let second = try connection.receive().decode(Control.PostLocation.Input.self)
    #expect(second.location.longitude == -13.5)
    #expect(second.location.accuracy == 5)
    #expect(second.location.measuredAtUSec > first.location.measuredAtUSec)
    try connection.reply(Control.PostLocation.Output())
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 0)
    #expect(outcome.output == "posted 2 locations\n")
    #expect(outcome.errors == "", "without a terminal there is no progress")
  }

  @Test("With --json, the number of locations is printed")
  func json() throws {
    let (daemon, taskctl, _) = try start(
      Self.gpx("<trkpt lat=\"1\" lon=\"2\"/>"), "--speed", "5", "--json")
    let (connection, _) = try daemon.accept(Control.PostLocation.self)
    try connection.reply(Control.PostLocation.Output())
    #expect(try taskctl.outcome().output == "{\"posted\":1}\n")
  }

  @Test("Ctrl-C ends a track")
  func interrupted() throws {
    let (daemon, taskctl, _) = try start(
      Self.gpx(
        """
        <trkpt lat="1" lon="2"><time>2020-01-01T00:00:00Z</time></trkpt>
        <trkpt lat="1" lon="3"><time>2020-01-01T09:00:00Z</time></trkpt>
        """))
    let (connection, _) = try daemon.accept(Control.PostLocation.self)
    try connection.reply(Control.PostLocation.Output())
    try taskctl.process.pidfd.send(signal: SIGINT)
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 130)
    #expect(outcome.output == "")
  }

  @Test("A track ends with the error of the daemon, or when the daemon closes the connection")
  func failures() throws {
    let points = Self.gpx("<trkpt lat=\"1\" lon=\"2\"/>\n<trkpt lat=\"1\" lon=\"3\"/>\n")
    let (daemon, refused, _) = try start(points, "--speed-factor", "1000")
    let (connection, _) = try daemon.accept(Control.PostLocation.self)
    try connection.fail(Control.Failure.notPermitted(application: nil))
    let outcome = try refused.outcome()
    #expect(outcome.code == 1)
    #expect(outcome.errors.hasPrefix("taskctl: NotPermitted: "))
    let (second, cut, _) = try start(points, "--speed-factor", "1000")
    let (other, _) = try second.accept(Control.PostLocation.self)
    try other.reply(Control.PostLocation.Output())
    _ = try other.receive()
    try other.close()
    #expect(try cut.outcome().code == 3)
  }

  @Test("A mistake in the file is shown with its line before any location is posted")
  func mistakes() throws {
    let cases = [
      ("<gpx>\n<trkpt lat=\"91\" lon=\"0\"/></gpx>", ":2: lat is '91'"),
      ("hello", ":1: the file does not begin with XML"),
      ("<gpx>\n\n</gpx>\n", ":4: the file has no points"),
      (
        Self.gpx(
          """
          <trkpt lat="1" lon="2"><time>2020-01-01T00:00:00Z</time></trkpt>
          <trkpt lat="1" lon="2"/>

          """), ":4: the point has no time"
      ),
    ]
    for (text, message) in cases {
      // The file exists only as long as the daemon of the fixture.
      let (fixture, taskctl, path) = try start(text)
      let outcome = try withExtendedLifetime(fixture) { try taskctl.outcome() }
      #expect(outcome.code == 1)
      #expect(
        outcome.errors.hasPrefix("taskctl: InvalidTrack: \(path)\(message)"), "\(outcome.errors)")
    }
  }

  @Test("A file that does not exist, a directory and a device are refused")
  func unreadable() throws {
    for (path, reason) in [
      ("/nowhere/a.gpx", "no such file"), ("/tmp", "a directory"), ("/dev/zero", "a device"),
    ] {
      let outcome = try TaskctlProcess(["post-location", "--gpx", path], socket: "/nowhere")
        .outcome()
      #expect(outcome.code == 1)
      #expect(
        outcome.errors.hasPrefix("taskctl: UnreadableTrack: could not read \(path): "),
        "\(outcome.errors)")
      #expect(outcome.errors.contains(reason))
    }
  }
}
