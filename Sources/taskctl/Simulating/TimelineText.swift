import TaskSchedulerCore
import TaskSchedulerSimulation
import TaskSchedulerWire

/// Formats a timeline for people: the time, the application, the event; scenario steps after `>`.
enum TimelineText {
  static func text(_ timeline: Timeline, _ painter: Painter) -> String {
    let times = timeline.entries.map { TaskSchedulerCore.TimeSpan.format($0.at) }
    let names = timeline.entries.map { $0.application?.name ?? "" }
    let timeWidth = times.map(\.count).max() ?? 0
    let nameWidth = names.map(\.count).max() ?? 0
    var text = ""
    var timeLast: String?
    for (index, entry) in timeline.entries.enumerated() {
      let time = times[index] == timeLast ? "" : times[index]
      timeLast = times[index]
      text += String(repeating: " ", count: timeWidth - time.count) + time + "  "
      switch entry.kind {
      case .step(let step): text += painter.paint("> " + PrintableText.of(step), .bold)
      case .daemonReturned: text += painter.paint("the daemon has restarted", .bold)
      case .stands, .change, .callback, .expiration, .signal, .notice, .shown:
        text += names[index] + String(repeating: " ", count: nameWidth - names[index].count)
        text += "  " + words(entry.kind, painter)
      }
      text += "\n"
    }
    if timeline.isCut { text += "the scenario continues\n" }
    return text
  }

  static func words(_ kind: Timeline.Kind, _ painter: Painter) -> String {
    switch kind {
    case .step(let step): PrintableText.of(step)
    case .daemonReturned: "the daemon has restarted"
    case .stands(let state, let tasks):
      "is \(paint(state, painter))"
        + tasks.map { ", task \(label($0.id, $0.name)) outstanding" }.joined()
    case .callback(let callback): callback.rawValue
    case .signal(let signal): signal.name
    case .expiration(let task, let remaining):
      "the expiration handler of task \(task.number) is called"
        + (remaining.map { ", \(TaskSchedulerCore.TimeSpan.format($0)) left" } ?? "")
    case .notice(let notice): WakeUpWords.words(notice)
    case .shown(let id): "notification \(id.number) is shown to the user"
    case .change(let change): words(change, painter)
    }
  }

  private static func words(_ change: Record.Change, _ painter: Painter) -> String {
    switch change {
    case .transition(let from, let to, let cause):
      "\(paint(from, painter)) -> \(paint(to, painter)) (\(words(cause)))"
    case .registered: "opened its event stream"
    case .taskBegan(let task, let name, let remaining):
      "task \(label(task, name)) began, "
        + (remaining.map { "\(TaskSchedulerCore.TimeSpan.format($0)) left" } ?? "unlimited")
    case .taskEnded(let task, let name): "task \(label(task, name)) ended"
    case .taskExpired(let task, let name): "task \(label(task, name)) expired"
    case .ended(let ended): end(ended.reason)
    case .refused(let refusal): "refused: \(refusal.name)\(detail(refusal))"
    case .suspensionFailed(let reason): "not suspended: \(PrintableText.of(reason))"
    case .signalFailed(let reason): "a signal failed: \(PrintableText.of(reason))"
    case .keepAliveSet, .keepAliveCalled, .socketManaged, .socketReleased, .socketsReady,
      .notificationScheduled, .notificationsCancelled, .notificationFired, .notificationChosen,
      .badgeSet, .relaunchPlanned, .memoryWarned, .memoryChosen, .resources:
      WakeUpWords.words(change)
    }
  }

  private static func words(_ cause: TransitionCause) -> String {
    cause.name + (cause.activated.map { " by \($0.id.name)" } ?? "")
  }

  private static func paint(_ state: ApplicationState, _ painter: Painter) -> String {
    let style = ControlInterface.State(rawValue: state.rawValue).map(Style.init(of:)) ?? .plain
    return painter.paint(state.rawValue, style)
  }

  private static func label(_ task: TaskID, _ name: String?) -> String {
    "\(task.number)" + (name.map { " '\(PrintableText.of($0))'" } ?? "")
  }

  private static func end(_ reason: EndReason) -> String {
    guard let kind = ControlInterface.EndKind(rawValue: reason.name) else { return reason.name }
    switch reason {
    case .exited(let code): return kind.words(code: Int(code))
    case .crashed(let signal): return kind.words(signal: Int(signal))
    case .unknown, .terminatedByOperator, .terminatedByUser, .callbackTimeout,
      .backgroundTimeExpired, .keepAliveTimeout, .memoryPressure, .gpuInBackground,
      .sharedResourceHeld, .excessiveUse, .optedOut, .schedulerStopped:
      return kind.words()
    }
  }

  private static func detail(_ refusal: Refusal) -> String {
    switch refusal {
    case .invalidTransition(let from, let cause):
      ", \(cause.name) is not possible while it is \(from.rawValue)"
    case .invalidState(let state), .cannotBeTold(let state): ", it is \(state.rawValue)"
    case .alreadyRunning(_, let state): ", it is \(state.rawValue)"
    case .launchFailed(let reason): ", \(PrintableText.of(reason))"
    case .wrongApplication(let id): ", it is \(id.name)"
    case .unknownTask(let task): ", there is no task \(task.number)"
    case .modeNotDeclared(let mode): ", its manifest does not declare \(mode.rawValue)"
    case .quotaExceeded(let name, let limit): ", \(name) is \(limit)"
    case .keepAliveTooShort(let minimum):
      ", KeepAliveMinimum is \(TaskSchedulerCore.TimeSpan.format(minimum))"
    case .unknownSocket(let socket): ", there is no socket \(socket.number)"
    case .unknownNotification(let id): ", there is no notification \(id.number)"
    case .notStored(let reason): ", \(PrintableText.of(reason))"
    case .unknownApplication, .terminating, .notLaunchable, .unknownCallback,
      .multitaskingNotSupported, .noEventStream, .terminatedByOperator:
      ""
    }
  }
}

/// The JSON form of a timeline.
struct TimelineDocument: Encodable {
  var entries: [Entry]
  /// Whether the timeline was cut at its limit.
  var isCut: Bool
  /// The event log that the timeline comes from.
  var eventLog: EventLogFacts?

  struct EventLogFacts: Encodable {
    var path: String
    /// The version of the daemon that wrote the event log.
    var writer: String
    /// The start of the event log, since boot; the times of the entries are relative to it.
    var beganAtUSec: Int
    /// The number of events before the start of the event log.
    var eventsBefore: UInt64
    var events: Int
    /// The damage after which no record could be read.
    var damage: String?
    var violation: String?
  }

  struct Entry: Encodable {
    var atUSec: Int
    var application: String?
    var kind: String
    var from: String?
    var to: String?
    var cause: String?
    var by: String?
    var callback: String?
    var task: UInt64?
    var taskName: String?
    var remainingUSec: Int?
    var reason: String?
    var signal: String?
    var socket: UInt64?
    var notification: UInt64?
    var step: String?
    var text: String
  }

  init(_ timeline: Timeline, of eventLog: EventLogFacts? = nil) {
    self.eventLog = eventLog
    isCut = timeline.isCut
    entries = timeline.entries.map { entry in
      var written = Entry(
        atUSec: Self.microseconds(entry.at), application: entry.application?.name, kind: "",
        text: TimelineText.words(entry.kind, .plain))
      Self.fill(&written, entry.kind)
      return written
    }
  }

  static func microseconds(_ duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    return Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
  }

  private static func fill(_ entry: inout Entry, _ kind: Timeline.Kind) {
    switch kind {
    case .step(let step): (entry.kind, entry.step) = ("step", step)
    case .daemonReturned: entry.kind = "daemonReturned"
    case .stands(let state, _): (entry.kind, entry.to) = ("stands", state.rawValue)
    case .callback(let callback): (entry.kind, entry.callback) = ("callback", callback.rawValue)
    case .signal(let signal): (entry.kind, entry.signal) = ("signal", signal.name)
    case .expiration(let task, let remaining):
      (entry.kind, entry.task) = ("expiration", task.number)
      entry.remainingUSec = remaining.map(microseconds)
    case .notice: entry.kind = "notice"
    case .shown(let id): (entry.kind, entry.notification) = ("notificationShown", id.number)
    case .change(let change): fill(&entry, change)
    }
  }

  private static func fill(_ entry: inout Entry, _ change: Record.Change) {
    switch change {
    case .transition(let from, let to, let cause):
      entry.kind = "transition"
      (entry.from, entry.to, entry.cause) = (from.rawValue, to.rawValue, cause.name)
      entry.by = cause.activated?.id.name
    case .registered: entry.kind = "registered"
    case .taskBegan(let task, let name, let remaining):
      (entry.kind, entry.task, entry.taskName) = ("taskBegan", task.number, name)
      entry.remainingUSec = remaining.map(microseconds)
    case .taskEnded(let task, let name):
      (entry.kind, entry.task, entry.taskName) = ("taskEnded", task.number, name)
    case .taskExpired(let task, let name):
      (entry.kind, entry.task, entry.taskName) = ("taskExpired", task.number, name)
    case .ended(let end): (entry.kind, entry.reason) = ("ended", end.reason.name)
    case .refused(let refusal): (entry.kind, entry.reason) = ("refused", refusal.name)
    case .suspensionFailed(let reason): (entry.kind, entry.reason) = ("suspensionFailed", reason)
    case .signalFailed(let reason): (entry.kind, entry.reason) = ("signalFailed", reason)
    case .keepAliveSet: entry.kind = "keepAliveSet"
    case .keepAliveCalled: entry.kind = "keepAliveCalled"
    case .socketManaged(let socket): (entry.kind, entry.socket) = ("socketManaged", socket.number)
    case .socketReleased(let socket): (entry.kind, entry.socket) = ("socketReleased", socket.number)
    case .socketsReady: entry.kind = "socketsReady"
    case .notificationScheduled(let id):
      (entry.kind, entry.notification) = ("notificationScheduled", id.number)
    case .notificationsCancelled: entry.kind = "notificationsCancelled"
    case .notificationFired(let id):
      (entry.kind, entry.notification) = ("notificationFired", id.number)
    case .notificationChosen(let id):
      (entry.kind, entry.notification) = ("notificationChosen", id.number)
    case .badgeSet: entry.kind = "badgeSet"
    case .relaunchPlanned: entry.kind = "relaunchPlanned"
    case .memoryWarned: entry.kind = "memoryWarned"
    case .memoryChosen: entry.kind = "memoryChosen"
    case .resources: entry.kind = "resources"
    }
  }
}
