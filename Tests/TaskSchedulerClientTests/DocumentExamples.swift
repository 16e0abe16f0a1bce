import Logging
import ServiceLifecycle
import TaskSchedulerClient
import TaskSchedulerServiceLifecycle

// The Swift examples of the documents. They are repeated here so that the compiler checks them.
// `DocumentExampleTests` compares each section with its document. A section begins with a comment
// that has the name of the document and the number of the example.

private struct Outbox {
  func save() {}
  func send() async throws {}
}

private let outbox = Outbox()

private enum Readme {
  // README.md 1
  struct Mail: ApplicationDelegate {
    func applicationDidEnterBackground(_ application: ScheduledApplication) { outbox.save() }
  }

  static func main() async throws {
    let application = try await ScheduledApplication.register("org.example.mail", delegate: Mail())
    try await application.withBackgroundTask(named: "send the outbox") {
      try await outbox.send()
    }
  }
}

private enum SwiftGuide {
  // docs/swift.md 1
  struct Mail: ApplicationDelegate {
    func applicationDidEnterBackground(_ application: ScheduledApplication) { outbox.save() }
  }

  static func main() async throws {
    let application = try await ScheduledApplication.register("org.example.mail", delegate: Mail())
    try await application.withBackgroundTask(named: "send the outbox") {
      try await outbox.send()
    }
  }

  static func forms(_ application: ScheduledApplication) async throws {
    // docs/swift.md 2
    do {
      let task = try await application.beginBackgroundTask(named: "upload")
      _ = task
    }
    let task = try application.beginBackgroundTaskAndWait(named: "upload")
    _ = task
  }

  static func events() async throws {
    // docs/swift.md 3
    let application = try await ScheduledApplication.register("org.example.mail")
    for try await event in application.events {
      switch event {
      case .didEnterBackground: outbox.save()
      default: break
      }
    }
  }

  actor Outbox: ServiceLifecycle.Service {
    func save() {}
    func run() async throws {}
  }

  struct Window {
    let showsPassword = false
    func picture() -> [UInt8] { [] }
  }

  struct Viewer: ApplicationDelegate {
    let window = Window()
    // docs/swift.md 5
    func applicationDidEnterBackground(_ application: ScheduledApplication) {
      try? application.setSnapshotAndWait(window.picture(), isSensitive: window.showsPassword)
    }
  }

  struct Player {
    func play() {}
    func pause() {}
    func toggle() {}
    func move(by offset: Duration) {}
  }

  struct Radio: ApplicationDelegate {
    let player = Player()
    // docs/swift.md 6
    func application(
      _ application: ScheduledApplication, didReceiveRemoteCommand command: RemoteCommand
    ) {
      switch command {
      case .playPause: player.toggle()
      case .seek(let offset): player.move(by: offset)
      default: break
      }
    }

    // docs/swift.md 7
    func application(
      _ application: ScheduledApplication,
      didReceiveAudioInterruption interruption: AudioInterruption
    ) {
      switch interruption {
      case .began: player.pause()
      case .ended(let shouldResume): if shouldResume { player.play() }
      }
    }
  }

  static func setSession(_ application: ScheduledApplication) async throws {
    // docs/swift.md 8
    try await application.setAudioSession(.playback, options: [.mixWithOthers, .duckOthers])
  }

  struct Heating {
    func turnOn() {}
  }

  static func monitorHome(_ application: ScheduledApplication) async throws {
    // docs/swift.md 9
    try await application.startMonitoring(
      for: CircularRegion(
        identifier: "home", center: LocationCoordinate(latitude: 52.5200, longitude: 13.4050),
        radius: 150))
  }

  struct Thermostat: ApplicationDelegate {
    let heating = Heating()
    // docs/swift.md 10
    func application(
      _ application: ScheduledApplication, didEnterRegion crossing: RegionCrossing
    ) {
      if crossing.identifier == "home" { heating.turnOn() }
    }
  }

  static func services(_ outbox: Outbox, _ logger: Logger) async throws {
    // docs/swift.md 4
    let application = try await ScheduledApplication.register("org.example.mail")
    let group = ServiceGroup(services: [outbox], logger: logger)
    try await group.run(as: application) { event in
      if event == .didEnterBackground { await outbox.save() }
    }
  }
}

private final class Phone: ApplicationDelegate, @unchecked Sendable {
  struct Call { let notification: NotificationContent }

  struct Server {
    let fileDescriptor: Int32
    func connect() {}
    func ping() {}
    func receivedCalls() -> [Call] { [] }
  }

  let server = Server(fileDescriptor: 0)
  var socket: ManagedSocket?
  func log(_ error: any Error) {}

  // docs/wake-ups.md 1
  func application(
    _ application: ScheduledApplication, didFinishLaunchingWithReason reason: LaunchReason
  ) {
    server.connect()
    do {
      socket = try application.manageAndWait(socket: server.fileDescriptor)
      try application.setKeepAliveTimeoutAndWait(.seconds(900)) { [server] in server.ping() }
    } catch { log(error) }
  }

  func application(
    _ application: ScheduledApplication, socketDidBecomeReady socket: ManagedSocket,
    conditions: SocketConditions
  ) {
    for call in server.receivedCalls() {
      _ = try? application.presentNotificationAndWait(call.notification)
    }
  }

  func remind(_ application: ScheduledApplication) async throws {
    // docs/wake-ups.md 2
    try await application.scheduleNotification(
      NotificationContent(title: "Tea", sound: "message-new-instant"),
      for: .at(
        CalendarDate(year: 2026, month: 11, day: 22, hour: 16, timeZone: "Europe/Berlin"),
        repeats: .day))
  }
}

private enum Reference {
  static func upload(
    _ application: ScheduledApplication, _ chunks: [[UInt8]],
    _ upload: @escaping @Sendable ([UInt8]) async throws -> Void
  ) async throws {
    // FinishingWorkInTheBackground.md 1
    try await application.withBackgroundTask(named: "upload") {
      for chunk in chunks {
        try Task.checkCancellation()
        try await upload(chunk)
      }
    }
  }

  final class Uploader: ApplicationDelegate, @unchecked Sendable {
    var task: BackgroundTaskID?
    func stop() {}

    // FinishingWorkInTheBackground.md 2
    func applicationDidEnterBackground(_ application: ScheduledApplication) {
      task = try? application.beginBackgroundTaskAndWait(named: "upload") { [self] in
        stop()
        if let task { try? application.endBackgroundTaskAndWait(task) }
      }
    }
  }

  struct Map {
    func show(_ coordinate: LocationCoordinate) {}
  }

  static func follow(_ application: ScheduledApplication, _ map: Map) async throws {
    // FollowingTheLocation.md 1
    try await application.startUpdatingLocation(desiredAccuracy: .tenMeters, distanceFilter: 25)
    for try await event in application.events {
      switch event {
      case .didUpdateLocation(let location): map.show(location.coordinate)
      default: break
      }
    }
  }

  static func monitorHome(_ application: ScheduledApplication) async throws {
    // FollowingTheLocation.md 2
    try await application.startMonitoring(
      for: CircularRegion(
        identifier: "home", center: LocationCoordinate(latitude: 52.5200, longitude: 13.4050),
        radius: 150))
  }

  struct Thermostat: ApplicationDelegate {
    let heating = SwiftGuide.Heating()
    // FollowingTheLocation.md 3
    func application(
      _ application: ScheduledApplication, didEnterRegion crossing: RegionCrossing
    ) {
      if crossing.identifier == "home" { heating.turnOn() }
    }
  }

  static func register() async throws {
    // GettingStarted.md 1
    let application = try await ScheduledApplication.register(
      "org.example.mail", delegate: Mail(), ifAvailable: true)
    application.close()
  }

  // HandlingEvents.md 1
  struct Mail: ApplicationDelegate {
    func applicationDidEnterBackground(_ application: ScheduledApplication) { outbox.save() }
    func applicationWillTerminate(_ application: ScheduledApplication) { outbox.save() }
  }

  static func events() async throws {
    // HandlingEvents.md 2
    let application = try await ScheduledApplication.register("org.example.mail")
    for try await event in application.events {
      switch event {
      case .didEnterBackground, .willTerminate: outbox.save()
      default: break
      }
    }
  }

  struct Radio: ApplicationDelegate {
    let player = SwiftGuide.Player()
    // HandlingEvents.md 3
    func application(
      _ application: ScheduledApplication,
      didReceiveAudioInterruption interruption: AudioInterruption
    ) {
      switch interruption {
      case .began: player.pause()
      case .ended(let shouldResume): if shouldResume { player.play() }
      }
    }
  }

  static func setSession(_ application: ScheduledApplication) async throws {
    // HandlingEvents.md 4
    try await application.setAudioSession(.playback, options: .duckOthers)
  }

  static func remind(_ application: ScheduledApplication) async throws {
    // SchedulingNotifications.md 1
    try await application.scheduleNotification(
      NotificationContent(title: "Tea", sound: "message-new-instant"),
      for: .at(
        CalendarDate(year: 2026, month: 11, day: 22, hour: 16, timeZone: "Europe/Berlin"),
        repeats: .day))
    // SchedulingNotifications.md 2
    try await application.scheduleNotification(
      NotificationContent(title: "The tea is ready"), for: .after(.seconds(240)))
  }

  actor Server {
    nonisolated let fileDescriptor: Int32 = 0
    func ping() {}
    func talk() {}
  }

  static func stayReachable(_ application: ScheduledApplication, _ server: Server) async throws {
    // StayingReachable.md 1
    let socket = try await application.manage(socket: server.fileDescriptor)
    _ = socket
    // StayingReachable.md 2
    try await application.beginCall()
    await server.talk()
    try await application.endCall()
    // StayingReachable.md 3
    try await application.setKeepAliveTimeout(.seconds(900)) { await server.ping() }
  }
}

private enum Overview {
  // TaskSchedulerClient.md 1
  struct Mail: ApplicationDelegate {
    func applicationDidEnterBackground(_ application: ScheduledApplication) { outbox.save() }
  }

  static func main() async throws {
    let application = try await ScheduledApplication.register("org.example.mail", delegate: Mail())
    try await application.withBackgroundTask(named: "send the outbox") {
      try await outbox.send()
    }
  }
}

private enum Places {
  // docs/location.md 1
  struct Library: ApplicationDelegate {
    func application(_ application: ScheduledApplication, didEnterRegion crossing: RegionCrossing) {
      _ = try? application.presentNotificationAndWait(
        NotificationContent(title: "Return the books", body: crossing.identifier))
    }
  }

  static func monitor(_ application: ScheduledApplication) async throws {
    try await application.startMonitoring(
      for: CircularRegion(
        identifier: "library", center: LocationCoordinate(latitude: 52.5172, longitude: 13.3919),
        radius: 150))
  }
}
