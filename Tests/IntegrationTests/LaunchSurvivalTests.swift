import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §8 and §15: the daemon dies during launches. One of the launched programs kills the
/// daemon at once, while the daemon starts or registers other programs.
@Suite("§8: Launches while the daemon dies")
struct LaunchSurvivalTests {
  private static let ids = (0..<8).map { "org.test.voip\($0)" }
  private static let policy = [
    ("LaunchTime", "100ms"), ("TerminateTimeout", "100ms"), ("RelaunchDelay", "100ms"),
  ]

  /// Returns the settings of a daemon that launches all programs at its start. Each program writes
  /// its pid to a file. The program with the index `killer` then kills the daemon, but not the next
  /// daemon.
  private func settings(_ folder: TemporaryDirectory, killer: Int) -> DaemonFixture.Settings {
    .init(
      policy: Self.policy,
      manifests: Self.ids.enumerated().map { index, id in
        let done = folder.file("killed")
        let kill = "[ -e \(done) ] || { : > \(done); kill -9 $PPID; }"
        return (
          id,
          """
          command = ["/bin/sh", "-c", '''
          echo $$ >> \(folder.file(id)); \(index == killer ? kill : ":"); exec sleep 1000''']
          background-modes = ["voip"]
          """
        )
      })
  }

  /// Returns the pids of all processes that any daemon has started for an application.
  private func started(_ id: String, in folder: TemporaryDirectory) throws -> [Int] {
    let file = try FileDescriptor.open(reading: folder.file(id))
    return String(decoding: try file.readToEnd(), as: UTF8.self).split(separator: "\n")
      .compactMap { Int($0) }
  }

  @Test(
      """
      §15: After kill -9 during launches, the next daemon manages all launched programs, and \
      starts no program twice
      """,
    arguments: 0..<8)
  func killedWhileLaunching(_ killer: Int) throws {
    let folder = TemporaryDirectory()
    let settings = settings(folder, killer: killer)
    let first = try DaemonFixture(settings, dies: true)
    let daemon = try DaemonFixture(settings, after: first)
    let monitor = try Monitor(daemon)
    var pids: [Int] = []
    for id in Self.ids {
      while try daemon.application(id).state != .suspended {
        try monitor.transition(id, to: .suspended)
      }
      let pid = try #require(try daemon.application(id).instance).pid
      #expect(try started(id, in: folder) == [pid], "\(id) is started once")
      #expect(try daemon.state(of: Int32(pid)) == .stopped)
      pids.append(pid)
    }
    #expect(try daemon.programs().sorted() == pids.map { Int32($0) }.sorted())
    #expect(!daemon.logged.contains("the launch failed"))
    for id in Self.ids {
      #expect(try daemon.terminate(id).reason == .terminatedByOperator)
    }
    #expect(try daemon.programs() == [])
  }
}
