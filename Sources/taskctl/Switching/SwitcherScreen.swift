import TaskSchedulerWire

/// The list that `taskctl switcher` shows on a terminal, with the selected application.
struct SwitcherScreen {
  /// The application that the user selects.
  struct Selection: Hashable {
    var application: String
    var owner: Int
  }

  /// The size of the terminal in characters.
  struct Size: Hashable {
    var columns: Int
    var lines: Int
  }

  private var list: ControlInterface.ListSwitcher.Output
  private var index = 0
  /// The last error, until the user presses a key.
  private(set) var message: String?

  init(_ list: ControlInterface.ListSwitcher.Output) {
    self.list = list
  }

  var selected: Selection? {
    list.applications.indices.contains(index) ? Self.selection(list.applications[index]) : nil
  }

  private static func selection(_ application: ControlInterface.Application) -> Selection {
    Selection(application: application.application, owner: application.owner)
  }

  /// Shows another list. The selected application stays selected. If it is no longer in the list,
  /// the application in its place becomes selected.
  mutating func update(_ list: ControlInterface.ListSwitcher.Output) {
    let before = selected
    self.list = list
    if let place = list.applications.firstIndex(where: { Self.selection($0) == before }) {
      index = place
    }
    index = max(0, min(index, list.applications.count - 1))
  }

  mutating func move(_ key: SwitcherKey) {
    message = nil
    let last = max(0, list.applications.count - 1)
    switch key {
    case .up: index = max(0, index - 1)
    case .down: index = min(last, index + 1)
    case .first: index = 0
    case .last: index = last
    case .activate, .remove, .leave, .suspend: break
    }
  }

  mutating func show(_ message: String) { self.message = message }

  // MARK: Rendering

  /// Returns the lines of the screen, each at most as wide as the terminal. A list that does not
  /// fit scrolls. A terminal with fewer than 4 lines shows no title, and one with fewer than 3
  /// lines shows no help.
  func lines(_ size: Size, _ context: RenderingContext) -> [String] {
    let painter = context.painter
    var above: [String] = []
    var below: [String] = []
    if size.lines >= 4 { above = [painter.paint(cut(title, size.columns), .bold)] }
    if let message {
      below = [painter.paint(cut(message, size.columns), .yellow)]
    } else if size.lines >= 3 {
      below = [painter.paint(cut(Self.help, size.columns), .dim)]
    }
    let count = max(1, size.lines - above.count - below.count)
    let rows = list.applications.isEmpty
      ? [cut(SwitcherTable.empty(list.seat), size.columns)]
      : rows(count, size.columns, context)
    return Array((above + rows + below).suffix(max(1, size.lines)))
  }

  private var title: String {
    "Application switcher" + (list.seat.map { " of \(PrintableText.of($0))" } ?? "")
  }

  private static let help = "Enter activates, x removes, q leaves"

  private func rows(_ count: Int, _ width: Int, _ context: RenderingContext) -> [String] {
    let first = max(0, min(index - count / 2, list.applications.count - count))
    let last = min(first + count, list.applications.count)
    let namesOwner = Set(list.applications.map(\.owner)).count > 1
    return (first..<last).map {
      row(list.applications[$0], $0 == index, width, namesOwner: namesOwner, context)
    }
  }

  /// Returns `> Mail (org.example.mail)  suspended`. On a narrow terminal, the end of the name is
  /// left out.
  private func row(
    _ application: ControlInterface.Application, _ isSelected: Bool, _ width: Int,
    namesOwner: Bool, _ context: RenderingContext
  ) -> String {
    let painter = context.painter
    let marker = isSelected ? "> " : "  "
    let id = PrintableText.of(application.application)
    var name = application.displayName.map { "\(PrintableText.of($0)) (\(id))" } ?? id
    if namesOwner { name += " of \(PrintableText.of(context.userName(application.owner)))" }
    var state = ApplicationTable.stateWords(application)
    if application.snapshot == .sensitive { state += ", hidden" }
    let room = width - 4 - PrintableText.columns(state)
    guard room >= 8 else { return painter.paint(cut(marker + name, width), nameStyle(isSelected)) }
    let shown = cut(name, room)
    let gap = String(repeating: " ", count: room - PrintableText.columns(shown) + 2)
    return painter.paint(marker + shown, nameStyle(isSelected)) + gap
      + painter.paint(state, Style(of: application.state))
  }

  private func nameStyle(_ isSelected: Bool) -> Style { isSelected ? .bold : .plain }

  /// Returns the beginning of a printable text that fits into a width.
  private func cut(_ text: String, _ width: Int) -> String {
    var columns = 0
    return String(
      text.prefix { character in
        columns += PrintableText.columns(String(character))
        return columns <= width
      })
  }
}
