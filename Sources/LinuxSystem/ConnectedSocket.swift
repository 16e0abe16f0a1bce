import Glibc

/// The reason why a descriptor is not a connection that the daemon can watch. The description
/// continues a sentence that begins with "it is", and says what would be right.
public enum SocketRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// `what` is the kind of the file: "a file", "a pipe".
  case notASocket(what: String)
  /// `what` is the socket's type: "a datagram socket (SOCK_DGRAM)".
  case notAStream(what: String)
  /// The value is the number of an address family that the daemon cannot watch, such as AF_PACKET.
  case unknownFamily(Int32)
  case listening
  /// connect(2) has not succeeded yet.
  case connecting
  /// The socket was never connected, or is not connected any more.
  case notConnected
  /// The socket is one end of a connection to the daemon.
  case schedulersOwn
  case system(SystemError)

  public var description: String {
    switch self {
    case .notASocket(let what): "\(what); a connected stream socket is needed"
    case .notAStream(let what): "\(what); a connected stream socket (SOCK_STREAM) is needed"
    case .unknownFamily(let family):
      "a socket of address family \(family); AF_INET, AF_INET6, AF_UNIX or AF_VSOCK is needed"
    case .listening:
      "a listening socket; a connected socket is needed, such as one that accept(2) returns"
    case .connecting:
      "a socket that is not connected yet; pass it after connect(2) has succeeded"
    case .notConnected:
      "a socket that is not connected, or is no longer connected; a connected socket is needed"
    case .schedulersOwn:
      "a connection to taskschedd, which needs no monitoring; "
        + "a connection to another program is needed"
    case .system(let error): "a socket that could not be examined: \(error)"
    }
  }
}

/// Checks of the connections that applications pass to the daemon with ManageSocket.
public enum ConnectedSocket {
  /// Checks that a descriptor is a connected stream socket, and not one of the daemon's own. Does
  /// not change the socket or its data. Does not read the pending error, because a read clears the
  /// error.
  ///
  /// - Parameters:
  ///   - number: An open descriptor.
  ///   - listener: The socket on which the daemon listens.
  ///   - isOwn: Returns whether the socket with this cookie is the daemon's.
  /// - Returns: The cookie (SO_COOKIE), which is the same for every descriptor of the same socket.
  public static func cookie(
    of number: Int32, listener: Int32, isOwn: (UInt64) -> Bool = { _ in false }
  ) throws(SocketRefusal) -> UInt64 {
    let refusal: SocketRefusal?
    let cookie: UInt64
    do throws(SystemError) {
      refusal = try self.refusal(of: number, listener: listener)
      cookie = refusal == nil ? try UnixSocket.cookie(number) : 0
    } catch {
      throw .system(error)
    }
    if let refusal { throw refusal }
    if isOwn(cookie) { throw .schedulersOwn }
    return cookie
  }

  private static func refusal(
    of number: Int32, listener: Int32
  ) throws(SystemError) -> SocketRefusal? {
    // Most calls on a descriptor with O_PATH fail with EBADF. `check` treats EBADF as a programming
    // error, and would end the process.
    guard try check("fcntl", { fcntl(number, F_GETFL) }) & ReceivedDescriptor.oPath == 0 else {
      return .notASocket(what: "a path that was opened with O_PATH")
    }
    guard let type = try option(number, SO_TYPE, "getsockopt SO_TYPE") else {
      return .notASocket(what: ReceivedDescriptor.kind(of: number))
    }
    guard type == SOCK_STREAM.rawValue else { return .notAStream(what: name(ofType: type)) }
    let family = try option(number, SO_DOMAIN, "getsockopt SO_DOMAIN") ?? -1
    guard [AF_INET, AF_INET6, AF_UNIX, AF_VSOCK].contains(family) else {
      return .unknownFamily(family)
    }
    if try option(number, SO_ACCEPTCONN, "getsockopt SO_ACCEPTCONN") != 0 { return .listening }
    guard let peer = try SocketAddress.peer(of: number) else {
      return try isConnecting(number, family: family) ? .connecting : .notConnected
    }
    if family == AF_UNIX, try leads(number, peer, to: listener) { return .schedulersOwn }
    return nil
  }

  private static func name(ofType type: Int32) -> String {
    switch UInt32(bitPattern: type) {
    case SOCK_DGRAM.rawValue: "a datagram socket (SOCK_DGRAM)"
    case SOCK_SEQPACKET.rawValue: "a sequenced-packet socket (SOCK_SEQPACKET)"
    case SOCK_RAW.rawValue: "a raw socket (SOCK_RAW)"
    case _: "a socket of type \(type)"
    }
  }

  /// Returns whether a socket without a peer is connecting. poll(2) reports a hang-up for every
  /// socket without a peer, except for a TCP socket that is connecting.
  private static func isConnecting(_ number: Int32, family: Int32) throws(SystemError) -> Bool {
    guard family == AF_INET || family == AF_INET6 else { return false }
    return try Readiness.wait(for: 0, on: number, timeout: .zero) & Int16(POLLHUP) == 0
  }

  /// Returns whether the listener accepted the other end of this connection. An accepted socket has
  /// the address of its listener, whatever path the client used. In a container, or after the
  /// socket file was removed, two listeners may have the same address. They belong to different
  /// processes, so the function also compares the credentials.
  private static func leads(
    _ number: Int32, _ peer: SocketAddress, to listener: Int32
  ) throws(SystemError) -> Bool {
    guard try peer == SocketAddress.own(of: listener) else { return false }
    return try UnixSocket.credentials(number) == UnixSocket.credentials(listener)
  }

  /// Returns the value of a socket option; nil if the descriptor is not a socket.
  private static func option(
    _ number: Int32, _ option: Int32, _ call: String
  ) throws(SystemError) -> Int32? {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    let result = try check(call, nilFor: ENOTSOCK) {
      getsockopt(number, SOL_SOCKET, option, &value, &length)
    }
    return result == nil ? nil : value
  }
}

/// The address of a socket in the kernel's form, for comparisons.
private struct SocketAddress: Hashable {
  private let bytes: [UInt8]

  /// Returns the address that the socket is bound to.
  static func own(of number: Int32) throws(SystemError) -> SocketAddress {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    try check("getsockname") {
      withSocketAddress(&storage) { getsockname(number, $0, &length) }
    }
    return SocketAddress(storage, length)
  }

  /// Returns the address that the socket's peer is bound to; nil if the socket has no peer.
  static func peer(of number: Int32) throws(SystemError) -> SocketAddress? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = try check("getpeername", nilFor: ENOTCONN) {
      withSocketAddress(&storage) { getpeername(number, $0, &length) }
    }
    return result == nil ? nil : SocketAddress(storage, length)
  }

  private init(_ storage: sockaddr_storage, _ length: socklen_t) {
    bytes = withUnsafeBytes(of: storage) { Array($0.prefix(Int(length))) }
  }
}

private func withSocketAddress<Result>(
  _ storage: inout sockaddr_storage, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
) -> Result {
  withUnsafeMutableBytes(of: &storage) {
    body($0.baseAddress!.assumingMemoryBound(to: sockaddr.self))
  }
}
