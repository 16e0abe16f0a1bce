import FoundationEssentials
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension SystemdTests {
  /// §9 and §10 with the installed daemon. The machine has no desktop unless a test starts one.
  @Suite("Local notifications and system changes")
  struct Notifications {
    let installed: InstalledMachine
    var machine: Machine { installed.machine }

    init() throws {
      installed = try InstalledMachine()
      try machine.must("sh", "-c", "rm -rf /var/lib/taskschedd/*")
    }

    /// Returns an active application that never reconnects.
    private func client() throws -> Client {
      let client = try Client(machine)
      for number in 1...2 {
        #expect(try client.ask("event").contains("\"callback\""))
        #expect(try client.ask("acknowledge \(number)") == "{\"parameters\":{}}")
      }
      return client
    }

    /// Kills the daemon with SIGKILL, and waits until the next daemon serves.
    private func kill() throws {
      try machine.must("systemctl", "kill", "-s", "KILL", "--kill-who=main", "taskschedd.service")
      try machine.must("taskctl", "list")
    }

    /// Simulates a reboot: stops the daemon and the applications, removes the event log, and starts
    /// the daemon. The state directory stays.
    private func reboot() throws {
      try machine.must("systemctl", "stop", "taskschedd.service", "taskschedd.slice")
      try machine.must("rm", "-rf", "/run/taskschedd/event-log")
      try machine.must("systemctl", "start", "taskschedd.service")
    }

    /// Calls a method of the control interface, and returns the reply as text.
    private func call(_ method: String, _ parameters: String) throws -> String {
      try machine.must(
        "python3", "-I", "-c", Self.caller, "org.taskschedd.Control." + method, parameters
      ).text
    }

    private static let caller = """
      import json, socket, sys
      s = socket.socket(socket.AF_UNIX); s.connect("/run/taskschedd/socket")
      call = {"method": sys.argv[1], "parameters": json.loads(sys.argv[2])}
      s.sendall(json.dumps(call).encode() + b"\\0")
      data = b""
      while not data.endswith(b"\\0"): data += s.recv(65536)
      print(json.dumps(json.loads(data[:-1]), separators=(",", ":")))
      """

    private func post(
      _ title: String, at time: Date? = nil, repeats: String? = nil, badge: Int? = nil,
      body: String = ""
    ) throws -> String {
      let repeats = repeats.map { ",\"repeats\":\"\($0)\"" } ?? ""
      let schedule = time.map {
        ",\"schedule\":{\"date\":\"\(text($0))\",\"timeZone\":\"UTC\"\(repeats)}"
      }
      return try call(
        "PostNotification",
        "{\"application\":\"\(InstalledMachine.frozen)\",\"content\":{\"title\":\"\(title)\","
          + "\"body\":\"\(body)\",\"badge\":\(badge.map { "\($0)" } ?? "null")}\(schedule ?? "")}")
    }

    private func list() throws -> String {
      try call("ListNotifications", "{\"application\":\"\(InstalledMachine.frozen)\"}")
    }

    /// Returns a time as YYYY-MM-DDTHH:MM:SS.
    private func text(_ time: Date) -> String { String(time.ISO8601Format().prefix(19)) }

    /// Returns how often a notification has fired according to the daemon's log.
    private func firings(of id: Int) throws -> Int {
      try installed.journal("SYSLOG_IDENTIFIER=taskschedd").count {
        $0["MESSAGE"]?.hasSuffix("notification \(id) fires") == true
      }
    }

    @Test("§15: No notification is lost or fires twice when the daemon is killed while they fire")
    func killedWhileFiring() throws {
      let client = try client()
      let time = Date(timeIntervalSinceNow: 6)
      var expected: [Int] = []
      for _ in 0..<100 {
        let answer = try client.ask(
          "call Application.ScheduleNotification {\"content\":{\"title\":\"Now\"},"
            + "\"schedule\":{\"date\":\"\(text(time))\",\"timeZone\":\"UTC\"}}")
        expected.append(try #require(Int(answer.filter(\.isNumber)), "\(answer)"))
      }
      var heard: [Int] = []
      func hear() throws {
        let event = try client.ask("event")
        let told = try JSONDecoder().decode(Client.Event.self, from: Data(event.utf8))
        heard.append(try #require(told.parameters.notification, "\(event)").notification.id)
      }
      try kill()
      try hear()
      for _ in 0..<6 { try kill() }
      while heard.count < expected.count { try hear() }
      #expect(heard.sorted() == expected)
      try kill()
      // The next event is about the transition, so no notification arrived twice.
      try machine.must("taskctl", "background", Client.id)
      #expect(try client.ask("event").contains("willResignActive"))
      let listed = try client.ask("call Application.ListNotifications {}")
      #expect(listed.components("\"state\":\"presented\"") == 100)
    }

    @Test("Notifications survive a restart of the daemon, and go to an active application")
    func restart() throws {
      let client = try client()
      let time = Date(timeIntervalSinceNow: 4)
      let answer = try client.ask(
        "call Application.ScheduleNotification {\"content\":{\"title\":\"Now\"},"
          + "\"schedule\":{\"date\":\"\(text(time))\",\"timeZone\":\"UTC\","
          + "\"repeats\":\"minute\"}}")
      #expect(answer == "{\"parameters\":{\"notification\":1}}")
      try machine.must("systemctl", "restart", "taskschedd.service")
      #expect(try client.ask("event").contains("\"title\":\"Now\""))
      try machine.must("systemctl", "restart", "taskschedd.service")
      let listed = try client.ask("call Application.ListNotifications {}")
      #expect(listed.contains("\"state\":\"scheduled\""))
      #expect(try firings(of: 1) == 1)
    }

    @Test("Notifications survive a reboot; one that was due while the machine was off fires once")
    func reboots() throws {
      try machine.must("systemctl", "start", "taskschedd.service")
      let time = Date(timeIntervalSinceNow: 3)
      #expect(try post("Due", at: time) == "{\"parameters\":{\"notification\":1}}\n")
      #expect(try post("Later", at: time + 1000) == "{\"parameters\":{\"notification\":2}}\n")
      try machine.must("systemctl", "stop", "taskschedd.service")
      #expect(try firings(of: 1) == 0)
      // Waits until the time of the notification has passed, as if the machine were off.
      let off = try machine.start(["sleep", "4"])
      _ = try off.waitForExit()
      try reboot()
      try installed.waitForJournal("notification 1 fires")
      #expect(try list().components("\"state\":\"fired\"") == 1)
      try reboot()
      #expect(try list().components("\"state\":\"fired\"") == 1)
      #expect(try list().components("\"state\":\"scheduled\"") == 1)
      #expect(try firings(of: 1) == 1)
      #expect(try firings(of: 2) == 0)
    }

    @Test(
      "§9, §20: A notification on the screen stays operable over restarts of daemon and agent",
      .enabled(if: Desktop.missing == nil, Comment(rawValue: Desktop.missing ?? "possible")))
    func onTheScreen() throws {
      let application = "org.example.screen"
      let path = "/etc/taskschedd/applications/\(application).toml"
      try installed.write(
        path, "id = \"\(application)\"\ncommand = ['/bin/sleep', '1000']\nuser = 'tester'")
      defer { _ = try? machine.run("rm", "-f", path) }
      try machine.must("systemctl", "start", "taskschedd.service")
      let desktop = try MachineDesktop(machine)
      defer { desktop.end() }
      func post() throws -> String {
        let answer = try call(
          "PostNotification",
          "{\"application\":\"\(application)\",\"content\":{\"title\":\"Mail\"}}")
        try desktop.waitForNotify()
        return answer.filter { $0.isNumber }
      }
      for restart in [
        { try machine.must("systemctl", "restart", "taskschedd.service") }, { try kill() },
        { try desktop.restartAgent() }, { try desktop.killAgent() },
      ] as [() throws -> Void] {
        _ = try post()
        try restart()
        #expect(try desktop.displayedCount() == 1)
        try desktop.control("action", "0")
        try installed.wait(for: application, toBe: "active")
        try machine.must("taskctl", "terminate", application)
        let id = try post()
        try restart()
        let cancelled = try call("CancelNotifications", "{\"notification\":\(id)}")
        #expect(cancelled.contains("[\(id)]"), "\(cancelled)")
        let end = ContinuousClock.now + deadline
        while try desktop.displayedCount() != 0, ContinuousClock.now < end {}
        #expect(try desktop.displayedCount() == 0, "the notification is closed")
      }
    }

    @Test(
      "§20: One agent shows the notifications of the system's daemon and of the user's own daemon",
      .enabled(if: Desktop.missing == nil, Comment(rawValue: Desktop.missing ?? "possible")))
    func bothDaemons() throws {
      let application = "org.example.both"
      let manifest = "id = \"\(application)\"\ncommand = ['/bin/sleep', '1000']\n"
      let path = "/etc/taskschedd/applications/\(application).toml"
      let folder = "/home/\(InstalledMachine.tester)/.config/taskschedd/applications"
      try installed.write(path, manifest + "user = 'tester'")
      try machine.must("mkdir", "-p", folder, as: MachineDesktop.user)
      try installed.write("\(folder)/\(application).toml", manifest)
      defer { _ = try? machine.run("rm", "-f", path, "\(folder)/\(application).toml") }
      try machine.must("systemctl", "start", "taskschedd.service")
      // The agent starts before the user's own daemon.
      let desktop = try MachineDesktop(machine)
      defer { desktop.end() }
      try machine.must(
        "systemctl", "--user", "start", "taskschedd.socket", as: MachineDesktop.user)
      for (count, option) in [(1, "--system"), (2, "--user")] {
        try machine.must(
          "taskctl", "notifications", "post", option, application, "From \(option)",
          as: MachineDesktop.user)
        try desktop.waitForNotify()
        #expect(try desktop.displayedCount() == count)
      }
      // dunst chooses a notification by its position. The oldest notification is at position 0.
      func choose(of option: String) throws {
        try desktop.control("action", "0")
        try installed.wait(
          for: application, toBe: "active", options: [option], as: MachineDesktop.user)
      }
      try choose(of: "--system")
      let own = try machine.must("taskctl", "list", "--all", "--user", as: MachineDesktop.user).text
      #expect(own.contains("notRunning"), "\(own)")
      try desktop.control("close")
      try choose(of: "--user")
    }

    @Test("With a full disk, a new notification is refused with NotStored, and stored ones fire")
    func full() throws {
      try machine.must("systemctl", "stop", "taskschedd.service")
      let folder = "/var/lib/taskschedd"
      try machine.must("mkdir", "-p", folder)
      try machine.must("mount", "-t", "tmpfs", "-o", "size=400k,mode=700", "tmpfs", folder)
      defer {
        _ = try? machine.run("systemctl", "stop", "taskschedd.service")
        _ = try? machine.run("umount", "-l", folder)
      }
      try machine.must("systemctl", "start", "taskschedd.service")
      let time = Date(timeIntervalSinceNow: 6)
      #expect(try post("First", at: time, repeats: "hour").contains("\"notification\":1"))
      #expect(try post("Second", at: time + 1000).contains("\"notification\":2"))
      _ = try machine.run("dd", "if=/dev/zero", "of=\(folder)/fill", "bs=4k")
      // Schedules notifications until the write-ahead log of the database cannot grow.
      let large = String(repeating: "x", count: 4000)
      var storedCount = 0
      var answer = ""
      repeat {
        answer = try post("Third", at: time + 1000, body: large)
        if answer.contains("\"notification\"") { storedCount += 1 }
      } while answer.contains("\"notification\"")
      #expect(answer.contains("Control.NotStored"), "\(answer)")
      #expect(try list().components("\"state\":\"scheduled\"") == 2 + storedCount)
      try installed.waitForJournal("notification 1 fires")
      let cancelled = try call("CancelNotifications", "{\"notification\":2}")
      #expect(
        cancelled.contains("\"cancelled\":[2]"),
        "the store keeps space for cancellations: \(cancelled)")
      #expect(try firings(of: 1) == 1, "the notification fires again an hour later")
      try machine.must("rm", "\(folder)/fill")
      let id = try post("Fourth", at: time + 1000)
      #expect(id.contains("\"notification\""), "\(id)")
      try kill()
      let listed = try list()
      #expect(listed.contains("First") && listed.contains("Fourth"))
      #expect(!listed.contains("Second") && listed.components("Third") == storedCount)
      #expect(try firings(of: 1) == 1)
    }

    @Test(
        """
        §10: A running application gets time zone and locale at once; a suspended one gets them on \
        the next resume
        """)
    func systemChanges() throws {
      let zone = try machine.run("readlink", "/etc/localtime").lines.first ?? "/etc/localtime"
      defer {
        _ = try? machine.run("ln", "-sfn", zone, "/etc/localtime")
        _ = try? machine.run("rm", "-f", "/etc/locale.conf")
      }
      let client = try client()
      func setZone(_ zone: String) throws {
        if try machine.run("timedatectl", "set-timezone", zone).code != 0 {
          try machine.must("ln", "-sfn", "/usr/share/zoneinfo/\(zone)", "/etc/localtime")
        }
      }
      try setZone("Asia/Tokyo")
      let changed = try client.ask("event")
      #expect(changed.contains("\"kind\":\"timeZone\"") && changed.contains("\"Asia/Tokyo\""))
      try machine.must("sh", "-c", "echo LANG=de_DE.UTF-8 > /etc/locale.conf")
      var locale = try client.ask("event")
      // The new time zone may have changed the day, which is a separate event.
      if locale.contains("\"kind\":\"day\"") { locale = try client.ask("event") }
      #expect(locale.contains("\"kind\":\"locale\"") && locale.contains("\"de_DE.UTF-8\""))
      try machine.must("taskctl", "background", Client.id)
      for number in 3...4 {
        #expect(try client.ask("event").contains("\"callback\""))
        #expect(try client.ask("acknowledge \(number)") == "{\"parameters\":{}}")
      }
      #expect(try client.ask("half") == "half")
      // Does not wait for the answer: the client may be suspended before it can print the answer.
      try client.process.writeLine("rest")
      try installed.wait(for: Client.id, toBe: "suspended")
      try setZone("America/Lima")
      try machine.must("sh", "-c", "echo LANG=fr_FR.UTF-8 > /etc/locale.conf")
      var status = ""
      let end = ContinuousClock.now + deadline
      repeat {
        status = try call("GetApplication", "{\"application\":\"\(Client.id)\"}")
      } while !status.contains("\"heldChanges\":2") && !status.contains("\"heldChanges\":3")
        && ContinuousClock.now < end
      #expect(status.contains("\"state\":\"suspended\""), "\(status)")
      try machine.must("taskctl", "foreground", Client.id)
      #expect(try client.process.readLine() == "{\"parameters\":{}}")
      let burst = try client.ask("event")
      #expect(burst.contains("\"America/Lima\"") && burst.contains("\"fr_FR.UTF-8\""), "\(burst)")
      #expect(try client.ask("event").contains("willEnterForeground"))
    }
  }
}

/// The program Resources/client.py in the machine.
private final class Client {
  static let id = "org.example.client"
  /// The lines that the client has printed.
  private var said: [String] = []
  let process: TestProcess

  struct Event: Decodable {
    struct Parameters: Decodable {
      struct DeliveredEvent: Decodable {
        struct Notification: Decodable { var id: Int }
        var notification: Notification
      }
      var notification: DeliveredEvent?
    }
    var parameters: Parameters
  }

  init(_ machine: Machine) throws {
    // Passes the program as text: the repository may be below /tmp, and the machine has a separate
    // /tmp.
    let path = InstalledMachine.repository + "/Tests/SystemdTests/Resources/client.py"
    let script = String(
      decoding: try FileDescriptor.open(reading: path).readToEnd(), as: UTF8.self)
    process = try machine.start(["python3", "-I", "-u", "-c", script, Self.id])
    #expect(try process.readLine()?.contains("registered") == true)
    #expect(try process.readLine()?.contains("\"task\":1") == true)
  }

  func ask(_ line: String) throws -> String {
    try process.writeLine(line)
    do {
      said.append(try process.readLine() ?? "it ended")
    } catch {
      throw MachineError(sentence: "'\(line)': \(error), after \(said.suffix(5))")
    }
    return said[said.count - 1]
  }
}

/// A desktop in the machine: a user's bus, a virtual screen, dunst as the notification service, and
/// the user's session agent under the user's systemd.
private final class MachineDesktop {
  static let user = InstalledMachine.tester

  private let machine: Machine
  private let environment: [String]
  private var processes: [TestProcess] = []
  private let monitor: TestProcess

  init(_ machine: Machine) throws {
    self.machine = machine
    let user = Self.user
    try machine.must("systemctl", "start", "user@\(user).service")
    let directory = "/run/user/\(user)"
    // The user's systemd may have started a bus that listens at the same path.
    _ = try machine.run("systemctl", "--user", "stop", "dbus.socket", "dbus.service", as: user)
    try machine.must("rm", "-f", directory + "/bus")
    let address = "unix:path=\(directory)/bus"
    let bus = try machine.start(
      [
        "dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=\(address)",
        "--print-address=1",
      ], as: user)
    #expect(try bus.readLine()?.hasPrefix("unix:") == true)
    let screen = try machine.start([
      "Xvfb", "-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset",
      "-ac",
    ])
    var number: Int?
    while number == nil { number = Int(try unwrap(try screen.readLine())) }
    environment = [
      "env", "DISPLAY=:\(number ?? 0)", "HOME=/home/tester", "XDG_RUNTIME_DIR=\(directory)",
      "DBUS_SESSION_BUS_ADDRESS=\(address)",
    ]
    let configuration = "/run/dunstrc"
    let urgencies = ["low", "normal", "critical"].map { "[urgency_\($0)]\ntimeout = 0\n" }
    try machine.must(
      "sh", "-c", "printf '%s' \"$1\" > \(configuration)", "sh",
      "[global]\nidle_threshold = 0\n" + urgencies.joined())
    let service = try machine.start(environment + ["dunst", "-config", configuration], as: user)
    monitor = try machine.start(
      environment + ["dbus-monitor", "--address", address, "member=Notify"], as: user)
    processes = [bus, screen, service]
    let waiting = try machine.start(
      environment + ["gdbus", "wait", "--session", "--timeout=60", Desktop.serviceName], as: user)
    #expect(try waiting.waitForExit() == .exited(code: 0))
    while try unwrap(try monitor.readLine()).contains("NameLost") == false {}
    try machine.must("systemctl", "--user", "start", Self.agent, as: user)
  }

  private static let agent = "taskschedd-session.service"

  func end() {
    _ = try? machine.run("systemctl", "stop", "user@\(Self.user).service")
  }

  /// Restarts the agent, and waits until it has shown a notification again.
  func restartAgent() throws {
    try machine.must("systemctl", "--user", "restart", Self.agent, as: Self.user)
    try waitForNotify()
  }

  /// Kills the agent, and waits until the next agent has shown a notification again.
  func killAgent() throws {
    try machine.must(
      "systemctl", "--user", "kill", "-s", "KILL", Self.agent, as: Self.user)
    try waitForNotify()
  }

  /// Waits until the notification service receives another request to show a notification.
  func waitForNotify() throws {
    while try unwrap(try monitor.readLine()).contains("member=Notify") == false {}
  }

  @discardableResult
  func control(_ arguments: String...) throws -> String {
    let process = try machine.start(environment + ["dunstctl"] + arguments, as: Self.user)
    var text = ""
    while let line = try process.readLine() { text += line + "\n" }
    #expect(try process.waitForExit() == .exited(code: 0))
    return text
  }

  func displayedCount() throws -> Int? { Int(try control("count", "displayed").filter(\.isNumber)) }
}

extension String {
  /// Returns how often a text occurs.
  fileprivate func components(_ text: String) -> Int { ranges(of: text).count }
}
