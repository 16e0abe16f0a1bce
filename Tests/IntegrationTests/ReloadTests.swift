import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@Suite("A reload that contains a mistake keeps the previous configuration")
struct ReloadTests {
  private func setting(_ daemon: DaemonFixture, _ name: String) throws -> String? {
    try daemon.call(ControlInterface.GetSettings.self, .init()).settings.first {
      $0.name.hasSuffix(name)
    }?.value
  }

  @Test("Control.Reload names file, line and key of each mistake, or applies the new limits")
  func reload() throws {
    let daemon = try DaemonFixture(.init(policy: [("MaxTasksPerApplication", "5")]))
    let file = daemon.folder.file("taskschedd.toml")
    daemon.folder.write("taskschedd.toml", "[policy]\nMaxTasksPerApplication = \"many\"\n")
    do {
      try daemon.call(ControlInterface.Reload.self, .init())
      Issue.record("a mistake was accepted")
    } catch ControlInterface.Failure.invalidConfiguration(let problems) {
      #expect(problems.count == 1)
      #expect(problems.first?.hasPrefix("\(file):2: policy.MaxTasksPerApplication: ") == true)
    }
    #expect(try setting(daemon, "MaxTasksPerApplication") == "5")
    daemon.folder.write("taskschedd.toml", "[policy]\nMaxTasksPerApplication = 2\n")
    try daemon.call(ControlInterface.Reload.self, .init())
    #expect(try setting(daemon, "MaxTasksPerApplication") == "2")
    let application = try TestApplication(daemon, "org.test.mail")
    try application.registered()
    _ = try (0..<2).map { _ in try application.begin() }
    #expect(try application.call("BeginBackgroundTask").errorName == "QuotaExceeded")
  }

  @Test("SIGHUP with a mistake keeps the previous configuration, and the log names the mistake")
  func hangUp() throws {
    let daemon = try DaemonFixture(.init(policy: [("MaxTasksPerApplication", "5")]))
    daemon.folder.write("taskschedd.toml", "[policy]\nMaxTasks = 5\n")
    _ = try daemon.process.send(signal: SIGHUP)
    try waitUntil("the log names the mistake") {
      daemon.logged.contains("the previous one stays effective")
    }
    #expect(daemon.logged.contains("taskschedd.toml:2: policy.MaxTasks"))
    #expect(try setting(daemon, "MaxTasksPerApplication") == "5")
    daemon.folder.write("taskschedd.toml", "[policy]\nMaxTasksPerApplication = 3\n")
    _ = try daemon.process.send(signal: SIGHUP)
    try waitUntil("the new limit is in force") {
      try setting(daemon, "MaxTasksPerApplication") == "3"
    }
  }

  @Test(
    "A program gets its manifest's environment and directory; a failed launch leaves notRunning")
  func launch() throws {
    let good = """
      command = ["/bin/sh", "-c", "echo $COLOUR $PWD $TASKSCHEDD_APPLICATION $(id -u); exit 0"]
      working-directory = "/usr"
      [environment]
      COLOUR = "green"
      """
    let daemon = try DaemonFixture(
      .init(manifests: [
        ("org.test.good", good), ("org.test.bad", "command = [\"/nowhere/program\"]"),
      ]))
    let monitor = try Monitor(daemon)
    try daemon.launch("org.test.good")
    #expect(try monitor.end("org.test.good") == "exited")
    #expect(daemon.logged.contains("green /usr org.test.good \(geteuid())"))
    #expect(throws: ControlInterface.Failure.self) { try daemon.launch("org.test.bad") }
    #expect(try daemon.application("org.test.bad").state == .notRunning)
  }
}
