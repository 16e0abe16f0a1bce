import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §15 with a damaged event log: the next daemon manages or resumes every stopped process,
/// and does not resume processes of other daemons.
@Suite("§15: No process stays suspended because the event log was damaged or lost")
struct DamagedEventLogTests {
  private let ids = (0..<3).map { "org.test.r\($0)" }

  /// Returns suspended applications that the daemon adopted. Their environment has no marker
  /// (`TASKSCHEDD_INSTANCE`) that identifies them.
  private func suspended(_ daemon: DaemonFixture) throws -> [TestProcess] {
    let monitor = try Monitor(daemon)
    return try ids.map { id in
      let program = try daemon.shell("exec sleep 1000")
      try daemon.adopt(id, program)
      try daemon.sendToBackground(id)
      try monitor.transition(id, to: .suspended)
      return program
    }
  }

  private func eventLog(_ daemon: DaemonFixture) throws -> String {
    let folder = daemon.folder.file("event-log")
    let names = try Directory.names(path: folder).filter { $0.hasPrefix("event-log.") }
    return "\(folder)/\(try unwrap(names.last))"
  }

  private func bytes(_ path: String) throws -> [UInt8] {
    try FileDescriptor.open(reading: path).readToEnd()
  }

  private func write(_ bytes: [UInt8], _ path: String) throws {
    let file = try unwrap(fopen(path, "w"))
    defer { fclose(file) }
    #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
  }

  private func stopped(_ programs: [TestProcess], _ daemon: DaemonFixture) throws -> [Bool] {
    try programs.map { try daemon.state(of: $0.pid) == .stopped }
  }

  enum Damage: String, CaseIterable {
    case magic, version, boot, registration
  }

  /// Changes one bit of the event log.
  private func damage(_ kind: Damage, _ daemon: DaemonFixture) throws {
    let path = try eventLog(daemon)
    var bytes = try bytes(path)
    let name = Array(ids[1].utf8)
    let place =
      switch kind {
      case .magic: 0
      case .version: 9
      case .boot: 20
      case .registration:
        try unwrap(bytes.indices.first { bytes[$0...].starts(with: name) })
      }
    bytes[place] ^= 1
    try write(bytes, path)
  }

  @Test(
    "With one wrong bit in the event log, each process that the rest names is managed or resumed",
    arguments: Damage.allCases)
  func wrongBit(_ kind: Damage) throws {
    let first = try DaemonFixture()
    let programs = try suspended(first)
    let second = try first.killed { try damage(kind, first) }
    let stopped = try stopped(programs, second)
    let managed = try second.applications().filter { $0.state == .suspended }
      .map(\.application)
    #expect(managed == (kind == .registration ? [ids[0]] : []))
    #expect(stopped == (kind == .registration ? [true, false, false] : [false, false, false]))
    if kind == .registration {
      #expect(second.logged.contains(" up to the first damage: from byte "))
      #expect(second.logged.contains("took over 1 application and 0 connections within "))
    }
  }

  @Test(
    "With one wrong bit, 'taskctl release' resumes the processes, and warns of the damage",
    arguments: Damage.allCases)
  func wrongBitReleased(_ kind: Damage) throws {
    let daemon = try DaemonFixture()
    let programs = try suspended(daemon)
    try daemon.die()
    try damage(kind, daemon)
    let outcome = try daemon.taskctl("release")
    #expect(outcome.exit == .exited(code: 1))
    #expect(
      outcome.text.contains("not released: the event log \(try eventLog(daemon)): from byte "))
    #expect(try stopped(programs, daemon) == [false, false, false])
  }

  /// Returns a daemon with two suspended programs: one that it launched, and one that `taskctl run`
  /// started.
  private func marked() throws -> (DaemonFixture, [Int32], TestProcess) {
    let daemon = try DaemonFixture(
      .init(manifests: [("org.test.launched", "command = [\"/bin/sleep\", \"1000\"]")]))
    let monitor = try Monitor(daemon)
    let launched = try daemon.launch("org.test.launched")
    let run = try daemon.startTaskctl([
      "run", "--id", "org.test.ran", "--", "sh", "-c", "echo $$; exec sleep 1000",
    ])
    let pids = [launched, try run.nextPID()]
    for id in ["org.test.launched", "org.test.ran"] {
      try daemon.sendToBackground(id)
      try monitor.transition(id, to: .suspended)
    }
    return (daemon, pids, run)
  }

  enum Finder: CaseIterable {
    case daemon, release
  }

  @Test(
      """
      Without an event log, TASKSCHEDD_INSTANCE in the environment identifies the stopped \
      processes; another daemon's applications stay suspended
      """,
    arguments: Finder.allCases)
  func lost(_ finder: Finder) throws {
    let (first, pids, run) = try marked()
    let (other, others, otherRun) = try marked()
    let folder = first.folder.file("event-log")
    func lose() throws {
      for name in try Directory.names(path: folder) {
        try Directory.remove(path: "\(folder)/\(name)")
      }
      rmdir(folder)
    }
    var second: DaemonFixture?
    switch finder {
    case .daemon: second = try first.killed { try lose() }
    case .release:
      try first.die()
      try lose()
      let outcome = try first.taskctl("release")
      #expect(outcome.exit == .exited(code: 0))
      for pid in pids { #expect(outcome.text.contains("resumed: process \(pid) (")) }
    }
    try withExtendedLifetime((second, run, otherRun)) {
      for pid in pids {
        let state = try first.state(of: pid)
        #expect(state != nil && state != .stopped)
      }
      for pid in others {
        let state = try other.state(of: pid)
        #expect(state == .stopped, "\(other.logged)")
      }
    }
  }

  @Test("The daemon refuses a sparse event log of 64 GiB, and resumes the processes that it names")
  func holes() throws {
    let first = try DaemonFixture()
    let programs = try suspended(first)
    let second = try first.killed {
      let path = try eventLog(first)
      #expect(truncate(path, 1 << 36) == 0)
    }
    #expect(second.logged.contains("a file with holes: File too large (EFBIG)"))
    #expect(try stopped(programs, second) == [false, false, false])
  }

  @Test("'taskctl release' resumes the processes that a sparse event log of 64 GiB names")
  func holesReleased() throws {
    let daemon = try DaemonFixture()
    let programs = try suspended(daemon)
    try daemon.die()
    #expect(try truncate(eventLog(daemon), 1 << 36) == 0)
    let outcome = try daemon.taskctl("release")
    #expect(outcome.exit == .exited(code: 0), "\(outcome.text)")
    #expect(try stopped(programs, daemon) == [false, false, false])
  }

  @Test(
    "'taskctl release' finds processes by their environment if the event log does not name them")
  func older() throws {
    let daemon = try DaemonFixture(
      .init(manifests: [("org.test.launched", "command = [\"/bin/sleep\", \"1000\"]")]))
    let (path, older) = (try eventLog(daemon), try bytes(eventLog(daemon)))
    let monitor = try Monitor(daemon)
    let pid = try daemon.launch("org.test.launched")
    try daemon.sendToBackground("org.test.launched")
    try monitor.transition("org.test.launched", to: .suspended)
    try daemon.die()
    try write(older, path)
    let outcome = try daemon.taskctl("release")
    #expect(outcome.exit == .exited(code: 0))
    #expect(outcome.text.contains("resumed: process \(pid) ("))
    #expect(try daemon.state(of: pid) != .stopped)
  }

  @Test("§8: An application has at most one instance, even if the record of its process is damaged")
  func launchedOnce() throws {
    let id = "org.test.voip"
    let settings = DaemonFixture.Settings(
      manifests: [
        (id, "command = [\"/bin/sleep\", \"1000\"]\nbackground-modes = [\"voip\"]")
      ])
    let first = try DaemonFixture(settings)
    try waitUntil("the application is launched") { try first.application(id).instance != nil }
    let pid = Int32(try #require(try first.application(id).instance).pid)
    let name = try #require(try first.proc.environmentValue(pid, of: "TASKSCHEDD_INSTANCE"))
    let second = try first.killed {
      let path = try eventLog(first)
      var bytes = try bytes(path)
      let marker = Array(name.utf8)
      let place = try unwrap(bytes.indices.first { bytes[$0...].starts(with: marker) })
      bytes[place] ^= 1
      try write(bytes, path)
    }
    try waitUntil("the next daemon manages the application") {
      try second.application(id).instance != nil
    }
    #expect(try second.application(id).instance?.pid == Int(pid))
    #expect(try second.programs() == [pid])
  }

  /// A program that prints a line when it is resumed.
  private static let continued = """
    import signal
    signal.signal(signal.SIGCONT, lambda *_: print("ran", flush=True))
    print("ready", flush=True)
    while True: signal.pause()
    """

  @Test("A file that is not an event log, beside a valid one, resumes no process")
  func garbageBeside() throws {
    let first = try DaemonFixture()
    let monitor = try Monitor(first)
    let programs = try ids.map { id in
      let program = try first.python(Self.continued)
      #expect(try program.nextLine() == "ready")
      try first.adopt(id, program)
      try first.sendToBackground(id)
      try monitor.transition(id, to: .suspended)
      return program
    }
    let second = try first.killed {
      try write(Array("garbage".utf8), first.folder.file("event-log/event-log.999"))
    }
    #expect(second.logged.contains("/event-log.999: the file is not an event log"))
    for id in ids { #expect(try second.application(id).state == .suspended) }
    try second.activate(ids[0])
    #expect(try programs[0].nextLine() == "ran", "the program ran only after the activation")
    #expect(try stopped(programs, second) == [false, true, true])
  }
}
