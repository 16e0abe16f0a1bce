import TaskSchedulerWire

/// Formats the lines of `taskctl monitor`, aligned to the longest application id so far.
struct ChangeLines {
  var context: RenderingContext
  private var width = 0

  init(context: RenderingContext) { self.context = context }

  mutating func fit(_ application: String) {
    width = max(width, PrintableText.columns(PrintableText.of(application)))
  }

  /// Returns `14:03:22.120 org.example.mail  active -> background (sendAway)` and a newline.
  mutating func text(_ change: ControlInterface.Change) -> String {
    fit(change.application)
    let name = PrintableText.of(change.application)
    let padding = String(repeating: " ", count: width - PrintableText.columns(name))
    let time = LocalTime(wallUSec: context.clock.wallUSec(ofBoot: change.atUSec))
    return "\(time.timeWithMilliseconds) \(name)\(padding)  \(words(change))\n"
  }

  /// Returns both states of a transition with its cause. For any other change, returns the
  /// daemon's sentence without the leading id.
  private func words(_ change: ControlInterface.Change) -> String {
    if change.kind == .transition {
      return "\(state(change.from)) -> \(state(change.to))\(brackets(cause(change)))"
    }
    guard change.message.hasPrefix(change.application) else {
      return PrintableText.of(change.message)
    }
    let rest = change.message.dropFirst(change.application.count)
    return PrintableText.of(String(rest.drop { $0 == ":" || $0 == " " }))
  }

  private func state(_ state: ControlInterface.State?) -> String {
    state.map { context.painter.paint($0.rawValue, Style(of: $0)) } ?? "?"
  }

  private func cause(_ change: ControlInterface.Change) -> String? {
    change.cause.map { cause in cause + (change.by.map { " by \($0)" } ?? "") }
  }

  private func brackets(_ text: String?) -> String {
    guard let text, !text.isEmpty else { return "" }
    return " (\(PrintableText.of(text)))"
  }
}
