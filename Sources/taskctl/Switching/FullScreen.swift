import Glibc
import LinuxSystem

/// A terminal in the mode of a full-screen program: the keys arrive one by one and are not shown,
/// Ctrl-C and Ctrl-Z are keys, and the terminal shows its alternate screen. `end()` restores the
/// earlier mode and screen.
struct FullScreen {
  private static let input = STDIN_FILENO
  private var modeBefore: termios?

  /// Sets the mode and shows the alternate screen. Call this again after another program has used
  /// the terminal.
  mutating func begin() throws {
    if modeBefore == nil {
      var mode = termios()
      guard tcgetattr(Self.input, &mode) == 0 else {
        throw SystemError(call: "tcgetattr", errno: errno)
      }
      modeBefore = mode
    }
    guard var mode = modeBefore else { return }
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
    mode.c_iflag &= ~tcflag_t(IXON | ICRNL)
    try set(&mode)
    // Shows the alternate screen, and hides the cursor.
    try Output.write("\u{1b}[?1049h\u{1b}[?25l")
  }

  /// Restores the mode, the cursor and the earlier screen.
  mutating func end() {
    guard var mode = modeBefore else { return }
    modeBefore = nil
    try? Output.write("\u{1b}[?25h\u{1b}[?1049l")
    try? set(&mode)
  }

  func draw(_ lines: [String]) throws {
    // The new lines overwrite the earlier lines, because erasing the screen first would flicker.
    let text = lines.map { $0 + "\u{1b}[K" }.joined(separator: "\r\n")
    try Output.write("\u{1b}[H" + text + "\u{1b}[J")
  }

  /// The size of the terminal; 80 x 24 if the terminal does not tell it.
  var size: SwitcherScreen.Size {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return .init(columns: 80, lines: 24) }
    return .init(columns: Int(size.ws_col), lines: Int(size.ws_row))
  }

  /// Returns the bytes that the terminal has sent; empty at the end of the input.
  func read() throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 256)
    while true {
      let count = Glibc.read(Self.input, &bytes, bytes.count)
      if count >= 0 { return Array(bytes.prefix(count)) }
      // The kernel reports the end of a terminal as EIO.
      if errno == EIO { return [] }
      if errno != EINTR { throw SystemError(call: "read", errno: errno) }
    }
  }

  private func set(_ mode: inout termios) throws {
    while tcsetattr(Self.input, TCSAFLUSH, &mode) != 0 {
      if errno != EINTR { throw SystemError(call: "tcsetattr", errno: errno) }
    }
  }
}
