import Dispatch
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire
import TestSupport

/// A stand-in for the daemon, and an application that has registered with it.
final class Fixture: Sendable {
  let directory = TemporaryDirectory()
  let daemon: StandInDaemon
  let application: ScheduledApplication
  let recorder = Recorder()

  var socketPath: SocketPath { SocketPath(daemon.path) }

  /// Registers `org.example.test` with a delegate that records its calls.
  init(
    memory: StandInDaemon.Memory = .init(), recorder: Recorder? = nil,
    queue: DispatchQueue? = nil
  ) throws {
    daemon = try StandInDaemon(at: directory.file("socket"), memory: memory)
    application = try ScheduledApplication.registerAndWait(
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

  /// Waits until the last callback is acknowledged.
  func waitForAcknowledgement() throws {
    try state.wait("the callback is acknowledged") { $0.memory.callback == nil }
  }
}

extension StandInDaemon.Memory {
  /// The state of a third daemon that does not know the process. This daemon numbers its callbacks
  /// from 11.
  ///
  /// If the second daemon did not answer an acknowledgement, the library may send it again to the
  /// third daemon. Its number must not match a callback of the third daemon.
  static var ofThird: Self {
    var memory = Self(instance: 9)
    memory.callbackLast = 10
    return memory
  }
}

/// A point at which a test can hold a handler of the application.
final class Gate: Sendable {
  private let entered = DispatchSemaphore(value: 0)
  private let mayLeave = DispatchSemaphore(value: 0)

  /// Holds the handler until the test opens the gate.
  func pass() {
    entered.signal()
    mayLeave.wait()
  }

  /// Waits until the handler is at the gate.
  func waitForHandler() { entered.wait() }

  func open() { mayLeave.signal() }
}

/// A delegate that records the calls of its methods.
final class Recorder: ApplicationDelegate {
  let log = Watched<[String]>([])
  /// Runs during `applicationDidEnterBackground(_:)`.
  private let onBackground: @Sendable (ScheduledApplication) -> Void

  /// Runs during `application(_:socketDidBecomeReady:conditions:)`.
  private let onSocketReady: @Sendable (ScheduledApplication, ManagedSocket) -> Void

  /// Runs during `application(_:didReceiveRemoteCommand:)`.
  private let onCommand: @Sendable (RemoteCommand) -> Void

  /// Runs during `application(_:didReceiveAudioInterruption:)`.
  private let onInterruption: @Sendable (AudioInterruption) -> Void

  /// Runs during the delegate's methods for significant location changes and region crossings.
  private let onMove: @Sendable () -> Void

  init(
    onBackground: @escaping @Sendable (ScheduledApplication) -> Void = { _ in },
    onCommand: @escaping @Sendable (RemoteCommand) -> Void = { _ in },
    onInterruption: @escaping @Sendable (AudioInterruption) -> Void = { _ in },
    onMove: @escaping @Sendable () -> Void = {},
    onSocketReady: @escaping @Sendable (ScheduledApplication, ManagedSocket) -> Void = { _, _ in }
  ) {
    self.onBackground = onBackground
    self.onSocketReady = onSocketReady
    self.onCommand = onCommand
    self.onInterruption = onInterruption
    self.onMove = onMove
  }

  func note(_ line: String) { log.update { $0.append(line) } }

  @discardableResult
  func wait(for count: Int) throws -> [String] {
    try log.wait("\(count) lines") { $0.count >= count }
  }

  func application(
    _ application: ScheduledApplication, didFinishLaunchingWithReason reason: LaunchReason
  ) {
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
  func application(
    _ application: ScheduledApplication, didLoseBackgroundTasks tasks: [BackgroundTaskID]
  ) {
    note("lost \(tasks.map(\.description).joined(separator: " "))")
  }
  func application(
    _ application: ScheduledApplication, socketDidBecomeReady socket: ManagedSocket,
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
  func application(
    _ application: ScheduledApplication, didReceiveRemoteCommand command: RemoteCommand
  ) {
    onCommand(command)
    note("command \(command)")
  }
  func application(
    _ application: ScheduledApplication,
    didReceiveAudioInterruption interruption: AudioInterruption
  ) {
    onInterruption(interruption)
    note("interruption \(interruption)")
  }
  func application(_ application: ScheduledApplication, didSetCallOnHold isOnHold: Bool) {
    note("on hold \(isOnHold)")
  }
  func application(_ application: ScheduledApplication, didUpdateLocation location: Location) {
    note("at \(location.words)")
  }
  func application(
    _ application: ScheduledApplication, didChangeLocationSignificantly location: Location
  ) {
    onMove()
    note("moved to \(location.words)")
  }
  func application(
    _ application: ScheduledApplication, didEnterRegion crossing: RegionCrossing
  ) {
    onMove()
    note("entered \(crossing.identifier) at \(crossing.location.words)")
  }
  func application(
    _ application: ScheduledApplication, didExitRegion crossing: RegionCrossing
  ) {
    onMove()
    note("left \(crossing.identifier) at \(crossing.location.words)")
  }
  func application(
    _ application: ScheduledApplication,
    didChangeLocationAuthorization authorization: LocationAuthorization
  ) {
    note("location \(authorization.rawValue)")
  }
  func application(
    _ application: ScheduledApplication, didLoseLocationUpdatesWithError error: ApplicationError
  ) {
    note("lost location updates: \(error)")
  }
  func applicationDidReceiveMemoryWarning(_ application: ScheduledApplication) {
    note("memory warning")
  }
  func application(
    _ application: ScheduledApplication, didReceive notification: LocalNotification
  ) {
    note("received \(notification.id) \(notification.content.title)")
  }
  func application(_ application: ScheduledApplication, didSelect notification: LocalNotification) {
    note("selected \(notification.id) \(notification.content.title)")
  }
  func application(
    _ application: ScheduledApplication, didLoseKeepAliveWithError error: ApplicationError
  ) {
    note("lost keep-alive: \(error)")
  }
  func application(
    _ application: ScheduledApplication, didLoseRegistrationWithError error: ApplicationError
  ) {
    note("lost registration: \(error)")
  }
}

extension Location {
  /// The latitude and the longitude.
  fileprivate var words: String { "\(coordinate.latitude) \(coordinate.longitude)" }
}

extension SocketConditions {
  /// The conditions as words, always in the same order.
  fileprivate var words: String {
    let all: [(SocketConditions, String)] = [
      (.data, "data"), (.urgentData, "urgent"), (.hangUp, "hangUp"), (.error, "error"),
      (.unwatched, "unwatched"), (.lost, "lost"),
    ]
    return all.filter { contains($0.0) }.map(\.1).joined(separator: "+")
  }
}

extension Fixture {
  /// Replaces the daemon by another one. The new daemon has the state of the old one, changed by
  /// `change`.
  func restartDaemon(
    _ change: (inout StandInDaemon.Memory) -> Void = { _ in }
  ) throws -> StandInDaemon {
    var memory = daemon.stop()
    change(&memory)
    let daemon = try StandInDaemon(at: daemon.path, memory: memory)
    try daemon.waitForStream()
    return daemon
  }

  /// Replaces the daemon by a daemon without any state, which sends didFinishLaunching again.
  func replaceDaemon(instance: Int) throws -> StandInDaemon {
    let daemon = try restartDaemon { $0 = StandInDaemon.Memory(instance: instance) }
    daemon.send(.didFinishLaunching, reason: .user)
    return daemon
  }

  /// Launches the application.
  func launch() throws {
    daemon.send(.didFinishLaunching, reason: .user)
    try daemon.waitForAcknowledgement()
  }
}
