import Glibc
import LinuxSystem
import TestSupport
import Testing

extension SystemdTests {
  /// Contract §15: after `kill -9` of the daemon, applications stay suspended and reachable,
  /// because systemd keeps the daemon's descriptors.
  @Suite("Wake-ups and relaunches across the death of the daemon")
  struct WakeUps {
    private static let id = "org.example.client"
    private static let manifest = "/etc/taskschedd/applications/\(id).toml"
    let installed: InstalledMachine
    var machine: Machine { installed.machine }

    init() throws {
      installed = try InstalledMachine()
      try installed.write(
        "/etc/taskschedd/taskschedd.toml",
        """
        [policy]
        KeepAliveMinimum = "3s"
        KeepAliveHandlerTime = "2900ms"
        EventTime = "1h"
        RelaunchDelay = "3s"
        """)
    }

    /// Runs the body with a manifest of the application.
    private func withManifest(_ text: String, _ body: () throws -> Void) throws {
      try installed.write(
        Self.manifest, "id = \"\(Self.id)\"\nbackground-modes = [\"voip\"]\n\(text)")
      defer { _ = try? machine.run("rm", Self.manifest) }
      try body()
    }

    /// Starts an application of mode voip in the foreground, and ends its background task.
    private func client() throws -> TestProcess {
      let client = try installed.startClient(Self.id)
      #expect(try ask(client, "half") == "half")
      #expect(try ask(client, "rest") == "{\"parameters\":{}}")
      return client
    }

    private func ask(_ client: TestProcess, _ line: String) throws -> String {
      try installed.ask(client, line)
    }

    /// Waits for the next event. If the application was suspended, it first prints the answer to
    /// its last acknowledgement. This function skips that answer.
    private func event(_ client: TestProcess) throws -> String {
      try client.writeLine("event")
      while let line = try client.readLine() {
        if line != "{\"parameters\":{}}" { return line }
      }
      return "it ended"
    }

    private func acknowledge(_ client: TestProcess, _ kinds: String...) throws {
      for kind in kinds {
        let event = try event(client)
        #expect(event.contains(kind), "\(event)")
        try client.writeLine("acknowledge \(number("id", in: event))")
      }
    }

    /// Returns the number after a key.
    private func number(_ key: String, in text: String) throws -> Int {
      let rest = try #require(text.split(separator: "\"\(key)\":").dropFirst().first)
      return try #require(Int(rest.prefix { $0.isNumber }))
    }

    /// Moves the application to the background, and waits until it is suspended.
    private func suspend(_ client: TestProcess) throws {
      try acknowledge(client, "didFinishLaunching", "didBecomeActive")
      try machine.must("taskctl", "background", Self.id)
      try acknowledge(client, "willResignActive", "didEnterBackground")
      try installed.wait(for: Self.id, toBe: "suspended")
    }

    /// Kills the daemon with SIGKILL, and waits until the next daemon serves.
    private func kill() throws {
      let before = try installed.property("MainPID")
      try machine.must("systemctl", "kill", "-s", "KILL", "--kill-who=main", "taskschedd.service")
      try machine.must("taskctl", "list")
      #expect(try installed.property("MainPID") != before)
    }

    private func status() throws -> String {
      try machine.must("taskctl", "status", "--json", Self.id).text
    }

    @Test("A kill -9 of the daemon between two keep-alive bursts loses neither of them")
    func keepAlive() throws {
      try withManifest("") {
        let client = try client()
        #expect(try ask(client, "keepalive 3") == "{\"parameters\":{}}")
        try suspend(client)
        for _ in 0..<2 {
          let deadline = try number("deadlineUSec", in: status())
          try kill()
          let after = try status()
          #expect(after.contains("\"suspended\""), "\(after)")
          #expect(try number("deadlineUSec", in: after) == deadline)
          // The application is suspended. It reads this command only after the daemon has resumed
          // it to call the handler.
          try acknowledge(client, "keepAlive")
          let ran = try number("lastRunUSec", in: status())
          #expect(ran >= deadline - 100_000, "the handler is called 100 ms before its deadline")
          try installed.wait(for: Self.id, toBe: "suspended")
        }
      }
    }

    /// Returns the seconds after which the daemon's CLOCK_BOOTTIME_ALARM wakes a sleeping machine;
    /// 0 if the alarm is not set.
    private func alarm() throws -> Int {
      let daemon = try #require(try installed.unit.processes().first)
      let folder = "/proc/\(daemon)/fdinfo"
      let names = try machine.must("ls", "/proc/\(installed.property("MainPID"))/fdinfo").lines
      for name in names {
        let file = try FileDescriptor.open(reading: "\(folder)/\(name)")
        let text = String(decoding: try file.readToEnd(), as: UTF8.self)
        guard text.contains("clockid: 9\n") else { continue }
        let value = try #require(text.split(separator: "it_value: (").dropFirst().first)
        return try #require(Int(value.prefix { $0.isNumber }))
      }
      throw MachineError(sentence: "the daemon has no timer of CLOCK_BOOTTIME_ALARM")
    }

    /// The alarm is set all the time while a handler or notification waits. The daemon therefore
    /// does not need logind's signal PrepareForSleep, which announces a sleep.
    @Test(
      "The alarm that wakes a sleeping machine is set while a handler or notification waits",
      .enabled(
        if: access("/sys/class/rtc/rtc0", F_OK) == 0,
        "CLOCK_BOOTTIME_ALARM needs a real-time clock, and this machine has none"))
    func wakeAlarm() throws {
      try withManifest("") {
        let client = try client()
        #expect(try alarm() == 0)
        #expect(try ask(client, "keepalive 3600") == "{\"parameters\":{}}")
        #expect((3000...3600).contains(try alarm()))
        try machine.must(
          "sh", "-c", "taskctl notifications post \(Self.id) Soon --at $(date -d '20 min' +%FT%T)")
        #expect((1000...1200).contains(try alarm()))
        try machine.must("taskctl", "notifications", "cancel", "--all", Self.id)
        #expect((3000...3600).contains(try alarm()))
      }
    }

    /// Accepts one connection, sends data on request, and prints when the connection ends.
    private static let server = """
      import os, select, socket
      listener = socket.socket(socket.AF_UNIX)
      listener.bind("/run/wake-up-peer")
      listener.listen()
      print("listens", flush=True)
      peer, _ = listener.accept()
      os.unlink("/run/wake-up-peer")
      while True:
          ready, _, _ = select.select([0, peer], [], [])
          if peer in ready:
              print("hang-up", flush=True)
              break
          peer.sendall(os.read(0, 4096).strip())
          print("sent", flush=True)
      """

    @Test("A byte that arrives while no daemon runs wakes the application when one runs again")
    func socket() throws {
      try withManifest("") {
        try installed.change("RestartSec=3s")
        let client = try client()
        let peer = try machine.start(["python3", "-I", "-c", Self.server])
        #expect(try peer.readLine() == "listens")
        #expect(try ask(client, "connect /run/wake-up-peer").contains("\"socket\""))
        try suspend(client)
        for text in ["first", "second"] {
          try machine.must(
            "systemctl", "kill", "-s", "KILL", "--kill-who=main", "taskschedd.service")
          try waitForNoDaemon()
          #expect(try ask(peer, text) == "sent")
          #expect(
            try installed.property("SubState") == "auto-restart",
            "the byte arrived before the next daemon started")
          let event = try event(client)
          #expect(event.contains("\"socketEvent\"") && event.contains("\"data\":true"), "\(event)")
          #expect(try ask(client, "read") == text)
          try client.writeLine("acknowledge \(number("id", in: event))")
          try installed.wait(for: Self.id, toBe: "suspended")
        }
        #expect(try number("managedSockets", in: status()) == 1)
        // The peer sees the end of the application's connection, so neither systemd nor the daemon
        // keeps it open.
        try machine.must("taskctl", "terminate", Self.id)
        #expect(try peer.readLine() == "hang-up")
      }
    }

    /// Waits until systemd has scheduled the start of the next daemon.
    private func waitForNoDaemon() throws {
      let end = ContinuousClock.now + deadline
      while try installed.property("SubState") != "auto-restart" {
        guard ContinuousClock.now < end else {
          throw MachineError(sentence: "the daemon has not ended")
        }
      }
    }

    @Test(
      """
      A manifest with mode voip launches when the daemon starts (boot) and again after a crash; \
      kill -9 of the daemon while a relaunch waits does not lose it
      """)
    func relaunch() throws {
      try withManifest(
        """
        user = "tester"
        command = ["sh", "-c", "echo for $TASKSCHEDD_LAUNCH_REASON; exit 3"]
        """
      ) {
        try machine.must("systemctl", "start", "taskschedd.service")
        let output = try installed.output(of: Self.id)
        #expect(try output.readLine() == "for boot")
        try installed.waitForJournal("will be relaunched in 3s")
        let planned = try status()
        try kill()
        #expect(try nextLaunch(status()) == nextLaunch(planned))
        #expect(try output.readLine() == "for relaunch")
        try installed.waitForJournal("will be relaunched in 6s")
        // An upgrade keeps the relaunch. The daemon recognizes an upgrade by a connection in
        // systemd's store; here, the monitor's connection.
        let monitor = try machine.start(["taskctl", "monitor", "--json"])
        while try monitor.readLine()?.contains("\"ready\"") != true {}
        try machine.must("systemctl", "restart", "taskschedd.service")
        #expect(try number("delayUSec", in: status()) == 6_000_000)
        try machine.must("taskctl", "launch", Self.id)
        #expect(try output.readLine() == "for operator")
      }
    }

    private func nextLaunch(_ status: String) throws -> Int {
      let rest = try #require(status.split(separator: "\"nextLaunch\":").dropFirst().first)
      return try number("atUSec", in: String(rest))
    }
  }
}
