import Glibc

/// The start of the program, on a clock that does not stop while the program or the machine is
/// suspended.
private let start = ContinuousClock.now

/// Prints a line with the seconds since the start.
func say(_ text: String) {
  let (seconds, attoseconds) = (ContinuousClock.now - start).components
  let milliseconds = String(attoseconds / 1_000_000_000_000_000)
  let padding = String(repeating: "0", count: 3 - milliseconds.count)
  let left = String(repeating: " ", count: max(0, 4 - String(seconds).count))
  write("[\(left)\(seconds).\(padding)\(milliseconds) s] \(text)\n", to: STDOUT_FILENO)
}

/// Returns the text for a remaining time, such as `3.0 s remain`.
func describe(_ remaining: Duration) -> String {
  let tenths = Int((remaining / Duration.milliseconds(100)).rounded())
  return "\(tenths / 10).\(tenths % 10) s remain"
}

/// Ends the program with a sentence on standard error.
func fail(_ text: String, code: Int32 = 1) -> Never {
  write("uploader-example: \(text)\n", to: STDERR_FILENO)
  exit(code)
}

/// Writes a text. Returns false if this fails.
@discardableResult
func write(_ text: String, to number: Int32) -> Bool {
  var bytes = Array(text.utf8)[...]
  while !bytes.isEmpty {
    let count = bytes.withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
    if count < 0 && errno == EINTR { continue }
    if count <= 0 { return false }
    bytes = bytes.dropFirst(count)
  }
  return true
}

/// Opens the destination for writing.
func open(_ destination: Options.Destination) -> Int32 {
  switch destination {
  case .file(let path):
    let number = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    if number < 0 { fail("cannot open \(path): \(String(cString: strerror(errno)))") }
    return number
  case .port(let port):
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if result != 0 { fail("cannot connect to port \(port): \(String(cString: strerror(errno)))") }
    return number
  }
}
