import TaskSchedulerWire

/// What the library knows about the application, as a value that does no I/O. Its functions receive
/// events of the stream and replies to calls, and return what the library must do.
struct ClientState: Sendable {
  typealias Handler = @Sendable () -> Void

  struct Task: Sendable {
    var handler: Handler?
    /// Whether the library has called the handler in the current stay in the background.
    var expired: Bool
  }

  /// The last callback. No earlier callback can arrive again, because the daemon sends the next
  /// callback only after the acknowledgement of the previous one.
  private struct LastCallback {
    let callback: ApplicationInterface.Callback
    var handled: Bool
  }

  enum CallbackAction: Hashable {
    case deliver(ApplicationEvent)
    case callKeepAlive
    case acknowledge
    /// The application is handling the callback.
    case none
  }

  struct Resynchronisation {
    /// The handlers of tasks that expired while there was no stream, in the order of the tasks.
    var handlers: [Handler] = []
    /// The tasks that the daemon no longer knows.
    var lost: [BackgroundTaskID] = []
  }

  private(set) var state: ApplicationState
  let launchReason: LaunchReason
  let launchRegion: String?
  private var instance: Int
  private var tasks: [Int: Task] = [:]
  private var lastCallback: LastCallback?
  /// The remote commands, audio interruptions, call events, significant location changes and region
  /// events that the application handles or has handled.
  private var events = HandledEvents()
  private var hasFinishedLaunching = false
  /// The tasks that existed when the library sent the current registration. The daemon has lost the
  /// tasks of this set that its reply does not list.
  private var tasksAtRegister: Set<Int> = []
  private var endsUnreportedAtRegister: Set<Int> = []
  private var idUnmanagedLast = 0
  private var beginsInFlight = 0
  /// The tasks whose expiration arrived before the reply to their BeginBackgroundTask.
  private var expiredEarly: Set<Int> = []
  /// The tasks that have ended, but whose end the daemon does not know yet.
  private(set) var endsUnreported: Set<Int> = []
  /// The callbacks that the application has handled, but whose acknowledgement the daemon does not
  /// have yet.
  private(set) var acknowledgementsUnreported: Set<Int> = []
  /// The keep-alive handler.
  var keepAlive: KeepAlive?
  /// The audio session that the application has set.
  var audioSession: AudioSession?
  /// Whether the application has a phone call.
  var isInCall = false
  /// The continuous updates of the location that the application has started.
  var locationUpdates: LocationUpdates?
  /// The number of requested restorations. The library requests a restoration when the daemon does
  /// not know the keep-alive handler, the audio session, the phone call, the location updates and
  /// the sockets. `restorationsDone` is the number of the last restoration that is complete.
  private var restorationsWanted = 0
  private var restorationsDone = 0
  /// The notifications that the application knows.
  private var notifications: Set<Int> = []
  /// The reason why the registration has ended permanently; nil while the registration lasts.
  var end: ApplicationError?

  init(
    state: ApplicationState, instance: Int, launchReason: LaunchReason = .user,
    launchRegion: String? = nil
  ) {
    self.state = state
    self.launchReason = launchReason
    self.launchRegion = launchRegion
    self.instance = instance
  }

  var isInBackground: Bool {
    switch state {
    case .background, .suspended: true
    case .notRunning, .inactive, .active: false
    }
  }

  var mustReport: Bool { !endsUnreported.isEmpty || !acknowledgementsUnreported.isEmpty }

  // MARK: - The event stream

  mutating func willRegister() {
    tasksAtRegister = Set(tasks.keys)
    endsUnreportedAtRegister = endsUnreported
  }

  /// Handles the daemon's reply to a registration.
  mutating func registered(
    _ registration: ApplicationInterface.Registration
  ) -> Resynchronisation {
    var result = Resynchronisation()
    if registration.instance != instance {
      lastCallback = nil
      events = HandledEvents()
    }
    instance = registration.instance
    state = ApplicationState(registration.state)
    let listed = Set(registration.tasks.map(\.id))
    for id in tasksAtRegister.subtracting(listed).sorted() {
      if tasks.removeValue(forKey: id) == nil { continue }
      result.lost.append(BackgroundTaskID(id))
    }
    endsUnreported.subtract(endsUnreportedAtRegister.subtracting(listed))
    // The daemon repeats each callback that it considers unacknowledged, and the library then
    // acknowledges it again.
    acknowledgementsUnreported = []
    for task in registration.tasks {
      if !task.expired {
        tasks[task.id]?.expired = false
      } else if let handler = expired(task.id) {
        result.handlers.append(handler)
      }
    }
    return result
  }

  mutating func received(_ callback: ApplicationInterface.Callback) -> CallbackAction {
    // A daemon that does not know this process sends didFinishLaunching again. It may use the same
    // numbers for instances and callbacks as its predecessor.
    let isAnew = callback.kind == .didFinishLaunching && hasFinishedLaunching
    if isAnew {
      events = HandledEvents()
      requestRestoration()
    }
    if let last = lastCallback, last.callback == callback {
      return last.handled ? .acknowledge : .none
    }
    lastCallback = LastCallback(callback: callback, handled: false)
    if callback.kind == .willEnterForeground { endStint() }
    if let state = callback.kind.state { self.state = state }
    if isAnew {
      lastCallback?.handled = true
      return .acknowledge
    }
    if callback.kind == .didFinishLaunching { hasFinishedLaunching = true }
    return callback.event.map { .deliver($0) } ?? .callKeepAlive
  }

  /// Handles an event that has an id and is not a callback. The application acknowledges the event
  /// by the id.
  mutating func received(event id: Int) -> HandledEvents.Action {
    let action = events.action(for: id)
    if action == .deliver { events.begin(id) }
    return action
  }

  // MARK: - Restoration

  /// The number to pass to `restored` after a restoration; nil if the daemon knows the keep-alive
  /// handler, the audio session, the phone call, the location updates and the sockets.
  var restoration: Int? { restorationsWanted == restorationsDone ? nil : restorationsWanted }

  mutating func requestRestoration() { restorationsWanted += 1 }

  mutating func restored(_ restoration: Int) { restorationsDone = restoration }

  /// Records that the application has handled a callback, or another event with an id.
  mutating func handled(_ callback: Int) {
    if lastCallback?.callback.id == callback { lastCallback?.handled = true }
    events.handled(callback)
  }

  /// Ends a stay in the background. Outstanding tasks can expire again in the next stay.
  private mutating func endStint() {
    for id in tasks.keys { tasks[id]?.expired = false }
  }

  /// Records that a task has expired, and returns its handler. Returns nil if the task has already
  /// expired in this stay in the background.
  mutating func expired(_ id: Int) -> Handler? {
    guard let task = tasks[id] else {
      if beginsInFlight > 0 { expiredEarly.insert(id) }
      return nil
    }
    tasks[id]?.expired = true
    return task.expired ? nil : task.handler
  }

  // MARK: - Tasks

  func knows(_ id: Int) -> Bool { tasks[id] != nil || endsUnreported.contains(id) }

  /// Begins a task in an application that no daemon manages, and returns its id.
  mutating func beginUnmanaged() -> Int {
    idUnmanagedLast += 1
    tasks[idUnmanagedLast] = Task(handler: nil, expired: false)
    return idUnmanagedLast
  }

  mutating func willBegin() {
    beginsInFlight += 1
  }

  /// Stores a task that the daemon has begun. Returns the handler if the task has expired already.
  mutating func began(_ id: Int, expired: Bool = false, _ handler: Handler?) -> Handler? {
    tasks[id] = Task(handler: handler, expired: false)
    tasksAtRegister.remove(id)
    defer { beginEnded() }
    return expired || expiredEarly.contains(id) ? self.expired(id) : nil
  }

  mutating func beginEnded() {
    beginsInFlight -= 1
    if beginsInFlight == 0 { expiredEarly = [] }
  }

  /// Ends a task. Returns false if there is no such task.
  mutating func end(_ id: Int) -> Bool {
    tasks.removeValue(forKey: id) != nil
  }

  // MARK: - Notifications

  mutating func know(_ ids: [Int]) { notifications.formUnion(ids) }

  func knows(notification id: Int) -> Bool { notifications.contains(id) }

  // MARK: - Reports

  mutating func willReport(end id: Int) {
    endsUnreported.insert(id)
  }

  mutating func willReport(acknowledgement callback: Int) {
    acknowledgementsUnreported.insert(callback)
  }

  mutating func reported(end id: Int) {
    endsUnreported.remove(id)
  }

  mutating func reported(acknowledgement callback: Int) {
    acknowledgementsUnreported.remove(callback)
  }
}

extension ApplicationInterface.CallbackKind {
  /// The state that the callback announces; nil if it announces none.
  fileprivate var state: ApplicationState? {
    switch self {
    case .didBecomeActive: .active
    case .willResignActive, .willEnterForeground: .inactive
    case .didEnterBackground: .background
    case .didFinishLaunching, .willTerminate, .keepAlive: nil
    }
  }
}

extension ApplicationInterface.Callback {
  /// The event; nil for a call of the keep-alive handler.
  fileprivate var event: ApplicationEvent? {
    switch kind {
    case .didFinishLaunching: .didFinishLaunching(launchReason.map { LaunchReason($0) } ?? .user)
    case .didBecomeActive: .didBecomeActive
    case .willResignActive: .willResignActive
    case .didEnterBackground: .didEnterBackground
    case .willEnterForeground: .willEnterForeground
    case .willTerminate: .willTerminate
    case .keepAlive: nil
    }
  }
}
