import Glibc

/// The controlling terminal of this process, if it has one.
///
/// A full-screen program sets a mode in which Ctrl-C and Ctrl-Z are ordinary input. While such a
/// program is suspended, the terminal is in the mode that it had before the program started.
struct Terminal {
  /// The descriptor, open until this process exits; -1 without a terminal.
  private let number: Int32
  private let initialMode: termios?
  private var programsMode: termios?

  init() {
    number = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    initialMode = Self.mode(of: number)
  }

  /// Whether input goes to this process group; true without a terminal.
  var isOurs: Bool {
    number < 0 || tcgetpgrp(number) == getpgrp()
  }

  /// Sets the mode that the terminal had before the program started.
  mutating func programIsSuspended() {
    guard var mode = initialMode, isOurs, let current = Self.mode(of: number),
      !Self.areAlike(current, mode)
    else { return }
    programsMode = current
    _ = tcsetattr(number, TCSANOW, &mode)
  }

  /// Sets the mode that the program had set.
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
