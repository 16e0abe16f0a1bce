import Glibc

/// The sockets of some processes, as far as it is to be told on which addresses they listen.
///
/// The kernel tells it in tables of all sockets of a network. Most sockets of an application are
/// connected, or of a kind that never listens: those are remembered, and no table is read for them
/// again. The number of a socket's inode comes again only after 2^32 others.
public struct ListeningSockets: Sendable {
  /// The address of one that listens; nil of one that never will.
  private var known: [UInt64: String?] = [:]

  public init() {}

  /// The addresses on which these processes listen, sorted: `127.0.0.1:80`, `[::1]:80`, `/run/x`,
  /// `@name`.
  public mutating func addresses(
    of files: OpenFiles, in tables: inout SocketTables
  ) -> [String] {
    let sockets = files.sockets()
    let open = sockets.reduce(into: Set()) { $0.formUnion($1.inodes) }
    known = known.filter { open.contains($0.key) }
    for (process, inodes) in sockets {
      let unknown = inodes.filter { known[$0] == nil }
      if unknown.isEmpty { continue }
      for (inode, found) in tables.find(unknown, of: process) { known[inode] = .some(found) }
    }
    return Set(known.values.compactMap { $0 }).sorted()
  }
}

/// The kernel's tables of sockets, each as it was when it was first asked for.
public struct SocketTables: Sendable {
  private struct Network {
    var unix: [UInt64: String?]
    var listening: [UInt64: String]?
  }

  private let proc: ProcFS
  private var networks: [String: Network] = [:]

  public init(in proc: ProcFS) {
    self.proc = proc
  }

  /// Of some sockets that a process has, those that listen, with their addresses, and those that
  /// never will, with nil. Each network is asked once, by one of the processes that are in it.
  mutating func find(_ inodes: Set<UInt64>, of process: Int32) -> [UInt64: String?] {
    let name = ((try? proc.link("\(process)/ns/net")) ?? nil) ?? "\(process)"
    var network = networks[name] ?? Network(unix: unixSockets(process))
    var found: [UInt64: String?] = [:]
    for inode in inodes {
      if let address = network.unix[inode] {
        found[inode] = .some(address)
      } else {
        let listening = network.listening ?? self.listening(process)
        network.listening = listening
        if let address = listening[inode] { found[inode] = .some(address) }
      }
    }
    networks[name] = network
    return found
  }

  private func unixSockets(_ process: Int32) -> [UInt64: String?] {
    guard let table = (try? proc.bytes("\(process)/net/unix")) ?? nil else { return [:] }
    return SocketTable(table).unixSockets()
  }

  private func listening(_ process: Int32) -> [UInt64: String] {
    var found: [UInt64: String] = [:]
    for (name, isWide) in [("tcp", false), ("tcp6", true)] {
      let path = "\(process)/net/\(name)"
      guard
        let table = (try? proc.bytes(path, until: { !SocketTable.isOfListening($0) })) ?? nil
      else { continue }
      found.merge(SocketTable(table).listening(isWide: isWide)) { first, _ in first }
    }
    return found
  }
}

/// A table of /proc/PID/net: a line of titles, then one for each socket. A machine may have many
/// thousands of them.
struct SocketTable {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Goes through the lines after the titles, until one is enough.
  private func forEachLine(_ body: (UnsafeRawBufferPointer) -> Bool) {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let line = UnsafeRawBufferPointer(rebasing: rest[..<end])
        if rest.startIndex > 0, !body(line) { return }
        rest = rest[(end + 1)...]
      }
    }
  }

  /// `Num RefCount Protocol Flags Type St Inode Path`. Of those that listen, the flags have
  /// __SO_ACCEPTCON; one that is connected (SS_CONNECTED), or takes datagrams, never will.
  ///
  /// - Returns: the addresses of those that listen, and nil for those that never will, by inode.
  func unixSockets() -> [UInt64: String?] {
    var found: [UInt64: String?] = [:]
    forEachLine { line in
      var fields = TableFields(line)
      fields.skip(3)
      let (flags, type, state) = (fields.next(), fields.next(), fields.next())
      guard let inode = fields.next().decimal else { return true }
      if (flags.hexadecimal ?? 0) & 0x10000 != 0 {
        let name = fields.rest
        found[inode] = .some(name.isEmpty ? "a Unix socket without a name" : name)
      } else if state.hexadecimal == 3 || type.hexadecimal == UInt64(SOCK_DGRAM.rawValue) {
        found[inode] = .some(nil)
      }
      return true
    }
    return found
  }

  /// `sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …`. Those that
  /// listen (0A) come first. Of the others none is said to: a connection of TCP can be undone.
  func listening(isWide: Bool) -> [UInt64: String] {
    var found: [UInt64: String] = [:]
    forEachLine { line in
      var fields = TableFields(line)
      fields.skip(1)
      let address = fields.next()
      fields.skip(1)
      guard fields.next().hexadecimal == 0x0A else { return false }
      fields.skip(5)
      if let inode = fields.next().decimal,
        let text = Self.address(address.text, isWide: isWide) {
        found[inode] = text
      }
      return true
    }
    return found
  }

  /// Whether the last whole line of a part of a table of TCP is the titles, or of one that listens.
  /// A machine may have a million sockets that do not.
  static func isOfListening(_ part: [UInt8]) -> Bool {
    let lines = part.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard lines.count > 2 else { return true }
    let words = lines[lines.count - 2].split(separator: UInt8(ascii: " "))
    return words.count > 3 && words[3].elementsEqual("0A".utf8)
  }

  /// The address in words of 32 bits as this machine writes them, and the port.
  private static func address(_ field: String, isWide: Bool) -> String? {
    let parts = field.split(separator: ":")
    guard parts.count == 2, let port = UInt16(parts[1], radix: 16) else { return nil }
    let digits = Array(parts[0].utf8)
    guard digits.count == (isWide ? 32 : 8) else { return nil }
    var bytes: [UInt8] = []
    for word in stride(from: 0, to: digits.count, by: 8) {
      let text = String(decoding: digits[word..<word + 8], as: UTF8.self)
      guard let value = UInt32(text, radix: 16) else { return nil }
      withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
    }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard
      inet_ntop(isWide ? AF_INET6 : AF_INET, bytes, &text, socklen_t(text.count)) != nil
    else { return nil }
    let name = String(
      decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return isWide ? "[\(name)]:\(port)" : "\(name):\(port)"
  }
}

/// The fields of a line, with spaces between them.
private struct TableFields {
  struct Field {
    let bytes: Slice<UnsafeRawBufferPointer>

    var text: String { String(decoding: bytes, as: UTF8.self) }
    var decimal: UInt64? { number(base: 10) }
    var hexadecimal: UInt64? { number(base: 16) }

    private func number(base: UInt64) -> UInt64? {
      guard !bytes.isEmpty, bytes.count <= 16 else { return nil }
      var value: UInt64 = 0
      for byte in bytes {
        let digit: UInt8
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
        default: return nil
        }
        guard digit < base else { return nil }
        value = value * base + UInt64(digit)
      }
      return value
    }
  }

  private var left: Slice<UnsafeRawBufferPointer>

  init(_ line: UnsafeRawBufferPointer) { left = line[...] }

  /// Empty at the end.
  mutating func next() -> Field {
    left = left.drop { $0 == UInt8(ascii: " ") }
    let field = left.prefix { $0 != UInt8(ascii: " ") }
    left = left[field.endIndex...]
    return Field(bytes: field)
  }

  mutating func skip(_ count: Int) {
    for _ in 0..<count { _ = next() }
  }

  /// All that is left, which may have spaces.
  var rest: String {
    String(decoding: left.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
  }
}
