import LinuxSystem
import TestSupport
import Testing

extension SystemdTests {
  /// The program of `Chaos/`, which boots a machine of its own. `make chaos` runs it for longer.
  @Suite("kill -9 while 200 clients work")
  struct Chaos {
    /// - Returns: its exit code and all that it said.
    private func run(_ arguments: String...) throws -> (code: Int32?, text: String) {
      let chaos = try TestProcess(
        "\(InstalledMachine.built)/chaos", ["chaos", "run"] + arguments)
      var text = ""
      while let line = try chaos.readLine(within: .seconds(240)) { text += line + "\n" }
      return (try chaos.waitForExit()?.shellCode, text)
    }

    @Test("§15: nothing acknowledged is forgotten, nothing early, nothing frozen, in 100 kills")
    func kills() throws {
      let (code, text) = try run("--kills", "100", "--clients", "200")
      #expect(code == 0, "\(text)")
      // For whoever reads CI's log: the time of the longest restart.
      print(text)
    }

    @Test("a daemon that forgets what it was told is found out")
    func forgetting() throws {
      let (code, text) = try run("--kills", "3", "--clients", "24", "--forget")
      #expect(code == 1, "\(text)")
      #expect(text.contains("is forgotten"), "\(text)")
    }

    @Test("without a kill, the clients find nothing")
    func control() throws {
      let (code, text) = try run("--kills", "0", "--clients", "24")
      #expect(code == 0, "\(text)")
    }
  }
}
