import LinuxSystem
import TestSupport
import Testing

extension SystemdTests {
  /// Contract §19: the daemon keeps pictures in memory, even across its own restart.
  @Suite("The pictures of the application switcher in the descriptor store")
  struct Snapshots {
    private static let id = "org.example.client"
    private let installed: InstalledMachine
    private var machine: Machine { installed.machine }

    init() throws { installed = try InstalledMachine() }

    private func kill() throws {
      let before = try installed.property("MainPID")
      try machine.must("systemctl", "kill", "-s", "KILL", "--kill-who=main", "taskschedd.service")
      try machine.must("taskctl", "list")
      #expect(try installed.property("MainPID") != before)
    }

    @Test(
      "A picture survives kill -9 and an upgrade; the store forgets one that nothing shows",
      arguments: ["kill", "restart"])
    func survives(_ way: String) throws {
      let client = try installed.startClient(Self.id)
      let done = "{\"parameters\":{}}"
      #expect(try installed.ask(client, "picture") == "none")
      let before = try storedCount()
      #expect(try installed.ask(client, "snapshot 1048576") == done)
      #expect(try installed.ask(client, "snapshot 700000") == done)
      for _ in 0..<2 {
        if way == "kill" {
          try kill()
        } else {
          try machine.must("systemctl", "restart", "taskschedd.service")
        }
        #expect(try installed.ask(client, "picture") == "700000")
      }
      #expect(try snapshot() == "picture")
      try waitForStored(before + 1)
      let removal = "call Control.RemoveFromSwitcher {\"application\":\"\(Self.id)\"}"
      // Does not wait for an answer: the application does not acknowledge its termination, so the
      // daemon kills it before the daemon answers.
      try client.writeLine(removal)
      try waitForStored(before, orLess: true)
      #expect(try snapshot() == "none")
    }

    @Test("A stop of the daemon deletes all pictures")
    func stop() throws {
      let client = try installed.startClient(Self.id)
      #expect(try installed.ask(client, "snapshot 1000") == "{\"parameters\":{}}")
      try machine.must("systemctl", "stop", "taskschedd.service")
      try machine.must("taskctl", "list")
      #expect(try snapshot() == "none")
    }

    /// Returns the kind of the application's snapshot.
    private func snapshot() throws -> String? {
      let status = try machine.must("taskctl", "status", Self.id, "--json").text
      return try status.firstMatch(of: Regex("\"snapshot\":\"([a-z]+)\""))?.output[1].substring
        .map { String($0) }
    }

    /// Returns the number of descriptors that systemd keeps for the daemon.
    private func storedCount() throws -> Int {
      Int(try installed.property("NFileDescriptorStore")) ?? -1
    }

    /// Waits until systemd keeps exactly the given number of descriptors for the daemon. With
    /// `orLess`, a smaller number also ends the wait.
    private func waitForStored(_ count: Int, orLess: Bool = false) throws {
      let end = BootClock.now() + 20_000_000_000
      while true {
        let stored = try storedCount()
        if stored == count || orLess && stored < count { return }
        try #require(BootClock.now() < end, "systemd keeps \(stored) descriptors, not \(count)")
      }
    }
  }
}
