import LinuxSystem
import TestSupport
import Testing

extension SystemdTests {
  /// Sessions of a real logind. The sessions have no compositor, so the test itself locks them,
  /// with `loginctl` or by setting LockedHint.
  @Suite(
    "§20 Screen lock, with a real logind",
    .enabled(
      if: InstalledMachine.missingForSessions == nil,
      Comment(rawValue: InstalledMachine.missingForSessions ?? "possible")))
  struct LoginSessions {
    /// An application of `tester`, and one of `other`.
    private static let front = "org.example.front"
    private static let second = "org.example.second"
    let installed: InstalledMachine
    var machine: Machine { installed.machine }

    init() throws {
      installed = try InstalledMachine()
      // Other tests have started user managers without sessions. logind would stop these managers.
      try installed.write(
        "/etc/systemd/logind.conf.d/tests.conf", "[Login]\nUserStopDelaySec=infinity")
      try machine.must("systemctl", "start", "systemd-logind.service")
      for (id, user) in [(Self.front, "tester"), (Self.second, "other")] {
        try installed.write(
          "/etc/taskschedd/applications/\(id).toml",
          "id = \"\(id)\"\nuser = \"\(user)\"\ncommand = ['sleep', '1000']")
      }
    }

    /// Starts the daemon, and runs the body. Then closes the sessions, and removes the manifests.
    private func scene(_ body: () throws -> Void) throws {
      defer {
        for id in [Self.front, Self.second] {
          _ = try? machine.run("rm", "/etc/taskschedd/applications/\(id).toml")
        }
        _ = try? machine.run("systemctl", "stop", "test-session-*.service")
      }
      try machine.must("systemctl", "start", "taskschedd.service")
      try body()
    }

    private func logIn(
      _ user: UInt32, seat: String = "seat0", type: String = "wayland", _ command: String...
    ) throws -> LoginSession {
      try LoginSession(machine, user, seat: seat, type: type, command)
    }

    private func launch() throws {
      for id in [Self.front, Self.second] { try machine.must("taskctl", "launch", id) }
      try wait(Self.front, "active")
      try wait(Self.second, "active")
    }

    private func wait(_ application: String, _ state: String) throws {
      try installed.wait(for: application, toBe: state)
    }

    private func state(_ application: String) throws -> String {
      let status = try machine.must("taskctl", "status", "--json", application).text
      return status.split(separator: "\"state\":\"").dropFirst().first.map {
        String($0.prefix { $0 != "\"" })
      } ?? status
    }

    /// Waits until the daemon has read the state of all sessions. Locks and unlocks the session of
    /// `other`, and waits until the daemon has changed the state of this user's application.
    private func waitUntilRead(_ other: LoginSession) throws {
      try other.setLockedHint(true)
      try wait(Self.second, "inactive")
      try other.setLockedHint(false)
      try wait(Self.second, "active")
    }

    @Test("The lock of a session makes its front application inactive until the unlock")
    func locks() throws {
      try scene {
        let session = try logIn(InstalledMachine.tester)
        try launch()
        try machine.must("loginctl", "lock-session", session.id)
        try wait(Self.front, "inactive")
        #expect(try state(Self.second) == "active")
        let why = try machine.must("taskctl", "why", Self.front).text
        #expect(why.contains("locked"), "\(why)")
        let summary = try machine.must("taskctl", "status").text
        let line = "user-3001 is session \(session.id) (wayland) at seat0, locked"
        #expect(summary.contains(line), "\(summary)")
        try machine.must("loginctl", "unlock-session", session.id)
        try wait(Self.front, "active")
      }
    }

    @Test("A desktop that sets LockedHint interrupts its front application until the unlock")
    func hint() throws {
      try scene {
        let session = try logIn(InstalledMachine.tester)
        try launch()
        try session.setLockedHint(true)
        try wait(Self.front, "inactive")
        // This command only sends a request to the desktop. If the desktop has set LockedHint, it
        // must clear the hint itself. Here, the test does this.
        try machine.must("loginctl", "unlock-session", session.id)
        try session.setLockedHint(false)
        try wait(Self.front, "active")
      }
    }

    @Test("An application stays interrupted when the daemon is killed while the screen is locked")
    func killed() throws {
      try scene {
        let session = try logIn(InstalledMachine.tester)
        let other = try logIn(InstalledMachine.other, seat: "")
        try launch()
        try machine.must("loginctl", "lock-session", session.id)
        try wait(Self.front, "inactive")
        let before = try installed.property("MainPID")
        try machine.must("systemctl", "kill", "-s", "KILL", "--kill-who=main", "taskschedd.service")
        try machine.must("taskctl", "list")
        #expect(try installed.property("MainPID") != before)
        try waitUntilRead(other)
        #expect(try state(Self.front) == "inactive")
        try machine.must("loginctl", "unlock-session", session.id)
        try wait(Self.front, "active")
      }
    }

    @Test("A lock and an unlock while no daemon runs are in force when the next daemon starts")
    func changesMeanwhile() throws {
      try scene {
        let session = try logIn(InstalledMachine.tester)
        try launch()
        try installed.change("RestartSec=2s")
        for (isLocked, state) in [(true, "inactive"), (false, "active")] {
          try machine.must(
            "systemctl", "kill", "-s", "KILL", "--kill-who=main", "taskschedd.service")
          try session.setLockedHint(isLocked)
          try wait(Self.front, state)
        }
      }
    }

    @Test("Locks work again after a restart of logind, which forgets LockedHint")
    func logindRestarts() throws {
      try scene {
        let session = try logIn(InstalledMachine.tester)
        let other = try logIn(InstalledMachine.other, seat: "")
        try launch()
        try machine.must("loginctl", "lock-session", session.id)
        try wait(Self.front, "inactive")
        try machine.must("systemctl", "restart", "systemd-logind.service")
        try waitUntilRead(other)
        #expect(try state(Self.front) == "inactive")
        try machine.must("loginctl", "unlock-session", session.id)
        try wait(Self.front, "active")
        try session.setLockedHint(true)
        try wait(Self.front, "inactive")
        try machine.must("systemctl", "restart", "systemd-logind.service")
        try wait(Self.front, try session.isLocked() ? "inactive" : "active")
      }
    }

    @Test(
      "The daemon works without logind, does not start logind, and finds a logind that starts later"
    )
    func logindStarts() throws {
      try machine.must("systemctl", "stop", "systemd-logind.service")
      try scene {
        try launch()
        #expect(!(try machine.must("taskctl", "status").text.contains("Sessions")))
        #expect(try machine.run("systemctl", "is-active", "systemd-logind").text == "inactive\n")
        try machine.must("systemctl", "start", "systemd-logind.service")
        let session = try logIn(InstalledMachine.tester)
        try session.setLockedHint(true)
        try wait(Self.front, "inactive")
      }
    }

    @Test("The end of a locked session ends the interruption")
    func logsOut() throws {
      try scene {
        let session = try logIn(InstalledMachine.tester)
        try launch()
        try machine.must("loginctl", "lock-session", session.id)
        try wait(Self.front, "inactive")
        try session.logOut()
        try wait(Self.front, "active")
      }
    }

    @Test(
      "Of two users at a seat, only the user of the session on the screen has an active application"
    )
    func switchesUser() throws {
      try scene {
        let session = try logIn(InstalledMachine.tester)
        try launch()
        let other = try logIn(InstalledMachine.other)
        try wait(Self.front, "inactive")
        #expect(try state(Self.second) == "active")
        try machine.must("loginctl", "activate", session.id)
        try wait(Self.front, "active")
        try wait(Self.second, "inactive")
        try machine.must("loginctl", "lock-session", other.id)
        try machine.must("loginctl", "activate", other.id)
        try wait(Self.front, "inactive")
        #expect(try state(Self.second) == "inactive")
      }
    }

    @Test("A program is at the seat of its login session: the user's graphical one, or another")
    func seats() throws {
      try scene {
        func seat(_ id: String) throws -> String {
          try wait(id, "active")
          let status = try machine.must("taskctl", "status", id).text
          return status.split(separator: "Seat: ").dropFirst().first.map {
            String($0.prefix { $0 != "\n" })
          } ?? status
        }
        let run = "exec taskctl run --id \"$0\" -- sleep 1000"
        _ = try logIn(InstalledMachine.tester, "sh", "-c", run, "org.example.graphical")
        #expect(try seat("org.example.graphical") == "user-3001/org.example.graphical")
        let ssh = try logIn(
          InstalledMachine.tester, seat: "", type: "tty", "sh", "-c", run, "org.example.ssh")
        #expect(try seat("org.example.ssh") == "session-\(ssh.id)/org.example.ssh")
        // A lock of the graphical session reaches the programs in it, and no others.
        try machine.must("loginctl", "lock-sessions")
        try wait("org.example.graphical", "inactive")
        #expect(try state("org.example.ssh") == "active")
      }
    }

    @Test("A user's own daemon knows the locks of its user's sessions only")
    func ownDaemon() throws {
      try scene {
        let user = InstalledMachine.tester
        let session = try logIn(user)
        let other = try logIn(InstalledMachine.other, seat: "")
        let id = "org.example.own"
        try machine.must(
          "sh", "-c",
          """
          cd && mkdir -p .config/taskschedd/applications
          echo "$1" > .config/taskschedd/applications/\(id).toml
          """, "sh", "id = \"\(id)\"\ncommand = ['sleep', '1000']", as: user)
        try machine.must("systemctl", "--user", "start", "taskschedd.service", as: user)
        defer {
          _ = try? machine.run("systemctl", "stop", "user@\(user).service")
        }
        func waitFor(_ state: String) throws {
          try installed.wait(for: id, toBe: state, options: ["--user"], as: user)
        }
        try machine.must("taskctl", "launch", "--user", id, as: user)
        try waitFor("active")
        let summary = try machine.must("taskctl", "status", "--user", as: user).text
        #expect(summary.contains("session \(session.id)"), "\(summary)")
        #expect(!summary.contains("session \(other.id)"), "\(summary)")
        try machine.must("loginctl", "lock-session", session.id, as: user)
        try waitFor("inactive")
        try machine.must("loginctl", "unlock-session", session.id, as: user)
        try waitFor("active")
      }
    }
  }
}

/// A session of a user, opened through PAM by a service of the machine.
private struct LoginSession {
  /// The id of the session in logind.
  let id: String
  private let machine: Machine
  private let unit: String
  private let process: TestProcess

  /// Opens the session.
  ///
  /// - Parameter command: the program of the session; by default one that only waits.
  init(
    _ machine: Machine, _ user: UInt32, seat: String, type: String, _ command: [String]
  ) throws {
    self.machine = machine
    unit = "test-session-\(user)-\(seat)\(type).service"
    let script = "echo $XDG_SESSION_ID; exec \"$@\""
    process = try machine.start(
      [
        "systemd-run", "--quiet", "--pipe", "--collect", "--unit=\(unit)", "--uid=\(user)",
        "-p", "PAMName=login", "-E", "XDG_SEAT=\(seat)", "-E", "XDG_SESSION_TYPE=\(type)",
        "-E", "XDG_SESSION_CLASS=user", "sh", "-c", script, "sh",
      ] + (command.isEmpty ? ["sleep", "1000"] : command))
    id = try #require(try process.readLine())
    try #require(!id.isEmpty, "PAM opened no session")
  }

  func setLockedHint(_ isLocked: Bool) throws {
    try machine.must(
      "busctl", "call", "org.freedesktop.login1", try path(), "org.freedesktop.login1.Session",
      "SetLockedHint", "b", "\(isLocked)")
  }

  func isLocked() throws -> Bool {
    try machine.must("loginctl", "show-session", id, "--value", "-p", "LockedHint").text == "yes\n"
  }

  func logOut() throws { try machine.must("systemctl", "stop", unit) }

  private func path() throws -> String {
    let reply = try machine.must(
      "busctl", "call", "org.freedesktop.login1", "/org/freedesktop/login1",
      "org.freedesktop.login1.Manager", "GetSession", "s", id
    ).text
    return reply.split(separator: "\"").dropFirst().first.map(String.init) ?? reply
  }
}
