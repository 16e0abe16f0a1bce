import Dispatch
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire
import TestSupport

/// A folder with a stand-in that listens in it, and the applications that registered with it.
final class Fixture: Sendable {
  let folder = TemporaryDirectory()
  let daemon: StandInDaemon
  let application: ScheduledApplication
  let recorder = Recorder()

  var socketPath: SocketPath { SocketPath(daemon.path) }

  /// Registers `org.example.test` with a delegate that records.
  init(
    memory: StandInDaemon.Memory = .init(), recorder: Recorder? = nil,
    queue: DispatchQueue? = nil
  ) throws {
    daemon = try StandInDaemon(at: folder.file("socket"), memory: memory)
    application = try ScheduledApplication.register(
      "org.example.test", delegate: recorder ?? self.recorder, queue: queue,
      at: SocketPath(daemon.path))
    try daemon.waitForStream()
  }

  deinit {
    application.close()
    daemon.stop()
  }
}

extension StandInDaemon {
  func waitForStream() throws {
    try state.wait("the event stream is open") { $0.stream != nil }
  }

  /// Waits until nothing sent waits for its acknowledgement.
  func waitForAcknowledgement() throws {
    try state.wait("the callback is acknowledged") { $0.memory.callback == nil }
  }
}

/// A delegate that writes down what it is told.
final class Recorder: ApplicationDelegate {
  let log = Watched<[String]>([])
  /// Done within `applicationDidEnterBackground`.
  private let onBackground: @Sendable (ScheduledApplication) -> Void

  init(onBackground: @escaping @Sendable (ScheduledApplication) -> Void = { _ in }) {
    self.onBackground = onBackground
  }

  func note(_ line: String) { log.update { $0.append(line) } }

  @discardableResult
  func wait(for count: Int) throws -> [String] {
    try log.wait("\(count) lines") { $0.count >= count }
  }

  func applicationDidFinishLaunching(_ application: ScheduledApplication, reason: LaunchReason) {
    note("didFinishLaunching \(reason.rawValue)")
  }
  func applicationDidBecomeActive(_ application: ScheduledApplication) { note("didBecomeActive") }
  func applicationWillResignActive(_ application: ScheduledApplication) {
    note("willResignActive")
  }
  func applicationDidEnterBackground(_ application: ScheduledApplication) {
    onBackground(application)
    note("didEnterBackground")
  }
  func applicationWillEnterForeground(_ application: ScheduledApplication) {
    note("willEnterForeground")
  }
  func applicationWillTerminate(_ application: ScheduledApplication) { note("willTerminate") }
  func applicationDidLoseBackgroundTasks(
    _ application: ScheduledApplication, tasks: [BackgroundTaskID]
  ) {
    note("lost \(tasks.map(\.description).joined(separator: " "))")
  }
  func applicationDidLoseRegistration(
    _ application: ScheduledApplication, error: ApplicationError
  ) {
    note("lost registration: \(error)")
  }
}
