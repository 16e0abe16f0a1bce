import Glibc
import Synchronization

/// A TCP connection that transports these lines of words:
///
///     REGISTER ada      the sender is ada and accepts calls
///     CALL ada bob      bob calls ada
///     INVITE bob        bob calls the phone that receives this line
///     ANSWER bob        from a phone: it answers bob's call; to bob: the call is answered
///     GONE ada          ada cannot be reached
///     BYE bob           to a phone: bob has hung up; from a phone: it confirms the hang-up
///     PING, PONG        keep routers from dropping the connection
final class Line: Sendable {
  private struct Input {
    var unread: [UInt8] = []
    var isClosed = false
  }

  let number: Int32
  private let input = Mutex(Input())

  /// Whether the peer has closed the connection.
  var isClosed: Bool { input.withLock { $0.isClosed } }

  init(taking number: Int32) {
    self.number = number
    var one: Int32 = 1
    setsockopt(
      number, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Connects to a port of this machine. Returns nil if no server listens.
  static func connect(port: UInt16) -> Line? {
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let result = withAddress(port) { Glibc.connect(number, $0, $1) }
    if result == 0 { return Line(taking: number) }
    close(number)
    return nil
  }

  deinit { close(number) }

  func send(_ line: String) { write(line + "\n", to: number) }

  /// Returns the lines that have arrived, split into words. Does not wait.
  func takeLines() -> [[String]] {
    input.withLock { input in
      receive(&input)
      let newline = UInt8(ascii: "\n")
      guard let end = input.unread.lastIndex(of: newline) else { return [] }
      let lines = String(decoding: input.unread[..<end], as: UTF8.self).split(separator: "\n")
      input.unread.removeFirst(end + 1)
      return lines.map { $0.split(separator: " ").map(String.init) }
    }
  }

  private func receive(_ input: inout Input) {
    var bytes = [UInt8](repeating: 0, count: 4096)
    while !input.isClosed {
      let count = recv(number, &bytes, bytes.count, Int32(MSG_DONTWAIT))
      if count < 0 && errno == EINTR { continue }
      if count < 0 && errno == EAGAIN { return }
      if count <= 0 { input.isClosed = true }
      input.unread += bytes.prefix(max(0, count))
    }
  }

  /// Waits for data for the given time; with -1, without a limit. Returns false if no data has
  /// arrived.
  @discardableResult
  func wait(milliseconds: Int32 = -1) -> Bool {
    var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, milliseconds) > 0
  }
}

/// Calls the body with the address of a port of this machine.
func withAddress<Result>(
  _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
) -> Result {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
  return withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
}
