import CLinux
import Glibc

/// The sockets that processes have open, by the network namespace of the process.
struct SocketsByNetwork {
  struct Network {
    /// A process in the namespace, whose socket tables in /proc the search reads.
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
/// The kernel reports these addresses by sock_diag(7) for one network namespace. For other
/// namespaces, and without that interface, the search reads the tables in /proc. A program can
/// forge lines of a table, because the name of a Unix socket may contain a line end. A forged line
/// can make a socket look like a listening socket. It cannot hide a listening socket, because the
/// table also contains that socket's own line.
struct ListenerSearch {
  private let sockets: SocketsByNetwork
  private let proc: ProcFS
  private let diagnosis: SocketDiagnosis?
  private let limit: UInt64
  private var found: Set<String> = []
  /// Whether the search examined all sockets.
  private(set) var isComplete = true

  /// - Parameter limit: The reading of the thread's CPU clock at which the search ends, in
  ///   nanoseconds.
  init(
    _ sockets: SocketsByNetwork, in proc: ProcFS, _ diagnosis: SocketDiagnosis?,
    until limit: UInt64
  ) {
    self.sockets = sockets
    self.proc = proc
    self.diagnosis = diagnosis
    self.limit = limit
  }

  mutating func addresses() -> [String] {
    for (name, network) in sockets.networks {
      for kind in SocketKind.allCases {
        let isAsked = name == diagnosis?.network && ask(kind, network)
        if !isAsked { readTable(kind, network) }
      }
    }
    return found.sorted()
  }

  /// Finds listening sockets by sock_diag(7). Returns false if this interface is missing or fails.
  private mutating func ask(_ kind: SocketKind, _ network: SocketsByNetwork.Network) -> Bool {
    guard let diagnosis else { return false }
    do throws(SystemError) {
      let isWhole = try diagnosis.forEachListener(of: kind) { inode, address in
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
