import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

/// Tests that play the role of gpsd themselves. `RealGPSDTests` uses the real gpsd.
@Suite("§17: gpsd as a source of locations")
struct GPSDSourceTests {
  private let directory = TemporaryDirectory()
  private let watcher: ChangeWatcher
  private let reports = Reports()
  private var path: String { directory.file("stream-server") }

  private final class Reports {
    var all: [GPSDSource.Occurrence] = []
    var locations: [(instant: UInt64, location: Location)] = []

    func add(_ occurrence: GPSDSource.Occurrence) {
      all.append(occurrence)
      if case .located(let location) = occurrence {
        locations.append((BootClock.now(), location))
      }
    }
  }

  private static let request = #"?WATCH={"enable":true,"json":true};"#
  private static let greeting = #"{"class":"VERSION","release":"3.22"}"# + "\r\n"
  private static let devices = #"{"class":"DEVICES","devices":[{"path":"/dev/ttyUSB0"}]}"# + "\r\n"

  init() throws { watcher = try ChangeWatcher() }

  /// Short times, so that a test need not wait.
  private static let quick = GPSDSource.Timing(
    delayMin: .milliseconds(1), delayMax: .milliseconds(50))

  private func source(
    _ path: String? = nil, timing: GPSDSource.Timing = quick
  ) throws -> GPSDSource {
    let source = GPSDSource(
      path: path ?? self.path, loop: watcher.loop, log: Log(target: .stderr, level: .error),
      timing: timing
    ) { [reports] in reports.add($0) }
    try source.start()
    return source
  }

  private func serve() throws -> StreamServer { try StreamServer(.unix, in: directory) }

  private func waitForConnection(to server: StreamServer) throws {
    try watcher.wait(for: "a connection") {
      (try? Readiness.wait(for: Int16(POLLIN), on: server.number, timeout: .zero)) != 0
    }
  }

  /// Accepts the connection of a source, answers it as gpsd does, and waits until the source has
  /// read the answer.
  private func accept(_ server: StreamServer, from source: GPSDSource) throws -> StreamEnd {
    // If the last connection was recent, the source waits before it connects again.
    try waitForConnection(to: server)
    let end = try server.accept()
    #expect(try end.receive(Self.request.utf8.count) == Self.request)
    try end.send(Self.greeting + Self.devices)
    try settle()
    #expect(source.state.isAvailable)
    return end
  }

  private func position(_ second: Int, latitude: Double = 48) -> String {
    let time = "2026-11-26T12:\(second / 600)\(second / 60 % 10):\(second % 60 / 10)\(second % 10)Z"
    return #"{"class":"TPV","mode":3,"time":"\#(time)","lat":\#(latitude),"lon":11.5,"eph":5}"#
      + "\r\n"
  }

  private func waitForLocations(_ count: Int) throws {
    try watcher.wait(for: "\(count) locations") { reports.locations.count >= count }
  }

  /// Handles all events that have arrived.
  private func settle() throws {
    var isIdle = false
    let idle = try watcher.loop.whenIdle { isIdle = true }
    idle.request()
    while !isIdle { try watcher.loop.turn(within: .seconds(1)) }
  }

  // MARK: Availability

  @Test("Without a socket, gpsd is not available; it is as soon as the socket appears")
  func appears() throws {
    let source = try source()
    #expect(reports.all == [.availabilityChanged(false)])
    #expect(
      source.state
        == LocationSourceState(name: "gpsd", isAvailable: false, problem: "no socket at \(path)"))
    let server = try serve()
    try watcher.wait(for: "gpsd to be available") { source.state.isAvailable }
    #expect(reports.all.last == .availabilityChanged(true))
    #expect(source.state.problem == nil)
    // Without a need, the daemon does not connect.
    #expect(try Readiness.wait(for: Int16(POLLIN), on: server.number, timeout: .zero) == 0)
    unlink(path)
    try watcher.wait(for: "gpsd to be absent") { !source.state.isAvailable }
    #expect(reports.all.count == 3)
  }

  @Test("The socket is found when the directories on its path appear one after the other")
  func directories() throws {
    let path = directory.file("a/b/gpsd")
    let source = try source(path)
    #expect(mkdir(directory.file("a"), 0o700) == 0)
    try settle()
    #expect(mkdir(directory.file("a/b"), 0o700) == 0)
    try settle()
    let socket = try UnixSocket.listen(path: path, mode: 0o600)
    try watcher.wait(for: "gpsd to be available") { source.state.isAvailable }
    withExtendedLifetime(socket) {}
  }

  @Test("A file that is not a socket is named as the problem")
  func wrongFile() throws {
    let file = directory.write("file", "")
    #expect(try source(file).state.problem == "\(file) is not a socket")
  }

  @Test("If gpsd has no receiver, it is not available until one is added")
  func receivers() throws {
    let server = try serve()
    let source = try source()
    source.need(true)
    let end = try server.accept()
    try end.send(Self.greeting + #"{"class":"DEVICES","devices":[]}"# + "\n")
    try watcher.wait(for: "the receivers") { source.state.problem == "gpsd has no receiver" }
    #expect(!source.state.isAvailable)
    try end.send(#"{"class":"DEVICE","path":"/dev/a","activated":"2026-11-26T12:00:00Z"}"# + "\n")
    try watcher.wait(for: "gpsd to be available") { source.state.isAvailable }
    try end.send(#"{"class":"DEVICE","path":"/dev/a","activated":0}"# + "\n")
    try watcher.wait(for: "the receivers") { !source.state.isAvailable }
    #expect(
      reports.all == [
        .availabilityChanged(true), .availabilityChanged(false), .availabilityChanged(true),
        .availabilityChanged(false),
      ])
  }

  // MARK: Locations

  @Test("The daemon is connected only while locations are needed, and then asks for them")
  func need() throws {
    let server = try serve()
    let source = try source()
    source.need(true)
    let end = try accept(server, from: source)
    try end.send(position(1))
    try waitForLocations(1)
    source.need(false)
    let farewell = #"?WATCH={"enable":false};"#
    #expect(try end.receive(farewell.utf8.count + 1) == farewell, "the daemon disconnects")
    source.need(true)
    let next = try accept(server, from: source)
    try next.send(position(2))
    try waitForLocations(2)
    #expect(reports.locations.map(\.location.time.nanoseconds).sorted().count == 2)
    #expect(reports.all.first == .availabilityChanged(true))
    #expect(reports.all.count == 3)
  }

  @Test("Only known positions are reported, and each time once")
  func positions() throws {
    let server = try serve()
    let source = try source()
    source.need(true)
    let end = try accept(server, from: source)
    let unknown = #"{"class":"TPV","mode":1,"time":"2026-11-26T12:00:05Z"}"# + "\r\n"
    try end.send(position(1) + position(1) + unknown + position(2, latitude: 91) + position(3))
    try waitForLocations(2)
    try end.send(position(2) + position(4))
    try waitForLocations(3)
    let first = reports.locations[0].location
    #expect(first.accuracy == 5)
    #expect(
      reports.locations.map { ($0.location.time.nanoseconds - first.time.nanoseconds) / 1_000_000 }
        == [0, 2000, 3000])
  }

  // MARK: Failures

  @Test("A gpsd that is down is not available, and is tried again until it answers")
  func down() throws {
    let server = try serve()
    let source = try source()
    source.need(true)
    for _ in 0..<3 {
      // While gpsd is down, systemd's proxy accepts each connection and closes it at once.
      try waitForConnection(to: server)
      try server.accept().close()
      try watcher.wait(for: "the failure") { source.state.problem != nil }
    }
    #expect(source.state.problem?.hasPrefix("gpsd is not running") == true)
    #expect(reports.all == [.availabilityChanged(true), .availabilityChanged(false)])
    try waitForConnection(to: server)
    let end = try accept(server, from: source)
    #expect(reports.all.last == .availabilityChanged(true))
    withExtendedLifetime(end) {}
  }

  @Test("A gpsd that restarts stays available, and reports locations again")
  func restarts() throws {
    let server = try serve()
    let source = try source()
    source.need(true)
    try accept(server, from: source).close()
    try waitForConnection(to: server)
    let end = try accept(server, from: source)
    try end.send(position(1))
    try waitForLocations(1)
    #expect(reports.all.count == 2)
    #expect(reports.all.first == .availabilityChanged(true))
  }

  @Test("A hanging gpsd is not available after a time limit, and delays nothing else")
  func hangs() throws {
    let server = try serve()
    var timing = Self.quick
    timing.answerMax = .milliseconds(300)
    timing.delayMin = .seconds(1000)
    let source = try source(timing: timing)
    source.need(true)
    let end = try server.accept()
    // The greeting is not the answer that the source waits for. A proxy or another server may send
    // a greeting, too.
    try end.send(Self.greeting)
    var hasFired = false
    let other = try watcher.loop.timer { hasFired = true }
    other.set(BootClock.now())
    try watcher.wait(for: "another timer") { hasFired }
    #expect(source.state.isAvailable)
    try watcher.wait(for: "the time limit") { !source.state.isAvailable }
    #expect(source.state.problem == "gpsd does not answer")
  }

  @Test("A failed gpsd counts as available again after a time, or when the socket is replaced")
  func forgets() throws {
    var timing = Self.quick
    timing.failureTimeMin = .milliseconds(20)
    let server = try serve()
    let source = try source(timing: timing)
    source.need(true)
    try server.accept().close()
    try watcher.wait(for: "the failure") { !source.state.isAvailable }
    source.need(false)
    #expect(!source.state.isAvailable)
    try watcher.wait(for: "the end of the failure") { source.state.isAvailable }
    #expect(source.state.problem == nil)
    source.need(true)
    try waitForConnection(to: server)
    try server.accept().close()
    try watcher.wait(for: "the failure") { !source.state.isAvailable }
    unlink(path)
    let second = try serve()
    try waitForConnection(to: second)
    let end = try accept(second, from: source)
    withExtendedLifetime(end) {}
  }

  @Test("A failed gpsd counts as available again when the settings are read")
  func settingsRead() throws {
    let server = try serve()
    let source = try source(timing: Self.quick)
    source.need(true)
    try server.accept().close()
    try watcher.wait(for: "the failure") { !source.state.isAvailable }
    source.need(false)
    #expect(!source.state.isAvailable)
    source.path = path
    #expect(source.state.isAvailable && source.state.problem == nil)
  }

  @Test("When the settings are read while locations are needed, a failed gpsd is tried again")
  func settingsReadWhileNeeded() throws {
    let server = try serve()
    let source = try source()
    source.need(true)
    try server.accept().close()
    try watcher.wait(for: "the failure") { !source.state.isAvailable }
    source.path = path
    #expect(source.state.isAvailable && source.state.problem == nil)
    let end = try accept(server, from: source)
    withExtendedLifetime(end) {}
  }

  @Test("When the settings are read, the daemon finds a socket that inotify did not report")
  func settingsReadWithSocket() throws {
    // inotify watches only the directory of the link. The socket appears in another directory, so
    // inotify does not report it.
    #expect(mkdir(directory.file("links"), 0o700) == 0)
    let link = directory.file("links/gpsd")
    #expect(symlink(path, link) == 0)
    let source = try source(link)
    source.need(true)
    let server = try serve()
    try settle()
    #expect(!source.state.isAvailable)
    source.path = link
    #expect(try Readiness.wait(for: Int16(POLLIN), on: server.number, timeout: .zero) != 0)
    let end = try accept(server, from: source)
    withExtendedLifetime(end) {}
  }

  @Test("If the path is empty, the problem says so, even while locations are needed")
  func emptyPath() throws {
    let source = try source(timing: Self.quick)
    source.path = ""
    source.need(true)
    #expect(source.state.problem == "the setting gpsd is empty")
    #expect(!source.state.isAvailable)
  }

  @Test(
    "§15: Invalid input disconnects gpsd, and the next attempt follows later",
    arguments: ["{\"class\":\"TPV\",\"lat\":nan}\r\n", "{}\n", "\0\0\n", "1 MB"])
  func invalid(_ text: String) throws {
    let server = try serve()
    let source = try source()
    source.need(true)
    let end = try accept(server, from: source)
    if text == "1 MB" {
      // 80 KiB are enough: the daemon disconnects after 64 KiB of one line.
      let chunk = String(repeating: "7", count: 16 << 10)
      for _ in 0..<5 { try end.send(chunk) }
    } else {
      try end.send(text)
    }
    try watcher.wait(for: "the failure") { source.state.problem != nil }
    #expect(source.state.problem?.hasPrefix("gpsd sent invalid input: ") == true)
    #expect(!source.state.isAvailable)
    try waitForConnection(to: server)
    let next = try accept(server, from: source)
    try next.send(position(1))
    try waitForLocations(1)
  }

  @Test("Another path replaces the socket")
  func otherPath() throws {
    let server = try serve()
    let source = try source(directory.file("none"))
    source.need(true)
    #expect(!source.state.isAvailable)
    source.path = self.path
    #expect(source.state.isAvailable)
    let end = try accept(server, from: source)
    source.path = directory.file("none")
    #expect(!source.state.isAvailable)
    let farewell = #"?WATCH={"enable":false};"#
    #expect(try end.receive(farewell.utf8.count + 1) == farewell)
  }

  // MARK: Floods

  @Test("Of a gpsd that floods, ten locations a second are taken, and other events are handled")
  func floods() throws {
    let flood = try TestProcess.python(Self.flood, [path])
    #expect(try flood.readLine() == "ready")
    let source = try source()
    source.need(true)
    var tickCount = 0, latest: UInt64 = 0, longestGap: UInt64 = 0
    var again: () -> Void = {}
    let tick = try watcher.loop.timer { again() }
    again = { [unowned tick] in
      let now = BootClock.now()
      if latest > 0 { longestGap = max(longestGap, now - latest) }
      latest = now
      tickCount += 1
      tick.set(now + 1_000_000)
    }
    again()
    try waitForLocations(25)
    tick.clear()
    // 25 locations need two seconds. The limit is lower, because the test may be late when it
    // records the first instant.
    #expect(reports.locations[24].instant - reports.locations[0].instant >= 1_500_000_000)
    #expect(tickCount > 25)
    print("the longest delay of another timer was \(longestGap / 1_000_000) ms")
    source.need(false)
    #expect(try flood.readLine()?.hasPrefix("sent") == true)
  }

  /// A gpsd that sends positions as fast as it can, until its client disconnects.
  private static let flood = #"""
    import socket, sys
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen()
    print("ready", flush=True)
    client = listener.accept()[0]
    client.sendall(b'{"class":"VERSION","release":"3"}\r\n')
    client.sendall(b'{"class":"DEVICES","devices":[{"path":"/x"}]}\r\n')
    count = 0
    try:
        while True:
            time = "2026-11-26T%02d:%02d:%02d.%03dZ" % (
                count // 3600000, count // 60000 % 60, count // 1000 % 60, count % 1000)
            client.sendall(
                b'{"class":"TPV","mode":3,"time":"%s","lat":48.1,"lon":11.5}\r\n' % time.encode())
            count += 1
    except OSError:
        print("sent", count)
    """#
}
