import Glibc
import LinuxSystem
import TestSupport

/// A terminal with an interactive shell, which reads the input that the test types.
final class TestTerminal {
  let shell: TestProcess
  private let screen: FileDescriptor
  /// The output after the last text that `wait(for:)` has found.
  private var unread = ""

  init(_ daemon: DaemonFixture) throws {
    screen = FileDescriptor(taking: open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC))
    // TIOCSPTLCK and TIOCGPTN (ioctl_tty(2)): the first unlocks the shell's end of the terminal,
    // and the second returns its number.
    var isLocked: Int32 = 0
    var number: Int32 = 0
    guard ioctl(screen.rawValue, 0x4004_5431, &isLocked) == 0,
      ioctl(screen.rawValue, 0x8004_5430, &number) == 0
    else { throw SystemError(call: "opening a terminal", errno: errno) }
    // A session leader without a controlling terminal acquires the terminal that it opens.
    let script = "exec bash --norc --noprofile --noediting -i <>\"$0\" >&0 2>&0"
    shell = try TestProcess("/bin/sh", ["sh", "-c", script, "/dev/pts/\(number)"]) {
      $0.environment =
        daemon.environment().map { SystemString($0) } + ["PS1=$ ", "TERM=dumb", "TZ=UTC"]
      $0.processGroup = nil
      $0.newSession = true
    }
    try wait(for: "$ ")
  }

  /// Types text, or a key: `\u{3}` is Ctrl-C.
  func type(_ text: String) throws {
    var text = text
    let number = screen.rawValue
    let count = text.withUTF8 { write(number, $0.baseAddress, $0.count) }
    guard count == text.utf8.count else { throw SystemError(call: "write", errno: errno) }
  }

  /// Waits until the terminal has shown the text, and discards the output up to the end of the
  /// text.
  func wait(for text: String) throws {
    while true {
      if let range = unread.firstRange(of: text) {
        unread.removeSubrange(..<range.upperBound)
        return
      }
      try readMore(text)
    }
  }

  private func readMore(_ wanted: String) throws {
    do {
      try waitFor(POLLIN, on: screen.rawValue)
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = try bytes.withUnsafeMutableBytes { try screen.read(into: $0) } ?? 0
      unread += String(decoding: bytes[..<count], as: UTF8.self)
    } catch {
      throw WaitFailure(wanted: wanted, seen: unread, error: "\(error)")
    }
  }

  struct WaitFailure: Error {
    let wanted: String
    let seen: String
    let error: String
  }
}
