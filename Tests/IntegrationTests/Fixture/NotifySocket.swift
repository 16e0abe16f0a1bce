import Glibc
import LinuxSystem
import TestSupport

/// The socket to which a service reports its state (sd_notify(3)).
final class NotifySocket: Sendable {
  private let socket: FileDescriptor

  init(path: String) throws {
    socket = FileDescriptor(
      taking: Glibc.socket(
        AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
    let number = socket.rawValue
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard bound == 0 else { throw SystemError(call: "bind \(path)", errno: errno) }
  }

  /// Waits for a message with the given line. Throws if the process ends or the deadline passes
  /// first.
  func wait(for line: String, orEndOf pidfd: Int32) throws {
    while true {
      var polled = [
        pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0),
        pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0),
      ]
      let ready = poll(&polled, 2, Int32(deadline.components.seconds) * 1000)
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else { throw SystemError(call: "waiting for \(line)", errno: ETIMEDOUT) }
      guard polled[0].revents != 0 else {
        throw SystemError(call: "the service ended before \(line)", errno: ECHILD)
      }
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = recv(socket.rawValue, &bytes, bytes.count, 0)
      guard count > 0 else { throw SystemError(call: "recv", errno: errno) }
      let text = String(decoding: bytes[..<count], as: UTF8.self)
      if text.split(separator: "\n").contains(Substring(line)) { return }
    }
  }
}
