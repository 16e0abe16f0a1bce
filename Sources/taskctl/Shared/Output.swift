import Glibc
import LinuxSystem

/// Standard output and standard error of the command.
enum Output {
  /// Writes to standard output at once.
  ///
  /// - Throws: `CommandFailure.failed` if the write fails, for example on a full disk.
  static func write(_ text: String) throws(CommandFailure) {
    if let code = write(text, to: STDOUT_FILENO) {
      throw .failed(
        name: "OutputFailed",
        sentence: "could not write to standard output: \(SystemError.describe(code))")
    }
  }

  /// Writes a line to standard error, and ignores a failure to do so.
  static func complain(_ text: String) {
    _ = write(text + "\n", to: STDERR_FILENO)
  }

  /// Replaces the last line of the terminal at standard error, and ignores a failure to do so.
  static func replaceLine(_ text: String) {
    _ = write("\r\u{1b}[K" + text, to: STDERR_FILENO)
  }

  /// Writes the whole text and returns nil, or the errno of the failure.
  private static func write(_ text: String, to number: Int32) -> Int32? {
    var text = text
    return text.withUTF8 { bytes -> Int32? in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = Glibc.write(number, rest.baseAddress, rest.count)
        if count < 0 && errno == EINTR { continue }
        if count < 0 { return errno }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      }
      return nil
    }
  }
}
