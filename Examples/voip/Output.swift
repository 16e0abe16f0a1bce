import Glibc

/// The start of the program, on a clock that does not stop while the program or the machine is
/// suspended.
private let start = ContinuousClock.now

/// Prints a line with the seconds since the start.
func say(_ text: String) {
  write("[\(seconds(ContinuousClock.now - start)) s] \(text)\n", to: STDOUT_FILENO)
}

/// Returns the text for a duration in seconds, such as `12.034`.
func seconds(_ duration: Duration) -> String {
  let (seconds, attoseconds) = duration.components
  let milliseconds = String(attoseconds / 1_000_000_000_000_000)
  return "\(seconds)." + String(repeating: "0", count: 3 - milliseconds.count) + milliseconds
}

/// Ends the program with a sentence on standard error.
func fail(_ text: String) -> Never {
  write("voip-example: \(text)\n", to: STDERR_FILENO)
  exit(1)
}

/// Returns the error of the last system call.
func problem() -> String { String(cString: strerror(errno)) }

/// Writes as much of a text as the descriptor accepts.
func write(_ text: String, to number: Int32) {
  var bytes = Array(text.utf8)[...]
  while !bytes.isEmpty {
    let count = bytes.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
    if count < 0 && errno == EINTR { continue }
    if count <= 0 { return }
    bytes = bytes.dropFirst(count)
  }
}
