import Dispatch
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire
import TestSupport

/// A directory with a stand-in that listens in it, and the applications that registered with it.
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

  /// Done within `application(_:socketReady:conditions:)`.
  private let onSocketReady: @Sendable (ScheduledApplication, ManagedSocket) -> Void

  init(
    onBackground: @escaping @Sendable (ScheduledApplication) -> Void = { _ in },
    onSocketReady: @escaping @Sendable (ScheduledApplication, ManagedSocket) -> Void = { _, _ in }
  ) {
    self.onBackground = onBackground
    self.onSocketReady = onSocketReady
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
  func application(
    _ application: ScheduledApplication, socketReady socket: ManagedSocket,
    conditions: SocketConditions
  ) {
    onSocketReady(application, socket)
    note("ready \(socket.fileDescriptor) \(conditions.words)")
  }
  func application(
    _ application: ScheduledApplication, systemDidChange changes: [SystemChange]
  ) {
    note("changed \(changes.map { "\($0)" }.joined(separator: " "))")
  }
  func applicationDidReceiveMemoryWarning(_ application: ScheduledApplication) {
    note("memory warning")
  }
  func application(
    _ application: ScheduledApplication, didReceive notification: LocalNotification
  ) {
    note("received \(notification.id) \(notification.content.title)")
  }
  func application(_ application: ScheduledApplication, didChoose notification: LocalNotification) {
    note("chosen \(notification.id) \(notification.content.title)")
  }
  func applicationDidLoseKeepAlive(_ application: ScheduledApplication, error: ApplicationError) {
    note("lost keep-alive: \(error)")
  }
  func applicationDidLoseRegistration(
    _ application: ScheduledApplication, error: ApplicationError
  ) {
    note("lost registration: \(error)")
  }
}

extension SocketConditions {
  /// In a fixed order.
  fileprivate var words: String {
    let all: [(SocketConditions, String)] = [
      (.data, "data"), (.urgentData, "urgent"), (.hangUp, "hangUp"), (.error, "error"),
      (.unwatched, "unwatched"), (.lost, "lost"),
    ]
    return all.filter { contains($0.0) }.map(\.1).joined(separator: "+")
  }
}

extension Fixture {
  /// The daemon is gone and one comes back that knows what this one did, with a change.
  func restartDaemon(
    _ change: (inout StandInDaemon.Memory) -> Void = { _ in }
  ) throws -> StandInDaemon {
    var memory = daemon.stop()
    change(&memory)
    let daemon = try StandInDaemon(at: daemon.path, memory: memory)
    try daemon.waitForStream()
    return daemon
  }

  /// The daemon is gone and one comes back that knows nothing, and launches the process anew.
  func replaceDaemon(instance: Int) throws -> StandInDaemon {
    let daemon = try restartDaemon { $0 = StandInDaemon.Memory(instance: instance) }
    daemon.send(.didFinishLaunching, reason: .user)
    return daemon
  }

  /// As after the start of every application.
  func launch() throws {
    daemon.send(.didFinishLaunching, reason: .user)
    try daemon.waitForAcknowledgement()
  }
}
