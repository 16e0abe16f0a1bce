import Glibc
import LinuxSystem
import TestSupport

/// The session agents of a test. They end with the test.
final class SessionAgents {
  private var agents: [TestProcess] = []
  private let runtime = TemporaryDirectory(mode: 0o755)

  /// Starts a session agent on a session bus, and waits until it has attached to the daemon.
  ///
  /// - Parameters:
  ///   - address: the address of the session bus, which need not exist yet.
  ///   - systemBus: the address of the system bus; nil for none.
  ///   - runtime: the directory of the session's sockets; nil for an empty directory.
  ///   - uid: the user of the session; nil for the user of the test.
  @discardableResult
  func start(
    _ daemon: DaemonFixture, bus address: String, systemBus: String? = nil,
    runtime: String? = nil, uid: UInt32? = nil
  ) throws -> TestProcess {
    let agent = try TestProcess(
      Programs.path(of: "taskschedd-session"),
      ["taskschedd-session", "--socket", daemon.socketPath]
    ) {
      $0.environment = [
        "PATH=/usr/bin:/bin", SystemString("HOME=\(runtime ?? self.runtime.path)"),
        SystemString("XDG_RUNTIME_DIR=\(runtime ?? self.runtime.path)"),
        SystemString("DBUS_SESSION_BUS_ADDRESS=\(address)"),
        SystemString(
          "DBUS_SYSTEM_BUS_ADDRESS=\(systemBus ?? "unix:path=\(self.runtime.file("none"))")"),
      ]
      $0.stdio.error = $0.stdio.output
      if let uid { $0.identity = .init(uid: uid, gid: uid, groups: []) }
    }
    agents.append(agent)
    while let line = try agent.readLine() {
      if line.contains("attached to the daemon") { return agent }
    }
    throw SystemError(call: "starting taskschedd-session", errno: ECHILD)
  }

  /// Sends a signal to all agents.
  func send(_ signal: Int32) throws {
    for agent in agents { _ = try agent.pidfd.send(signal: signal) }
  }

  /// Ends all agents with a signal.
  func end(_ signal: Int32) throws {
    for agent in agents {
      _ = try agent.pidfd.send(signal: signal)
      _ = try agent.waitForExit()
    }
    agents = []
  }
}
