import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §11 with the real daemon and real processes. The memory pressure is real, but limited
/// to one cgroup. The daemon reads the memory size of the machine from a file that the test writes.
@Suite("§11: Memory", .serialized)
struct MemoryTests {
  private let mail = "org.test.mail"
  private let maps = "org.test.maps"
  private let news = "org.test.news"
  private let folder = TemporaryDirectory(mode: 0o755)

  /// Starts a daemon that reads a memory size of 1000 MiB, with the given MiB available. With
  /// `pressure`, the daemon reads the pressure from `pressure.path`, because other tests put the
  /// whole machine under pressure.
  private func fixture(
    available: Int, _ pressure: RealPressure? = nil, policy: [(String, String)] = []
  ) throws -> DaemonFixture {
    setAvailable(available)
    var settings = DaemonFixture.Settings()
    settings.arguments = ["--mem-info", folder.file("meminfo")]
    if let pressure { settings.arguments += ["--memory-pressure", pressure.path] }
    // Without `pressure`, the high limits make the daemon ignore the pressure of other tests. With
    // `pressure`, the low limits are safe: until the test calls `press`, the process of `pressure`
    // stalls for less than 100 ms.
    let limits = [
      ("MemoryPressureStall", pressure == nil ? "10s" : "100ms"),
      ("MemoryPressureWindow", pressure == nil ? "10s" : "500ms"),
      ("MemoryWarningTime", "10ms"), ("MemoryQuietTime", "1h"),
    ]
    settings.policy = limits.filter { limit in !policy.contains { $0.0 == limit.0 } } + policy
    return try DaemonFixture(settings)
  }

  private func setAvailable(_ mebibytes: Int) {
    // One write sets all values, because the daemon may read the file at any time.
    folder.write(
      "meminfo", "MemTotal: \(1000 << 10) kB\nMemAvailable: \(mebibytes << 10) kB\n")
  }

  /// Returns a suspended program that has the given MiB of dirty memory.
  private func suspended(
    _ daemon: DaemonFixture, _ monitor: Monitor, _ id: String, mebibytes: Int
  ) throws -> TestProcess {
    let process = try daemon.python(
      """
      import os, signal
      held = bytearray(os.urandom(1 << 20) * \(mebibytes))
      print("held", flush=True)
      signal.pause()
      """)
    #expect(try process.readLine() == "held")
    try daemon.adopt(id, process)
    try daemon.sendToBackground(id)
    try monitor.transition(id, to: .suspended)
    return process
  }

  private func active(_ daemon: DaemonFixture, _ id: String) throws -> TestApplication {
    let application = try TestApplication(daemon, id)
    try application.registered()
    #expect(try application.callbackKinds(2) == ["didFinishLaunching", "didBecomeActive"])
    return application
  }

  private func isWarning(_ event: JSONValue) -> Bool {
    event["parameters"]?["memoryWarning"] == .bool(true)
  }

  @Test(
      """
      Under memory pressure, the active application is warned. The largest suspended application \
      is killed first, and the next one when that memory is free. The foreground is never killed
      """)
  func realPressure() throws {
    if let missing = RealPressure.missing { return print("skipped: \(missing)") }
    let pressure = try RealPressure()
    let daemon = try fixture(available: 80, pressure)
    let monitor = try Monitor(daemon)
    let small = try suspended(daemon, monitor, mail, mebibytes: 8)
    let large = try suspended(daemon, monitor, maps, mebibytes: 48)
    let application = try active(daemon, news)
    try pressure.press {
      #expect(isWarning(try application.nextEvent()))
      let chosen = try monitor.next("a choice") { $0.kind == .memoryChosen }
      #expect(chosen.application == maps)
      #expect(chosen.message.contains("the most of 2 suspended applications, before \(mail)"))
      #expect(try monitor.end(maps) == "memoryPressure")
      #expect(try large.pidfd.waitForEnd())
      let next = try monitor.next("the next") { $0.kind == .memoryChosen }
      #expect(next.application == mail)
      #expect(try monitor.end(mail) == "memoryPressure")
      #expect(try small.pidfd.waitForEnd())
    }
    setAvailable(500)
    let why = try daemon.taskctl("why", maps)
    #expect(why.text.contains("Of 2 suspended applications, it had the most"), "\(why.text)")
    #expect(why.text.contains("Next in order: \(mail)"), "\(why.text)")
    #expect(why.text.contains("80.0 MiB of the machine's 1000 MiB were available (8%)"))
    #expect(try daemon.application(news).state == .active)
    #expect(try application.process.pidfd.hasEnded() == false)
  }

  @Test("The daemon detects continuing pressure before the trigger's window is over")
  func heardAgain() throws {
    if let missing = RealPressure.missing { return print("skipped: \(missing)") }
    let pressure = try RealPressure()
    let daemon = try fixture(
      available: 500, pressure, policy: [("MemoryPressureWindow", "10s")])
    let monitor = try Monitor(daemon)
    let process = try suspended(daemon, monitor, mail, mebibytes: 8)
    let application = try active(daemon, news)
    try pressure.press {
      #expect(isWarning(try application.nextEvent()))
      let heard = try daemon.call(ControlInterface.GetMemory.self, .init())
      setAvailable(80)
      let chosen = try monitor.next("a choice") { $0.kind == .memoryChosen }
      let before = try #require(heard.pressedAtUSec)
      #expect(chosen.atUSec - before < 10_000_000)
      #expect(try process.pidfd.waitForEnd())
    }
  }

  @Test("Above the floor, pressure of the machine warns applications and ends none")
  func aboveTheFloor() throws {
    if let missing = RealPressure.missing { return print("skipped: \(missing)") }
    let pressure = try RealPressure()
    let daemon = try fixture(
      available: 500, pressure, policy: [("MemoryQuietTime", "600ms")])
    let monitor = try Monitor(daemon)
    let held = try suspended(daemon, monitor, mail, mebibytes: 8)
    let application = try active(daemon, news)
    // Stalls of the machine itself may cause a second warning, so the test does not check that
    // there is only one.
    try pressure.press {
      let event = try application.nextEvent()
      #expect(isWarning(event))
    }
    let status = try daemon.call(ControlInterface.GetMemory.self, .init())
    #expect(status.pressedAtUSec != nil && status.heard.contains("machine"))
    #expect(try daemon.application(mail).state == .suspended)
    #expect(try held.pidfd.hasEnded() == false)
  }

  @Test("taskctl memory shows each application's dirty and total size, and which is next and why")
  func shown() throws {
    let daemon = try fixture(available: 500)
    let monitor = try Monitor(daemon)
    let processes = try [
      suspended(daemon, monitor, mail, mebibytes: 8),
      suspended(daemon, monitor, maps, mebibytes: 32),
    ]
    let application = try active(daemon, news)
    let memory = try daemon.call(ControlInterface.GetMemory.self, .init())
    #expect(memory.available == 500 << 20 && memory.total == 1000 << 20)
    #expect(memory.applications.map(\.application) == [maps, mail, news])
    #expect(memory.applications.map(\.position) == [1, 2, nil])
    #expect(memory.applications[0].dirty > 32 << 20 && memory.applications[1].dirty > 8 << 20)
    #expect(memory.applications.allSatisfy { $0.total >= $0.dirty || $0.estimate })
    let shown = try daemon.taskctl("memory")
    #expect(shown.text.contains("suspended, the most dirty memory"))
    #expect(shown.text.contains("in the foreground: never"))
    #expect(shown.text.contains("(50%); below 10%, the daemon may terminate applications"))
    let round = try daemon.taskctl("warn-memory", "--dry-run")
    #expect(round.exit == .exited(code: 0))
    #expect(round.text.hasPrefix("1. \(maps) (suspended): "))
    #expect(try processes.allSatisfy { try !$0.pidfd.hasEnded() })
    #expect(try application.process.pidfd.hasEnded() == false)
  }

  @Test("taskctl warn-memory simulates a warning, and names applications that cannot receive it")
  func simulated() throws {
    let daemon = try fixture(available: 500)
    let monitor = try Monitor(daemon)
    let process = try suspended(daemon, monitor, mail, mebibytes: 1)
    let application = try active(daemon, news)
    #expect(try daemon.taskctl("warn-memory", news).exit == .exited(code: 0))
    #expect(isWarning(try application.nextEvent()))
    #expect(try daemon.taskctl("warn-memory").exit == .exited(code: 0))
    #expect(isWarning(try application.nextEvent()))
    let refused = try daemon.taskctl("warn-memory", mail)
    #expect(refused.exit == .exited(code: 1))
    #expect(
      refused.text == "taskctl: CannotBeTold: '\(mail)' cannot receive a memory warning: "
        + "it is suspended\n")
    #expect(try process.pidfd.hasEnded() == false)
  }

  @Test("Without pressure reports of the kernel, the daemon logs that and works otherwise")
  func noPressure() throws {
    var settings = DaemonFixture.Settings()
    settings.arguments = [
      "--memory-pressure", folder.file("none"), "--mem-info", folder.file("none"),
    ]
    let daemon = try DaemonFixture(settings)
    let application = try active(daemon, news)
    #expect(daemon.logged.contains("\(folder.file("none"))"))
    let memory = try daemon.call(ControlInterface.GetMemory.self, .init())
    #expect(!memory.heard.contains("machine") && memory.total == 0)
    #expect(memory.applications.map(\.application) == [news])
    #expect(try daemon.application(news).state == .active)
    #expect(try application.process.pidfd.hasEnded() == false)
  }

  @Test("Memory settings out of their bounds are refused with file and line")
  func settings() throws {
    folder.write(
      "taskschedd.toml",
      """
      [policy]
      MemoryPressureWindow = "400ms"
      MemoryFloorPercent = 101
      """)
    let checked = try TestProcess(
      "/bin/sh",
      [
        "sh", "-c", "exec \"$0\" \"$@\" 2>&1", Programs.path(of: "taskschedd"),
        "--check", "--config", folder.file("taskschedd.toml"),
      ])
    let text = try checked.remainingText()
    #expect(text.contains("taskschedd.toml:2") && text.contains("500ms to 10s"))
    #expect(text.contains("taskschedd.toml:3") && text.contains("0 to 100"))
  }
}
