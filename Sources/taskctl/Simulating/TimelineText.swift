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
