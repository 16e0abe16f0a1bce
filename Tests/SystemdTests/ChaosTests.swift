import LinuxSystem
import TestSupport
import Testing

extension SystemdTests {
  /// Runs the program of `Chaos/`, which boots a separate machine. `make chaos` runs it for longer.
  @Suite("kill -9 while 200 clients work")
  struct Chaos {
    /// Runs the program to its end.
    ///
    /// - Returns: the exit code and the complete output.
    private func run(
      _ command: String, _ arguments: String...
    ) throws -> (code: Int32?, text: String) {
      let chaos = try TestProcess(
        "\(InstalledMachine.built)/chaos", ["chaos", command] + arguments)
      var text = ""
      while let line = try chaos.readLine(within: .seconds(240)) { text += line + "\n" }
      return (try chaos.waitForExit()?.shellCode, text)
    }

    @Test(
      "§15: After 100 kills, no acknowledged request is lost, and no application stays suspended")
    func kills() throws {
      let (code, text) = try run("run", "--kills", "100", "--clients", "200")
      #expect(code == 0, "\(text)")
      // Shows the longest restart time in the log of CI.
      print(text)
    }

    @Test("The campaign detects a daemon that forgets an acknowledged request")
    func forgetting() throws {
      let (code, text) = try run("run", "--kills", "3", "--clients", "24", "--forget")
      #expect(code == 1, "\(text)")
      #expect(text.contains("is forgotten"), "\(text)")
    }

    @Test("Without a kill, the campaign has no findings")
    func control() throws {
      let (code, text) = try run("run", "--kills", "0", "--clients", "24")
      #expect(code == 0, "\(text)")
    }

    @Test(
      """
      §13, §20: After the deaths of the agent, the daemon, the audio server and the compositor, \
      states and mutes follow the focus
      """)
    func desktop() throws {
      let (code, text) = try run("desktop", "--kills", "8")
      #expect(code == 0, "\(text)")
      print(text)
    }

    @Test("The campaign of the desktop detects that no session agent reports the focus")
    func withoutAgent() throws {
      let (code, text) = try run("desktop", "--kills", "1", "--no-agent")
      #expect(code == 1, "\(text)")
      #expect(text.contains("is hidden, and is active"), "\(text)")
    }
  }
}
