import Glibc
import TaskSchedulerWire

/// How a word looks on a terminal.
enum Style: String {
  case plain = ""
  case bold = "1"
  case dim = "2"
  case green = "32"
  case yellow = "33"
  case cyan = "36"

  /// The colour of a state: what runs in front is green, what is on the clock yellow.
  init(of state: ControlInterface.State) {
    switch state {
    case .active: self = .green
    case .inactive: self = .cyan
    case .background: self = .yellow
    case .suspended: self = .plain
    case .notRunning: self = .dim
    }
  }
}

/// Puts styles into text, or leaves them out.
struct Painter {
  var isColoured: Bool

  static let plain = Painter(isColoured: false)

  /// Colour for a terminal that can show it, unless NO_COLOR is set to anything (no-color.org).
  static func forStandardOutput() -> Painter {
    let isRefused = environment("NO_COLOR").map { !$0.isEmpty } ?? false
    let isDumb = environment("TERM") == "dumb"
    return Painter(isColoured: isatty(STDOUT_FILENO) == 1 && !isRefused && !isDumb)
  }

  func paint(_ text: String, _ style: Style) -> String {
    guard isColoured, style != .plain, !text.isEmpty else { return text }
    return "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m"
  }
}

/// A variable of the environment.
func environment(_ name: String) -> String? {
  getenv(name).map { String(cString: $0) }
}
