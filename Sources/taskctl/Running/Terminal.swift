import Glibc

/// The terminal that controls this process, if there is one.
///
/// A full-screen program leaves it in a mode in which Ctrl-C and Ctrl-Z are letters. While such a
/// program is suspended, the terminal has the mode back that it had before the program.
struct Terminal {
  /// Open for the life of this process; -1 without a terminal.
  private let number: Int32
  private let initialMode: termios?
  private var programsMode: termios?

  init() {
    number = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    initialMode = Self.mode(of: number)
  }

  /// Whether what is typed goes to this process group; true also without a terminal.
  var isOurs: Bool {
    number < 0 || tcgetpgrp(number) == getpgrp()
  }

  /// Gives the terminal the mode that it had before the program.
  mutating func programIsSuspended() {
    guard var mode = initialMode, isOurs, let current = Self.mode(of: number),
      !Self.areAlike(current, mode)
    else { return }
    programsMode = current
    _ = tcsetattr(number, TCSANOW, &mode)
  }

  /// Gives the terminal the program's mode again.
  mutating func programGoesOn() {
    guard isOurs, var mode = programsMode else { return }
    programsMode = nil
    _ = tcsetattr(number, TCSANOW, &mode)
  }

  private static func mode(of number: Int32) -> termios? {
    var mode = termios()
    return tcgetattr(number, &mode) == 0 ? mode : nil
  }

  private static func areAlike(_ one: termios, _ other: termios) -> Bool {
    one.c_iflag == other.c_iflag && one.c_oflag == other.c_oflag && one.c_cflag == other.c_cflag
      && one.c_lflag == other.c_lflag
  }
}
