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

    @Test("§15: 100 kills lose nothing acknowledged, run nothing early and leave nothing frozen")
    func kills() throws {
      let (code, text) = try run("--kills", "100", "--clients", "200")
      #expect(code == 0, "\(text)")
      // The time of the longest restart, for the reader of CI's log.
      print(text)
    }

    @Test("The campaign detects a daemon that forgets an acknowledged request")
    func forgetting() throws {
      let (code, text) = try run("--kills", "3", "--clients", "24", "--forget")
      #expect(code == 1, "\(text)")
      #expect(text.contains("is forgotten"), "\(text)")
    }

    @Test("Without a kill, the clients find nothing")
    func control() throws {
      let (code, text) = try run("--kills", "0", "--clients", "24")
      #expect(code == 0, "\(text)")
    }
  }
}
