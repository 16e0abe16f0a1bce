import Glibc
import TaskSchedulerWire

/// The appearance of a word on a terminal.
enum Style: String {
  case plain = ""
  case bold = "1"
  case dim = "2"
  case green = "32"
  case yellow = "33"
  case cyan = "36"

  /// The style of a state: green and cyan for the foreground, yellow for limited time.
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

/// Adds styles to text, or omits them.
struct Painter {
  var isColoured: Bool

  static let plain = Painter(isColoured: false)

  /// Returns a painter that uses colours if standard output is a terminal that supports them and
  /// NO_COLOR is not set (no-color.org).
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

/// Returns the value of an environment variable.
func environment(_ name: String) -> String? {
  getenv(name).map { String(cString: $0) }
}
