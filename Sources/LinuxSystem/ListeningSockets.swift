import CLinux
import Glibc

/// The sockets that processes have open, by the network namespace of the process.
struct SocketsByNetwork {
  struct Network {
    /// A process in the namespace. The search reads the socket tables of this process.
    let process: Int32
    var inodes: Set<UInt64> = []
  }

  private(set) var networks: [String: Network] = [:]

  mutating func add(_ inode: UInt64, of process: Int32, _ network: String) {
    networks[network, default: Network(process: process)].inodes.insert(inode)
  }
}

/// A search for the addresses on which sockets listen.
///
/// The kernel reports these addresses by sock_diag(7) for the network namespace of the caller. For
/// other namespaces, and without that interface, the search reads the tables in /proc. A program
/// can forge lines of a table, because the name of a Unix socket may contain a line end. A forged
/// line can make a socket look like a listening socket. It cannot hide a listening socket, because
/// the table also contains that socket's own line.
struct ListenerSearch {
  private let sockets: SocketsByNetwork
  private let proc: ProcFS
  private let limit: UInt64
  private var found: Set<String> = []
  /// Whether the search examined all sockets.
  private(set) var isComplete = true

  /// - Parameter limit: The reading of the thread's CPU clock at which the search ends, in
  ///   nanoseconds.
  init(_ sockets: SocketsByNetwork, in proc: ProcFS, until limit: UInt64) {
    self.sockets = sockets
    self.proc = proc
    self.limit = limit
  }

  mutating func addresses() -> [String] {
    let own = (try? proc.link("self/ns/net")) ?? nil
    for (name, network) in sockets.networks {
      for kind in SocketKind.allCases {
        let isAsked = name == own && ask(kind, network)
        if !isAsked { readTable(kind, network) }
      }
    }
    return found.sorted()
  }

  /// Finds listening sockets by sock_diag(7). Returns false if the kernel lacks this interface.
  private mutating func ask(_ kind: SocketKind, _ network: SocketsByNetwork.Network) -> Bool {
    do throws(SystemError) {
      let isWhole = try SocketDiagnosis.forEachListener(of: kind) { inode, address in
        if network.inodes.contains(inode) { found.insert(address) }
        return ThreadClock.now() < limit
      }
      if !isWhole { isComplete = false }
      return true
    } catch {
      return false
    }
  }

  private mutating func readTable(
    _ kind: SocketKind, _ network: SocketsByNetwork.Network
  ) {
    do throws(SystemError) {
      let table = SocketTable(path: "\(network.process)/net/\(kind.tableName)", proc: proc)
      var isCut = false
      try table.forEachLine { line in
        if ThreadClock.now() >= limit { isCut = true }
        guard !isCut, let listener = table.listener(kind, line) else { return false }
        if let (inode, address) = listener.found, network.inodes.contains(inode) {
          found.insert(address)
        }
        return true
      }
      if isCut { isComplete = false }
    } catch {
      isComplete = false
    }
  }
}

/// The kinds of sockets that can listen.
enum SocketKind: CaseIterable {
  case unix, tcp, tcp6

  var tableName: String {
    switch self {
    case .unix: "unix"
    case .tcp: "tcp"
    case .tcp6: "tcp6"
    }
  }

  var family: Int32 {
    switch self {
    case .unix: AF_UNIX
    case .tcp: AF_INET
    case .tcp6: AF_INET6
    }
  }
}

/// Requests to sock_diag(7).
enum SocketDiagnosis {
  /// Calls `body` with the inode and the address of each listening socket in the network namespace
  /// of the calling thread, until `body` returns false.
  ///
  /// - Returns: false if `body` returned false.
  /// - Throws: ENOENT if the kernel lacks the module, EAFNOSUPPORT in a sandbox.
  static func forEachListener(
    of kind: SocketKind, _ body: (_ inode: UInt64, _ address: String) -> Bool
  ) throws(SystemError) -> Bool {
    try forEachMessage { clinux_diagnosis_ask($0, UInt8(kind.family)) } body: { message in
      guard let (inode, address) = kind.listener(in: message) else { return true }
      return body(inode, address)
    }
  }

  /// For each connected Unix socket with a name, calls `body` with the name and the inode of the
  /// socket's peer, until `body` returns false. A socket that a server has accepted has the name of
  /// the server. Covers the network namespace of the calling thread.
  ///
  /// - Returns: false if `body` returned false.
  /// - Throws: ENOENT if the kernel lacks the module, EAFNOSUPPORT in a sandbox.
  static func forEachNamedConnection(
    _ body: (_ name: String, _ peer: UInt64) -> Bool
  ) throws(SystemError) -> Bool {
    try forEachMessage { clinux_diagnosis_ask_connected($0) } body: { message in
      // The attributes UNIX_DIAG_NAME and UNIX_DIAG_PEER follow struct unix_diag_msg.
      let attributes = NetlinkMessage.attributes(in: message.dropFirst(16))
      guard let name = attributes[0], !name.isEmpty,
        let peer = attributes[2]?.integer(at: 0, as: UInt32.self)
      else { return true }
      return body(SocketAddressText.unix(name), UInt64(peer))
    }
  }

  /// Sends a request, and calls `body` with each message of the answer until `body` returns false.
  ///
  /// - Returns: false if `body` returned false.
  private static func forEachMessage(
    ask: (Int32) -> Int32, body: (ArraySlice<UInt8>) -> Bool
  ) throws(SystemError) -> Bool {
    let socket = FileDescriptor(
      taking: try check("socket AF_NETLINK") { clinux_diagnosis_socket() })
    let number = socket.rawValue
    try check("send AF_NETLINK") { ask(number) }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = try check("recv AF_NETLINK") {
        clinux_route_receive(number, &bytes, bytes.count)
      }
      guard count <= bytes.count else { throw SystemError(call: "recv AF_NETLINK", errno: EPROTO) }
      for message in NetlinkMessage.all(in: bytes[..<count]) {
        guard ![NetlinkMessage.done, NetlinkMessage.error].contains(message.type) else {
          let code = message.body.integer(at: 0, as: Int32.self) ?? -EPROTO
          if code < 0 { throw SystemError(call: "sock_diag", errno: -code) }
          return true
        }
        if !body(message.body) { return false }
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

/// Addresses of sockets as text.
enum SocketAddressText {
  private static let unnamed = "a Unix socket without a name"

  /// Returns `/run/x`, or `@name` for a name in the abstract namespace.
  static func unix(_ name: ArraySlice<UInt8>) -> String {
    guard let first = name.first else { return unnamed }
    if first == 0 {
      let bytes = name.dropFirst().map { $0 == 0 ? UInt8(ascii: "@") : $0 }
      return "@" + String(decoding: bytes, as: UTF8.self)
    }
    return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
  }

  static func unix(inTable name: String) -> String { name.isEmpty ? unnamed : name }

  /// Returns text such as `127.0.0.1:80` or `[::1]:80`; nil unless there are 4 or 16 bytes. The
  /// bytes are in network order.
  static func internet(_ bytes: [UInt8], port: UInt16) -> String? {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    let isWide = bytes.count == 16
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard
      inet_ntop(isWide ? AF_INET6 : AF_INET, bytes, &text, socklen_t(text.count)) != nil
    else { return nil }
    let name = String(
      decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return isWide ? "[\(name)]:\(port)" : "\(name):\(port)"
  }
}
