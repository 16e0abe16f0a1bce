import Glibc
import LinuxSystem
import TestSupport
import Testing

extension SystemdTests {
  @Suite("The service's sandbox")
  struct Sandbox {
    let installed: InstalledMachine
    var machine: Machine { installed.machine }

    init() throws { installed = try InstalledMachine() }

    /// Returns the fields of /proc/PID/status.
    private func status(of pid: Int32) throws -> [String: String] {
      let text = String(
        decoding: try FileDescriptor.open(reading: "/proc/\(pid)/status").readToEnd(),
        as: UTF8.self)
      return text.split(separator: "\n").reduce(into: [:]) { fields, line in
        let parts = line.split(separator: ":", maxSplits: 1)
        if parts.count == 2 { fields[String(parts[0])] = String(parts[1].dropFirst()) }
      }
    }

    /// Starts a program of another user with `taskctl run`. A descendant of the program has left
    /// the process tree and the session.
    ///
    /// - Returns: The process of taskctl, and the pids of the program and the descendant inside the
    ///   machine.
    private func adopt() throws -> (program: TestProcess, child: String, orphan: String) {
      let program = try machine.start(
        [
          "taskctl", "run", "--id", "org.example.run", "--", "sh", "-c",
          """
          setsid sh -c 'sleep 1000 & echo $!'
          echo $$
          exec sleep 1000
          """,
        ], as: InstalledMachine.other)
      let orphan = try #require(try program.readLine())
      let child = try #require(try program.readLine())
      try installed.wait(for: "org.example.run", toBe: "active")
      return (program, child, orphan)
    }

    private func state(of pid: String) throws -> Character? {
      try machine.run("ps", "-o", "stat=", "-p", pid).text.first
    }

    @Test("The sandbox leaves the daemon the capabilities that its unit names, and no more")
    func capabilities() throws {
      try machine.must("systemctl", "start", "taskschedd.service")
      let daemon = try #require(try installed.unit.processes().first)
      let status = try status(of: daemon)
      // CAP_DAC_OVERRIDE (1), CAP_KILL (5), CAP_SYS_PTRACE (19), CAP_SYS_NICE (23),
      // CAP_SYS_RESOURCE (24), CAP_WAKE_ALARM (35). The machine's own PID 1 may lack one of them.
      let named: UInt64 = 1 << 1 | 1 << 5 | 1 << 19 | 1 << 23 | 1 << 24 | 1 << 35
      let had = try #require(
        try self.status(of: machine.pid)["CapBnd"].flatMap { UInt64($0, radix: 16) })
      for set in ["CapPrm", "CapEff", "CapBnd"] {
        #expect(status[set].flatMap { UInt64($0, radix: 16) } == named & had, "\(set)")
      }
      #expect(status["NoNewPrivs"] == "1")
      #expect(status["Seccomp"] == "2")
    }

    @Test("Applications do not inherit the sandbox, and have the rights of their user")
    func applications() throws {
      try installed.launch(InstalledMachine.frozen)
      let group = try #require(try installed.groups(of: InstalledMachine.frozen).first)
      let process = try #require(try group.processes().first)
      let status = try status(of: process)
      let manager = try self.status(of: machine.pid)
      #expect(status["NoNewPrivs"] == "0")
      #expect(status["Seccomp"] == "0")
      #expect(status["CapBnd"] == manager["CapBnd"])
      #expect(status["CapEff"]?.allSatisfy { $0 == "0" } == true)
      for space in ["mnt", "net", "user"] {
        var names: [String] = []
        for pid in [process, machine.pid] {
          names.append(
            try #require(SymbolicLink.target(of: "/proc/\(pid)/ns/\(space)"), "\(space)"))
        }
        #expect(names[0] == names[1], "\(space)")
      }
    }

    @Test("The sandbox allows suspending and ending another user's program, including orphans")
    func adopted() throws {
      try machine.must("systemctl", "start", "taskschedd.service")
      let (program, child, orphan) = try adopt()
      try machine.must("taskctl", "background", "org.example.run")
      try installed.wait(for: "org.example.run", toBe: "suspended")
      #expect(try state(of: child) == "T")
      #expect(try state(of: orphan) == "T")
      try machine.must("taskctl", "foreground", "org.example.run")
      #expect(try state(of: child) != "T")
      #expect(try state(of: orphan) != "T")
      try machine.must("taskctl", "background", "org.example.run")
      try installed.wait(for: "org.example.run", toBe: "suspended")
      try machine.must("taskctl", "terminate", "org.example.run")
      _ = try program.waitForExit()
      #expect(try state(of: child) == nil)
    }

    @Test(
      "Every capability of the unit is needed",
      arguments: ["CAP_KILL", "CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE", "CAP_SYS_NICE"])
    func missed(capability: String) throws {
      // Without CAP_SYS_PTRACE, ProtectProc= would hide the applications from the daemon.
      try installed.change("CapabilityBoundingSet=~\(capability)\nProtectProc=default")
      try machine.must("systemctl", "start", "taskschedd.service")
      if capability == "CAP_KILL" {
        // The daemon could neither stop nor end another user's program, so it refuses to adopt one.
        let refused = try machine.run(
          "taskctl", "run", "--id", "org.example.run", "--", "sleep", "1000",
          as: InstalledMachine.other)
        #expect(refused.code == 1)
        #expect(refused.text.contains("may stop and kill"), "\(refused.text)")
        return
      }
      let (program, child, orphan) = try adopt()
      defer {
        withExtendedLifetime(program) {}
        for pid in [child, orphan] { _ = try? machine.run("kill", "-KILL", pid) }
      }
      try machine.must("taskctl", "background", "org.example.run")
      if capability == "CAP_SYS_NICE" {
        try installed.wait(for: "org.example.run", toBe: "suspended")
        #expect(try machine.run("ps", "-o", "ni=", "-p", child).text == "  0\n")
        let status = try machine.must("taskctl", "status", "org.example.run").text
        #expect(
          status.contains("nice value unchanged: the daemon could not restore it"), "\(status)")
      } else {
        // Only the environment of the orphan shows that the orphan belongs to the application.
        // Without the capability, the daemon cannot read the environment of another user's process.
        try installed.wait(for: "org.example.run", toBe: "suspended")
        #expect(try state(of: child) == "T")
        #expect(try state(of: orphan) != "T")
      }
    }

    @Test("The sandbox allows lowering another user's real-time program, and restoring it")
    func priorities() throws {
      try machine.must("systemctl", "start", "taskschedd.service")
      let (program, child, orphan) = try adopt()
      defer { withExtendedLifetime(program) {} }
      try machine.must("chrt", "--fifo", "--pid", "3", child)
      func facts() throws -> String {
        let pids = [child, orphan]
        let scores = try pids.map { try machine.run("cat", "/proc/\($0)/oom_score_adj").text }
        let io = try pids.map { try machine.run("ionice", "-p", $0).text }
        let rest = try machine.run("ps", "-o", "pid=,cls=,ni=,rtprio=", "-p", "\(child),\(orphan)")
        return (scores + io + [rest.text]).joined()
      }
      let before = try facts()
      #expect(before.contains("FF"))
      try machine.must("taskctl", "background", "org.example.run")
      try installed.wait(for: "org.example.run", toBe: "suspended")
      let lowered = try facts()
      #expect(!lowered.contains("FF"))
      #expect(lowered.contains("900") && lowered.contains(" 15 "), "\(lowered)")
      try machine.must("taskctl", "foreground", "org.example.run")
      try installed.wait(for: "org.example.run", toBe: "active")
      #expect(try facts() == before)
      try machine.must("taskctl", "terminate", "org.example.run")
    }

    /// Verifies a comment in the daemon's unit, which says why CAP_DAC_READ_SEARCH is not enough.
    @Test("CAP_DAC_READ_SEARCH is not enough to set oom_score_adj of a suspended application")
    func reading() throws {
      try installed.change(
        """
        CapabilityBoundingSet=~CAP_DAC_OVERRIDE
        CapabilityBoundingSet=CAP_DAC_READ_SEARCH
        """)
      try machine.must("systemctl", "start", "taskschedd.service")
      let (program, child, orphan) = try adopt()
      defer { withExtendedLifetime(program) {} }
      try machine.must("taskctl", "background", "org.example.run")
      try installed.wait(for: "org.example.run", toBe: "suspended")
      #expect(try state(of: orphan) == "T")
      #expect(try machine.run("cat", "/proc/\(child)/oom_score_adj").text == "0\n")
      let status = try machine.must("taskctl", "status", "org.example.run").text
      #expect(status.contains("out-of-memory score unchanged:"), "\(status)")
      try machine.must("taskctl", "terminate", "org.example.run")
    }

    @Test("The sandbox does not hide a lock on a shared file in a user's home")
    func homesLocked() throws {
      try machine.must(
        "sh", "-c",
        "mkdir -p /home/tester; chmod 755 /home/tester; cd /home/tester; >a.db; chmod 666 a.db")
      try installed.write(
        "/etc/taskschedd/taskschedd.toml", "[policy]\nSharedResources = [\"/home/tester/a.db\"]")
      try machine.must("systemctl", "start", "taskschedd.service")
      let program = try machine.start(
        [
          "taskctl", "run", "--id", "org.example.run", "--", "flock", "/home/tester/a.db",
          "sh", "-c", "echo locked; exec sleep 1000",
        ], as: InstalledMachine.other)
      #expect(try program.readLine() == "locked")
      try machine.must("taskctl", "background", "org.example.run")
      try installed.waitForJournal(
        "held a lock on \"/home/tester/a.db\"", "it held a lock on \"/home/tester/a.db\"")
      _ = try program.waitForExit()
    }

    @Test("Applications can register and acknowledge their callbacks")
    func registers() throws {
      try installed.write(
        "/etc/taskschedd/applications/org.example.uploader.toml",
        """
        id = "org.example.uploader"
        command = ["python3", "-u", "/usr/share/doc/taskschedd/examples/uploader.py", "/dev/null"]
        user = "tester"
        """)
      defer {
        _ = try? machine.run("rm", "/etc/taskschedd/applications/org.example.uploader.toml")
      }
      try machine.must("taskctl", "launch", "org.example.uploader")
      let output = try installed.output(of: "org.example.uploader")
      while let line = try output.readLine(), !line.contains("didBecomeActive") {}
      try machine.must("taskctl", "background", "org.example.uploader")
      while let line = try output.readLine(), !line.contains("task 1 granted") {}
      try machine.must("taskctl", "terminate", "org.example.uploader")
      while let line = try output.readLine(), !line.contains("willTerminate") {}
    }

    @Test("The daemon reports changes of the machine's network, although its own is empty")
    func network() throws {
      let client = try installed.startClient("org.example.client")
      let daemon = try installed.property("MainPID")
      let own = try machine.must("readlink", "/proc/\(daemon)/ns/net").text
      #expect(try own != machine.must("readlink", "/proc/1/ns/net").text)
      try machine.must(
        "sh", "-c",
        """
        ip link add near type veth peer name far
        ip link set far up
        ip link set near up
        ip address add 192.0.2.2/24 dev near
        ip route add default via 192.0.2.1
        """)
      defer { _ = try? machine.run("ip", "link", "delete", "near") }
      var event = ""
      repeat {
        event = try installed.ask(client, "event")
      } while !event.contains("\"network\"") && event != "it ended"
      #expect(event.contains("\"online\""), "\(event)")
    }

    @Test("The kernel reports the machine's listening sockets, so no program can forge one")
    func listeners() throws {
      let program = try machine.start(
        [
          "taskctl", "run", "--id", "org.example.server", "--", "python3", "-I", "-u", "-c",
          """
          import os, socket, time
          server = socket.socket()
          server.bind(("127.0.0.1", 8080))
          server.listen()
          quiet = socket.socket(socket.AF_UNIX)
          quiet.bind("\\0quiet")
          forging = socket.socket(socket.AF_UNIX)
          inode = os.fstat(quiet.fileno()).st_ino
          forging.bind("\\0a\\n0: 00000002 00000000 00010000 0001 01 %d /run/forged\\n" % inode)
          print("listens")
          time.sleep(1000)
          """,
        ], as: InstalledMachine.other)
      #expect(try program.readLine() == "listens")
      try machine.must("taskctl", "background", "org.example.server")
      try installed.waitForJournal("listens on 127.0.0.1:8080 while it is suspended")
      try machine.must("taskctl", "terminate", "org.example.server")
      _ = try program.waitForExit()
    }

    @Test("The sandbox shows the daemon no file of a user")
    func homes() throws {
      try machine.must("sh", "-c", "mkdir -p /home/tester; touch /home/tester/secret /root/secret")
      try machine.must("systemctl", "start", "taskschedd.service")
      let daemon = try installed.property("MainPID")
      for folder in ["/home", "/root"] {
        let seen = try machine.must("nsenter", "-t", daemon, "-m", "ls", "-A", folder).text
        #expect(seen.isEmpty, "\(folder): \(seen)")
      }
    }

    @Test("The sandbox lets the daemon write only in its directories and its applications' groups")
    func writing() throws {
      try machine.must("systemctl", "start", "taskschedd.service")
      let daemon = try installed.property("MainPID")
      // Writes a file in the daemon's mount namespace. The writing process has all capabilities, so
      // only the mounts can forbid the write.
      func write(_ path: String) throws -> Bool {
        try machine.run("nsenter", "-t", daemon, "-m", "sh", "-c", ": > \"$1\"", "sh", path).code
          == 0
      }
      #expect(try write("/run/taskschedd/test"))
      try machine.must("rm", "/run/taskschedd/test")
      #expect(try write("/sys/fs/cgroup/taskschedd.slice/cgroup.freeze"))
      for path in [
        "/etc/test", "/usr/test", "/var/test", "/run/test", "/root/test", "/home/test", "/test",
      ] {
        let isWritten = try write(path)
        #expect(!isWritten, "\(path)")
      }
      #expect(try !write("/sys/fs/cgroup/system.slice/cgroup.freeze"))
    }
  }
}

/// Reads symbolic links.
private enum SymbolicLink {
  static func target(of path: String) -> String? {
    var bytes = [CChar](repeating: 0, count: 4096)
    let count = readlink(path, &bytes, bytes.count)
    guard count > 0 else { return nil }
    return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
