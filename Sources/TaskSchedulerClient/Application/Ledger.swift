import TaskSchedulerWire

/// What the client knows of its application: a pure value, fed with what happens on the event
/// stream and in calls. It says what is to be done about it.
struct Ledger: Sendable {
  typealias Handler = @Sendable () -> Void

  struct Task: Sendable {
    var handler: Handler?
    /// Whether the handler has been called in this stint.
    var expired: Bool
  }

  /// The callback that was delivered last; only this one can be delivered again.
  private struct LastCallback {
    let callback: ApplicationInterface.Callback
    var handled: Bool
  }

  enum CallbackAction: Hashable {
    case deliver(ApplicationEvent)
    case callKeepAlive
    case acknowledge
    /// It is being handled.
    case none
  }

  struct Resynchronisation {
    /// Handlers of tasks that expired unheard, in the order in which they were begun.
    var handlers: [Handler] = []
    /// Tasks that the daemon no longer knows.
    var lost: [BackgroundTaskID] = []
  }

  private(set) var state: ApplicationState
  let launchReason: LaunchReason
  private var instance: Int
  private var tasks: [Int: Task] = [:]
  private var lastCallback: LastCallback?
  private var hasFinishedLaunching = false
  /// Tasks that were known when the registration that is under way was sent: only these can be
  /// missing from its answer.
  private var tasksAtRegister: Set<Int> = []
  private var endsOwedAtRegister: Set<Int> = []
  private var idUnmanagedLast = 0
  private var beginsInFlight = 0
  /// Expirations of tasks whose begin has not been answered.
  private var expiredEarly: Set<Int> = []
  /// Ended here, and the daemon has not been told.
  private(set) var endsOwed: Set<Int> = []
  /// Handled here, and the daemon has not been told.
  private(set) var acknowledgementsOwed: Set<Int> = []
  /// The keep-alive handler.
  var keepAlive: KeepAlive?
  /// How often it was seen that a daemon has to be told again what wakes this process.
  private var restorationsWanted = 0
  private var restorationsDone = 0
  /// Notifications that the author has been told of.
  private var notifications: Set<Int> = []
  /// Why the application is registered no longer, once that is for good.
  var end: ApplicationError?

  init(state: ApplicationState, instance: Int, launchReason: LaunchReason = .user) {
    self.state = state
    self.launchReason = launchReason
    self.instance = instance
  }

  var isInBackground: Bool {
    switch state {
    case .background, .suspended: true
    case .notRunning, .inactive, .active: false
    }
  }

  var owesAnything: Bool { !endsOwed.isEmpty || !acknowledgementsOwed.isEmpty }

  // MARK: - The event stream

  mutating func willRegister() {
    tasksAtRegister = Set(tasks.keys)
    endsOwedAtRegister = endsOwed
  }

  /// Takes over what the daemon says is so.
  mutating func registered(
    _ registration: ApplicationInterface.Registration
  ) -> Resynchronisation {
    var result = Resynchronisation()
    if registration.instance != instance { lastCallback = nil }
    instance = registration.instance
    state = registration.state
    let listed = Set(registration.tasks.map(\.id))
    for id in tasksAtRegister.subtracting(listed).sorted() {
      if tasks.removeValue(forKey: id) == nil { continue }
      result.lost.append(BackgroundTaskID(id))
    }
    endsOwed.subtract(endsOwedAtRegister.subtracting(listed))
    // Those that are still awaited are delivered again.
    acknowledgementsOwed = []
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
    // A daemon that has forgotten us launches us anew; this process has launched once. It may count
    // instances and callbacks from where it did before.
    let isAnew = callback.kind == .didFinishLaunching && hasFinishedLaunching
    if isAnew { wantRestoration() }
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

  // MARK: - What wakes it

  /// Nil where the daemon knows it; else the number to report to `restored`.
  var restoration: Int? { restorationsWanted == restorationsDone ? nil : restorationsWanted }

  mutating func wantRestoration() { restorationsWanted += 1 }

  mutating func restored(_ restoration: Int) { restorationsDone = restoration }

  /// The callback's work is done.
  mutating func handled(_ callback: Int) {
    if lastCallback?.callback.id == callback { lastCallback?.handled = true }
  }

  /// The stint in the background is over: what is outstanding expires again in the next one.
  private mutating func endStint() {
    for id in tasks.keys { tasks[id]?.expired = false }
  }

  /// Returns the handler to call, once in each stint.
  mutating func expired(_ id: Int) -> Handler? {
    guard let task = tasks[id] else {
      if beginsInFlight > 0 { expiredEarly.insert(id) }
      return nil
    }
    tasks[id]?.expired = true
    return task.expired ? nil : task.handler
  }

  // MARK: - Tasks

  func knows(_ id: Int) -> Bool { tasks[id] != nil || endsOwed.contains(id) }

  /// Begins a task that no daemon knows of.
  mutating func beginUnmanaged() -> Int {
    idUnmanagedLast += 1
    tasks[idUnmanagedLast] = Task(handler: nil, expired: false)
    return idUnmanagedLast
  }

  mutating func willBegin() {
    beginsInFlight += 1
  }

  /// Returns the handler where the task has expired already.
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

  /// False if there is no such task.
  mutating func end(_ id: Int) -> Bool {
    tasks.removeValue(forKey: id) != nil
  }

  // MARK: - Notifications

  mutating func know(_ ids: [Int]) { notifications.formUnion(ids) }

  func knows(notification id: Int) -> Bool { notifications.contains(id) }

  // MARK: - Debts

  mutating func oweEnd(_ id: Int) {
    endsOwed.insert(id)
  }

  mutating func oweAcknowledgement(_ callback: Int) {
    acknowledgementsOwed.insert(callback)
  }

  mutating func paidEnd(_ id: Int) {
    endsOwed.remove(id)
  }

  mutating func paidAcknowledgement(_ callback: Int) {
    acknowledgementsOwed.remove(callback)
  }
}

extension ApplicationInterface.CallbackKind {
  /// The state that it tells of; nil where it tells of none.
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
  /// Nil for the call of the keep-alive handler.
  fileprivate var event: ApplicationEvent? {
    switch kind {
    case .didFinishLaunching: .didFinishLaunching(launchReason ?? .user)
    case .didBecomeActive: .didBecomeActive
    case .willResignActive: .willResignActive
    case .didEnterBackground: .didEnterBackground
    case .willEnterForeground: .willEnterForeground
    case .willTerminate: .willTerminate
    case .keepAlive: nil
    }
  }
}
