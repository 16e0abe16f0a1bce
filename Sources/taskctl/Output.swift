import Glibc
import LinuxSystem

/// What the command says, and complains of.
enum Output {
  /// Writes to standard output at once.
  ///
  /// - Throws: `CommandFailure.failed` where it cannot be written, for example on a full disk.
  static func write(_ text: String) throws(CommandFailure) {
    if let code = write(text, to: STDOUT_FILENO) {
      throw .failed(
        name: "OutputFailed",
        sentence: "standard output cannot be written: \(SystemError.describe(code))")
    }
  }

  /// Writes a line to standard error; where that is not possible, nothing is.
  static func complain(_ text: String) {
    _ = write(text + "\n", to: STDERR_FILENO)
  }

  /// Returns the errno of a failure.
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
