import LinuxSystem
import TestSupport
import Testing

extension SystemdTests {
  /// The units that connect the daemon's sandbox, which has no network, to a real gpsd.
  @Suite(
    "§17 gpsd, with real units",
    .enabled(if: GPSDService.missing == nil, Comment(rawValue: GPSDService.missing ?? "possible")))
  struct GPSD {
    private static let path = "/run/taskschedd/gpsd"
    let installed: InstalledMachine
    var machine: Machine { installed.machine }

    init() throws {
      installed = try InstalledMachine()
      // A proxy that an earlier test started would still use the socket.
      _ = try machine.run("systemctl", "stop", "taskschedd-gpsd.socket", "taskschedd-gpsd.service")
    }

    /// Connects to the socket, and returns the first line of gpsd, or the name of the error.
    private func greeting(as user: UInt32? = nil) throws -> String {
      let program = """
        import socket, sys
        client = socket.socket(socket.AF_UNIX)
        try:
            client.connect(sys.argv[1])
            print(client.makefile().readline().strip())
        except OSError as error:
            print(type(error).__name__)
        """
      return try machine.must("python3", "-I", "-c", program, Self.path, as: user).text
    }

    /// Returns the availability of gpsd that the daemon reports, such as `[True]`.
    private func isAvailable() throws -> String {
      let program = """
        import json, socket
        client = socket.socket(socket.AF_UNIX)
        client.connect("/run/taskschedd/socket")
        client.sendall(b'{"method":"org.taskschedd.Control.GetLocation"}\\0')
        answer = b""
        while not answer.endswith(b"\\0"):
            answer += client.recv(65536)
        sources = json.loads(answer[:-1])["parameters"]["sources"]
        print([source["available"] for source in sources if source["name"] == "gpsd"])
        """
      return try machine.must("python3", "-I", "-c", program).text
    }

    @Test("systemd opens a socket for the daemon only, and a proxy connects it to gpsd")
    func proxy() throws {
      try machine.must("systemctl", "start", "taskschedd.service")
      let status = try machine.must("stat", "-c", "%a %U %F", Self.path)
      #expect(status.text == "600 root socket\n")
      #expect(try isAvailable() == "[True]\n")
      #expect(try greeting(as: InstalledMachine.other) == "PermissionError\n")
      // Without gpsd, the proxy closes the connection.
      #expect(["\n", "ConnectionResetError\n"].contains(try greeting()))
      let gpsd = try machine.start([
        "/usr/sbin/gpsd", "-N", "-n", "-F", "/run/test-gpsd", "udp://127.0.0.1:29470",
      ])
      let end = BootClock.now() + UInt64(deadline.components.seconds) * 1_000_000_000
      while try !greeting().hasPrefix(#"{"class":"VERSION""#) {
        try #require(BootClock.now() < end, "gpsd does not answer")
      }
      withExtendedLifetime(gpsd) {}
    }

    @Test("The socket disappears together with the daemon")
    func stops() throws {
      try machine.must("systemctl", "start", "taskschedd.service")
      try machine.must("test", "-S", Self.path)
      try machine.must("systemctl", "stop", "taskschedd.service", "taskschedd.socket")
      let end = BootClock.now() + UInt64(deadline.components.seconds) * 1_000_000_000
      while try machine.run("test", "-e", Self.path).code == 0 {
        try #require(BootClock.now() < end, "the socket stays")
      }
    }

    @Test("Without gpsd, the socket does not exist, and gpsd is not available")
    func withoutGPSD() throws {
      try installed.write(
        "/run/systemd/system/taskschedd-gpsd.socket.d/test.conf",
        "[Unit]\nConditionPathExists=/no-such-file")
      try machine.must("systemctl", "daemon-reload")
      defer {
        _ = try? machine.run("rm", "-r", "/run/systemd/system/taskschedd-gpsd.socket.d")
        _ = try? machine.run("systemctl", "daemon-reload")
      }
      try machine.must("systemctl", "start", "taskschedd.service")
      #expect(try machine.run("test", "-e", Self.path).code == 1)
      #expect(try isAvailable() == "[False]\n")
    }
  }
}
