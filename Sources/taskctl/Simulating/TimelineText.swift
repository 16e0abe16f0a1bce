import TaskSchedulerCore
import TaskSchedulerSimulation
import TaskSchedulerWire

/// Formats a timeline for users. Each line begins with the time, unless the previous line has the
/// same time. The rest of the line is an application and its event, or `>` and a step of the
/// scenario.
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
    case .notice(let notice): NoticeText.words(notice)
    case .shown(let id): "notification \(id.number) is shown to the user"
    case .change(let change): words(change, painter)
    }
  }

  /// Returns both states of a transition with its cause. For any other change, returns the text of
  /// its description.
  private static func words(_ change: Record.Change, _ painter: Painter) -> String {
    guard case .transition(let from, let to, let cause) = change else {
      return PrintableText.of(change.description().text)
    }
    return "\(paint(from, painter)) -> \(paint(to, painter)) (\(words(cause)))"
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
}
