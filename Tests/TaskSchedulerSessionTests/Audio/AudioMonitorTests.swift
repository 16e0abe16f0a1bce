import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import TaskSchedulerSession

@Suite("§13 The agent and real audio servers")
struct AudioMonitorTests {
  @Test(
    "A playing stream is reported with the process of its client, until it ends",
    .enabled(if: !AudioServerKind.available.isEmpty, "no audio server is installed"),
    arguments: AudioServerKind.available)
  func plays(_ kind: AudioServerKind) throws {
    let server = try AudioServer(kind)
    let client = try AudioClient(of: server.path)
    let fixture = try AudioFixture(server.path)
    try fixture.wait("the server is known, without streams") {
      $0.server?.path == server.path && !$0.streams.contains { $0.process.pid == client.pid }
    }
    try client.run("play")
    let stream = try fixture.waitForStream(of: client.pid, "it plays") { $0.isRunning }
    #expect(!stream.isRecording && !stream.isMuted && stream.isClaimed)
    try client.run("end")
    try fixture.wait("the stream has ended") {
      !$0.streams.contains { $0.process.pid == client.pid }
    }
  }

  @Test(
    "A paused stream is reported as not running, until it continues",
    arguments: AudioServerKind.available)
  func pauses(_ kind: AudioServerKind) throws {
    let server = try AudioServer(kind)
    let client = try AudioClient(of: server.path)
    let fixture = try AudioFixture(server.path)
    try client.run("play")
    _ = try fixture.waitForStream(of: client.pid, "it plays") { $0.isRunning }
    try client.run("pause")
    _ = try fixture.waitForStream(of: client.pid, "it is paused") { !$0.isRunning }
    try client.run("continue")
    _ = try fixture.waitForStream(of: client.pid, "it continues") { $0.isRunning }
  }

  @Test(
    "A stream at volume zero is reported as not running", arguments: AudioServerKind.available)
  func volume(_ kind: AudioServerKind) throws {
    let server = try AudioServer(kind)
    let client = try AudioClient(of: server.path)
    let fixture = try AudioFixture(server.path)
    try client.run("play")
    let stream = try fixture.waitForStream(of: client.pid, "it plays") { $0.isRunning }
    try server.setVolume(stream.id, percent: 0)
    _ = try fixture.waitForStream(of: client.pid, "it is silent") { !$0.isRunning }
    try server.setVolume(stream.id, percent: 50)
    _ = try fixture.waitForStream(of: client.pid, "it is loud") { $0.isRunning }
  }

  @Test("A recording stream is reported", arguments: AudioServerKind.available)
  func records(_ kind: AudioServerKind) throws {
    let server = try AudioServer(kind)
    let client = try AudioClient(of: server.path)
    let fixture = try AudioFixture(server.path)
    try client.run("record")
    let stream = try fixture.waitForStream(of: client.pid, "it records") { $0.isRunning }
    #expect(stream.isRecording)
    try client.run("pause")
    _ = try fixture.waitForStream(of: client.pid, "it is paused") { !$0.isRunning }
  }

  @Test("The monitor mutes a stream, and ends the mute", arguments: AudioServerKind.available)
  func mutes(_ kind: AudioServerKind) throws {
    let server = try AudioServer(kind)
    let client = try AudioClient(of: server.path)
    let fixture = try AudioFixture(server.path)
    try client.run("play")
    let stream = try fixture.waitForStream(of: client.pid, "it plays") { $0.isRunning }
    let generation = try #require(fixture.newest?.server?.generation)
    fixture.monitor?.setMuted([stream.id], true, of: generation)
    _ = try fixture.waitForStream(of: client.pid, "it is muted") { $0.isMuted }
    fixture.monitor?.setMuted([stream.id], false, of: generation &+ 1)
    try server.setVolume(stream.id, percent: 0)
    let changed = try fixture.waitForStream(of: client.pid, "it is silent") { !$0.isRunning }
    #expect(changed.isMuted, "an order for another start of the server has no effect")
    fixture.monitor?.setMuted([stream.id], false, of: generation)
    _ = try fixture.waitForStream(of: client.pid, "the mute has ended") { !$0.isMuted }
  }

  @Test(
    "The mute of another client of the server is reported", arguments: AudioServerKind.available)
  func mutedByOthers(_ kind: AudioServerKind) throws {
    let server = try AudioServer(kind)
    let client = try AudioClient(of: server.path)
    let fixture = try AudioFixture(server.path)
    try client.run("play")
    let stream = try fixture.waitForStream(of: client.pid, "it plays") { $0.isRunning }
    try server.setMuted(stream.id, true)
    _ = try fixture.waitForStream(of: client.pid, "it is muted") { $0.isMuted }
  }

  @Test(
    "The monitor connects to a server that starts later, and again after the server was killed",
    arguments: AudioServerKind.available)
  func restarts(_ kind: AudioServerKind) throws {
    let server = try AudioServer(kind, starts: false)
    let fixture = try AudioFixture(server.path)
    try fixture.wait("no server runs") { $0.server == nil }
    try server.start()
    let first = try fixture.wait("the server runs") { $0.server != nil }
    server.kill()
    try fixture.wait("the server has ended") { $0 == AudioStreams() }
    try server.start()
    let second = try fixture.wait("the server runs again") { $0.server != nil }
    #expect(first.server != second.server, "each start has another generation")
    let client = try AudioClient(of: server.path)
    try client.run("play")
    _ = try fixture.waitForStream(of: client.pid, "it plays") { $0.isRunning }
  }

  @Test(
    "The process that a client claims is reported as claimed", arguments: AudioServerKind.available)
  func claims(_ kind: AudioServerKind) throws {
    let server = try AudioServer(kind)
    let client = try AudioClient(
      of: server.path, properties: "application.process.id=\(getpid()) pipewire.sec.pid=1")
    let fixture = try AudioFixture(server.path)
    try client.run("play")
    let stream = try fixture.waitForStream(of: getpid(), "it plays") { $0.isRunning }
    #expect(stream.isClaimed)
  }

  @Test(
    "PipeWire's own clients are reported with the process of their socket",
    .enabled(if: AudioServerKind.pipeWire.missing == nil, "PipeWire is not installed"))
  func native() throws {
    let server = try AudioServer(.pipeWire)
    let folder = TemporaryDirectory()
    let script = """
      import os, sys, wave
      with wave.open(sys.argv[1], "wb") as file:
          file.setparams((2, 2, 44100, 0, "NONE", ""))
          file.writeframes(bytes(44100 * 4 * 60))
      os.execv("/usr/bin/pw-cat", ["pw-cat", "-p", sys.argv[1]])
      """
    let fixture = try AudioFixture(server.path)
    try fixture.wait("the server runs") { $0.server != nil }
    let client = try TestProcess.python(script, [folder.file("silence.wav")]) {
      $0.environment = [
        "PATH=/usr/bin:/bin", SystemString("XDG_RUNTIME_DIR=\(server.runtime)"),
        SystemString("HOME=\(server.runtime)"),
        "PIPEWIRE_PROPS={ application.process.id = 1 }",
      ]
    }
    let stream = try fixture.waitForStream(of: client.pid, "it plays") { $0.isRunning }
    #expect(!stream.isClaimed)
  }

  @Test(
    "While a stream plays on, the agent does not wake", arguments: AudioServerKind.available)
  func sleeps(_ kind: AudioServerKind) throws {
    let server = try AudioServer(kind)
    let client = try AudioClient(of: server.path)
    let fixture = try AudioFixture(server.path)
    try client.run("play")
    _ = try fixture.waitForStream(of: client.pid, "it plays") { $0.isRunning }
    // The server may still report changes of the new stream.
    while try Readiness.wait(for: Int16(POLLIN), on: fixture.loop.descriptor, timeout: .seconds(1))
      != 0
    {
      try fixture.loop.turn(within: .zero)
    }
    let readiness = try Readiness.wait(
      for: Int16(POLLIN), on: fixture.loop.descriptor, timeout: .seconds(2))
    #expect(readiness == 0)
  }

  @Test(
    "A measured stream is reported as silent while it plays only silence",
    arguments: AudioServerKind.available)
  func measures(_ kind: AudioServerKind) throws {
    let server = try AudioServer(kind)
    let client = try AudioClient(of: server.path)
    let fixture = try AudioFixture(server.path)
    try client.run("loud")
    try client.run("play")
    let stream = try fixture.waitForStream(of: client.pid, "it plays") { $0.isRunning }
    let generation = try #require(fixture.newest?.server?.generation)
    fixture.monitor?.measure([generation: [stream.id]])
    try client.run("silent")
    _ = try fixture.waitForStream(of: client.pid, "it is silent") { $0.isSilent }
    #expect(
      fixture.newest?.streams.contains(where: \.isRecording) == false,
      "the agent's own streams are not reported")
    try client.run("loud")
    _ = try fixture.waitForStream(of: client.pid, "it is loud") { !$0.isSilent }
    try client.run("silent")
    _ = try fixture.waitForStream(of: client.pid, "it is silent again") { $0.isSilent }
    fixture.monitor?.measure([:])
    _ = try fixture.waitForStream(of: client.pid, "it is not measured") { !$0.isSilent }
  }

  @Test("A stopped server does not delay the agent, which hears it again when it continues")
  func stoppedServer() throws {
    let server = try AudioServer(.pulseAudio)
    let client = try AudioClient(of: server.path)
    let fixture = try AudioFixture(server.path)
    try client.run("play")
    let stream = try fixture.waitForStream(of: client.pid, "it plays") { $0.isRunning }
    server.send(signal: SIGSTOP)
    let generation = try #require(fixture.newest?.server?.generation)
    fixture.monitor?.setMuted([stream.id], true, of: generation)
    try fixture.loop.turn(within: .milliseconds(50))
    #expect(fixture.newest?.streams.first?.isMuted == false)
    server.send(signal: SIGCONT)
    _ = try fixture.waitForStream(of: client.pid, "it is muted") { $0.isMuted }
  }

  @Test("500 streams of two clients are reported together")
  func manyStreams() throws {
    let server = try AudioServer(.pulseAudio)
    let client = try AudioClient(of: server.path)
    // PulseAudio permits 256 streams for each sink, so the second client uses another sink.
    let other = try AudioClient(of: server.path, name: "other") {
      $0.environment += ["PULSE_SINK=second"]
    }
    let fixture = try AudioFixture(server.path)
    for _ in 0..<250 { try client.run("begin") }
    for _ in 0..<250 { try other.run("begin") }
    let report = try fixture.wait("all play") { $0.streams.filter(\.isRunning).count == 500 }
    #expect(Set(report.streams.map(\.process)).count == 2)
  }
}

@Suite("§13 Orders to mute streams")
struct MuteOrdersTests {
  @Test("An order stays outstanding until a list of streams confirms it")
  func outstanding() {
    var orders = MuteOrders()
    orders.add(true, stream: 3, of: 1)
    #expect(orders.confirm([3: false], of: 1).map(\.stream) == [3])
    #expect(orders.confirm([3: true], of: 1).isEmpty)
    #expect(orders.confirm([3: false], of: 1).isEmpty, "the user may change a confirmed mute")
  }

  @Test("The newest order for a stream replaces the earlier order")
  func replaced() {
    var orders = MuteOrders()
    orders.add(true, stream: 3, of: 1)
    orders.add(false, stream: 3, of: 1)
    #expect(orders.confirm([3: true], of: 1).map(\.isMuted) == [false])
  }

  @Test("The newest order for a stream replaces the earlier one even if no further order fits")
  func full() {
    var orders = MuteOrders()
    for stream in 0..<UInt32(MuteOrders.max) { orders.add(true, stream: stream, of: 1) }
    orders.add(false, stream: 3, of: 1)
    #expect(orders.confirm([3: true], of: 1).map(\.isMuted) == [false])
  }

  @Test("The orders for ended streams and for another start of the server are forgotten")
  func forgotten() {
    var orders = MuteOrders()
    orders.add(true, stream: 3, of: 1)
    orders.add(true, stream: 4, of: 2)
    #expect(orders.confirm([:], of: 1).isEmpty)
    #expect(orders.confirm([3: false, 4: false], of: 1).isEmpty)
    #expect(orders.confirm([4: false], of: 2).isEmpty)
  }
}
