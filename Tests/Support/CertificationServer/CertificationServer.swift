import Glibc
import TaskSchedulerWire

/// A system call that failed.
struct SystemError: Error, CustomStringConvertible {
  let call: String
  let code = errno
  var description: String { "\(call): \(String(cString: strerror(code)))" }
}

/// Prints one line on standard error.
func complain(_ problem: some CustomStringConvertible) {
  let line = Array("CertificationServer: \(problem)\n".utf8)
  _ = write(2, line, line.count)
}

/// A server with one thread and any number of connections.
struct CertificationServer {
  private struct Peer {
    var connection: ServerConnection
    var buffer = MessageBuffer()
  }

  private let service: Service
  private let listener: Int32
  private var peers: [Int32: Peer] = [:]
  private var certification = Certification()

  init(path: String) throws {
    service = Service(
      vendor: "taskschedd", product: "certification server", version: "1",
      url: "https://varlink.org",
      interfaces: [try InterfaceDescription(text: CertificationInterface.text)])
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    if listener < 0 { throw SystemError(call: "socket") }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
    let listener = listener
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if bound != 0 { throw SystemError(call: "bind") }
    if listen(listener, 16) != 0 { throw SystemError(call: "listen") }
  }

  /// Serves until no message has arrived for a minute.
  mutating func run() throws {
    while true {
      var polled = ([listener] + peers.keys.sorted()).map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      let count = poll(&polled, nfds_t(polled.count), 60_000)
      if count < 0 { throw SystemError(call: "poll") }
      if count == 0 { return }
      for entry in polled where entry.revents != 0 {
        if entry.fd == listener {
          let peer = accept(listener, nil, nil)
          if peer < 0 { throw SystemError(call: "accept") }
          peers[peer] = Peer(connection: ServerConnection(service: service))
        } else if try !serve(entry.fd) {
          peers[entry.fd] = nil
          close(entry.fd)
        }
      }
    }
  }

  /// Reads the available bytes, and answers the calls in them. Returns false if the connection has
  /// ended.
  private mutating func serve(_ fd: Int32) throws -> Bool {
    guard var peer = peers[fd] else { return false }
    var bytes = [UInt8](repeating: 0, count: 65536)
    let count = read(fd, &bytes, bytes.count)
    if count <= 0 { return false }
    peer.buffer.append(Array(bytes[..<count]))
    var output: [UInt8] = []
    while let message = try peer.buffer.next() {
      switch peer.connection.receive(message, output: &output) {
      case .call(let call): answer(call, on: &peer.connection, &output)
      case .answered: break
      case .close(let violation):
        complain(violation)
        return false
      }
    }
    peers[fd] = peer
    return send(output, to: fd)
  }

  private mutating func answer(
    _ call: ReceivedCall, on connection: inout ServerConnection, _ output: inout [UInt8]
  ) {
    do throws(Certification.Failure) {
      let answers = try certification.answers(to: call)
      for (index, answer) in answers.enumerated() {
        connection.reply(answer, continues: index + 1 < answers.count, output: &output)
      }
    } catch {
      connection.fail(error, output: &output)
    }
  }

  private func send(_ output: [UInt8], to fd: Int32) -> Bool {
    var rest = output[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(fd, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
