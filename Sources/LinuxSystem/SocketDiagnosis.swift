import CLinux
import Glibc

/// The sockets of a network namespace, as the kernel reports them by sock_diag(7).
///
/// Any thread may send a request. Requests of several threads are processed one at a time.
public final class SocketDiagnosis: Sendable {
  /// The target of the link /proc/PID/ns/net of the processes in the namespace.
  let network: String
  private let socket: FileDescriptor
  /// The number of the latest request.
  private let requestLast = SharedValue<UInt32>(0)

  /// Opens a socket in the network namespace of this process.
  ///
  /// - Throws: EAFNOSUPPORT in a sandbox without AF_NETLINK.
  public convenience init(in proc: ProcFS) throws(SystemError) {
    let socket = FileDescriptor(
      taking: try check("socket AF_NETLINK") { clinux_diagnosis_socket() })
    try self.init(taking: socket, openedBy: getpid(), in: proc)
  }

  /// Takes ownership of a socket that the process `pid` opened in its network namespace.
  public init(
    taking socket: consuming FileDescriptor, openedBy pid: Int32, in proc: ProcFS
  ) throws(SystemError) {
    guard let network = try proc.link("\(pid)/ns/net") else {
      throw SystemError(call: "readlink ns/net", errno: ENOENT)
    }
    self.network = network
    self.socket = socket
  }

  /// Calls `body` with the inode and the address of each listening socket, until `body` returns
  /// false.
  ///
  /// - Returns: false if `body` returned false.
  /// - Throws: ENOENT if the kernel lacks the module.
  func forEachListener(
    of kind: SocketKind, _ body: (_ inode: UInt64, _ address: String) -> Bool
  ) throws(SystemError) -> Bool {
    try forEachMessage { clinux_diagnosis_ask($0, UInt8(kind.family), $1) } body: { message in
      guard let (inode, address) = kind.listener(in: message) else { return true }
      return body(inode, address)
    }
  }

  /// For each connected Unix socket with a name, calls `body` with this name, and with the inode of
  /// the socket's peer. A socket that a server has accepted has the name of the server.
  ///
  /// - Throws: ENOENT if the kernel lacks the module.
  func forEachNamedConnection(
    _ body: (_ name: String, _ peer: UInt64) -> Void
  ) throws(SystemError) {
    _ = try forEachMessage { clinux_diagnosis_ask_connected($0, $1) } body: { message in
      // The attributes UNIX_DIAG_NAME and UNIX_DIAG_PEER follow struct unix_diag_msg.
      let attributes = NetlinkMessage.attributes(in: message.dropFirst(16))
      if let name = attributes[0], !name.isEmpty,
        let peer = attributes[2]?.integer(at: 0, as: UInt32.self)
      {
        body(SocketAddressText.unix(name), UInt64(peer))
      }
      return true
    }
  }

  /// Sends a request, and calls `body` with each message of the answer until `body` returns false.
  ///
  /// - Returns: false if `body` returned false.
  private func forEachMessage(
    ask: (_ socket: Int32, _ sequence: UInt32) -> Int32, body: (ArraySlice<UInt8>) -> Bool
  ) throws(SystemError) -> Bool {
    let result: Result<Bool, SystemError> = requestLast.change { sequence in
      sequence &+= 1
      do throws(SystemError) {
        let (number, request) = (socket.rawValue, sequence)
        try check("send AF_NETLINK") { ask(number, request) }
        return .success(try readAnswer(to: request, body))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Reads an answer to its end, even after `body` has returned false. Until the answer has been
  /// read, the kernel refuses another request.
  private func readAnswer(
    to sequence: UInt32, _ body: (ArraySlice<UInt8>) -> Bool
  ) throws(SystemError) -> Bool {
    let number = socket.rawValue
    var isWanted = true
    // The kernel sends dumps in parts of at most 32 KiB.
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = try check("recv AF_NETLINK") {
        clinux_route_receive(number, &bytes, bytes.count)
      }
      guard count <= bytes.count else { throw SystemError(call: "recv AF_NETLINK", errno: EPROTO) }
      for message in NetlinkMessage.all(in: bytes[..<count]) where message.sequence == sequence {
        guard ![NetlinkMessage.done, NetlinkMessage.error].contains(message.type) else {
          let code = message.body.integer(at: 0, as: Int32.self) ?? -EPROTO
          if code < 0 { throw SystemError(call: "sock_diag", errno: -code) }
          return isWanted
        }
        if isWanted { isWanted = body(message.body) }
      }
    }
  }
}

extension SocketKind {
  /// Returns the inode and the address of the socket in a struct unix_diag_msg or inet_diag_msg.
  fileprivate func listener(in body: ArraySlice<UInt8>) -> (UInt64, String)? {
    switch self {
    case .unix:
      guard let inode = body.integer(at: 4, as: UInt32.self) else { return nil }
      // UNIX_DIAG_NAME.
      let name = NetlinkMessage.attributes(in: body.dropFirst(16))[0] ?? []
      return (UInt64(inode), SocketAddressText.unix(name))
    case .tcp, .tcp6:
      guard let high = body.integer(at: 4, as: UInt8.self),
        let low = body.integer(at: 5, as: UInt8.self),
        let inode = body.integer(at: 68, as: UInt32.self),
        let text = SocketAddressText.internet(
          Array(body.dropFirst(8).prefix(self == .tcp ? 4 : 16)),
          port: UInt16(high) << 8 | UInt16(low))
      else { return nil }
      return (UInt64(inode), text)
    }
  }
}
