import LinuxSystem
import TestSupport
import Testing

extension SystemdTests {
  @Suite("A user's own service")
  struct UserService {
    static let user = InstalledMachine.tester
    static let application = "org.example.own"
    let installed: InstalledMachine
    var machine: Machine { installed.machine }

    init() throws {
      installed = try InstalledMachine()
      try machine.must("systemctl", "start", "user@\(Self.user).service")
      try machine.must(
        "sh", "-c",
        """
        cd && mkdir -p .config/taskschedd/applications
        echo "$1" > .config/taskschedd/applications/\(Self.application).toml
        """,
        "sh", "id = \"\(Self.application)\"\ncommand = ['sh', '-c', 'while :; do :; done']",
        as: Self.user)
      try machine.must("systemctl", "--user", "start", "taskschedd.socket", as: Self.user)
    }

    private var unit: ControlGroup {
      [
        "user.slice", "user-\(Self.user).slice", "user@\(Self.user).service", "app.slice",
        "taskschedd.service",
      ].reduce(machine.group) { $0.child($1) }
    }

    private var slice: ControlGroup {
      [
        "user.slice", "user-\(Self.user).slice", "user@\(Self.user).service", "app.slice",
        "app-taskschedd.slice",
      ].reduce(machine.group) { $0.child($1) }
    }

    private func stop() throws {
      try machine.must("systemctl", "stop", "user@\(Self.user).service")
    }

    @Test("The user's own socket starts the service, which needs no root")
    func activation() throws {
      defer { try? stop() }
      let socket = "/run/user/\(Self.user)/taskschedd/socket"
      #expect(try machine.must("stat", "-c", "%a %u", socket).text == "600 \(Self.user)\n")
      try machine.must("taskctl", "list", "--user", as: Self.user)
      let pid = try #require(try unit.processes(recursively: false).first)
      #expect(try uid(of: pid) == Self.user)
      let refused = try machine.run(
        "taskctl", "list", "--socket", socket, as: InstalledMachine.other)
      #expect(refused.code != 0)
      #expect(refused.text.contains("NotPermitted"))
    }

    @Test("§11 The service monitors its applications' memory pressure from its first start on")
    func pressure() throws {
      defer { try? stop() }
      let memory = try machine.must("taskctl", "memory", "--user", "--json", as: Self.user).text
      let heard = memory.split(separator: "\"heard\":[").dropFirst().first?.prefix { $0 != "]" }
      #expect(heard?.contains("\"slice\"") == true, "\(memory)")
    }

    @Test("The service launches that user's applications in units of their own, and freezes them")
    func suspension() throws {
      defer { try? stop() }
      try machine.must("taskctl", "launch", "--user", Self.application, as: Self.user)
      try machine.must("taskctl", "background", "--user", Self.application, as: Self.user)
      try installed.wait(
        for: Self.application, toBe: "suspended", options: ["--user"], as: Self.user)
      let group = try #require(
        try slice.children().first { $0.name.hasPrefix("app-taskschedd-\(Self.application)@") })
      #expect(try group.isFrozen())
      let process = try #require(try group.processes().first)
      #expect(try uid(of: process) == Self.user)
      let shown = try machine.must(
        "systemctl", "--user", "show", "--value", "-p", "SyslogIdentifier", group.name,
        as: Self.user)
      #expect(shown.text == Self.application + "\n")
      let used = try group.cpuMicroseconds()
      try machine.must("systemctl", "--user", "restart", "taskschedd.service", as: Self.user)
      try machine.must("taskctl", "list", "--user", as: Self.user)
      #expect(try group.cpuMicroseconds() == used, "§15: an upgrade resumes no application")
    }

    /// Returns the user of a process.
    private func uid(of pid: Int32) throws -> UInt32? {
      let status = String(
        decoding: try FileDescriptor.open(reading: "/proc/\(pid)/status").readToEnd(),
        as: UTF8.self)
      let line = status.split(separator: "\n").first { $0.hasPrefix("Uid:") }
      return line?.split(separator: "\t").dropFirst().first.flatMap { UInt32($0) }
    }
  }
}
