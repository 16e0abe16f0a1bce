import Glibc

/// A table in /proc/PID/net: a line of titles, then one line for each socket. A machine may have a
/// million sockets, so the functions read the table in parts.
struct SocketTable {
  private let path: String
  private let proc: ProcFS

  init(path: String, proc: ProcFS) {
    self.path = path
    self.proc = proc
  }

  /// The socket that a line describes.
  struct Line {
    /// The inode and the address of the socket, if it listens.
    var found: (inode: UInt64, address: String)?
  }

  /// Calls `body` for each line after the titles, until `body` returns false. A missing table has
  /// no lines.
  func forEachLine(_ body: (UnsafeRawBufferPointer) -> Bool) throws(SystemError) {
    guard let file = try proc.open(path, O_RDONLY) else { return }
    let number = file.rawValue
    var kept: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 16_384)
    var isTitles = true
    while true {
      let count = try check("read", nilFor: ESRCH) {
        part.withUnsafeMutableBytes { read(number, $0.baseAddress, $0.count) }
      }
      guard let count, count > 0 else { return }
      kept += part[..<count]
      let (taken, goesOn) = kept.withUnsafeBytes { bytes -> (Int, Bool) in
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          let line = UnsafeRawBufferPointer(rebasing: rest[..<end])
          rest = rest[(end + 1)...]
          if isTitles {
            isTitles = false
          } else if !body(line) {
            return (rest.startIndex, false)
          }
        }
        return (rest.startIndex, true)
      }
      if !goesOn { return }
      kept.removeFirst(taken)
    }
  }

  /// Returns the name of the connected Unix socket that a line describes; nil if the socket is not
  /// connected or has no name.
  func connectedName(_ line: UnsafeRawBufferPointer) -> String? {
    var fields = TableFields(line)
    fields.skip(5)
    // SS_CONNECTED of linux/net.h.
    guard fields.next().hexadecimal == 3 else { return nil }
    fields.skip(1)
    let name = fields.rest
    return name.isEmpty ? nil : name
  }

  /// Parses a line. Returns nil if neither this line nor a later line describes a listening socket.
  func listener(_ kind: SocketKind, _ line: UnsafeRawBufferPointer) -> Line? {
    switch kind {
    case .unix: unixListener(line)
    case .tcp: internetListener(line, bytesCount: 4)
    case .tcp6: internetListener(line, bytesCount: 16)
    }
  }

  /// Parses `Num RefCount Protocol Flags Type St Inode Path`. The flags of a listening socket have
  /// __SO_ACCEPTCON.
  private func unixListener(_ line: UnsafeRawBufferPointer) -> Line {
    var fields = TableFields(line)
    fields.skip(3)
    let flags = fields.next()
    fields.skip(2)
    guard (flags.hexadecimal ?? 0) & 0x10000 != 0, let inode = fields.next().decimal else {
      return Line()
    }
    return Line(found: (inode, SocketAddressText.unix(inTable: fields.rest)))
  }

  /// Parses `sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …`.
  /// Listening sockets (0A) come first.
  private func internetListener(_ line: UnsafeRawBufferPointer, bytesCount: Int) -> Line? {
    var fields = TableFields(line)
    fields.skip(1)
    let address = fields.next()
    fields.skip(1)
    guard fields.next().hexadecimal == 0x0A else { return nil }
    fields.skip(5)
    guard let inode = fields.next().decimal,
      let text = Self.address(address.text, bytesCount: bytesCount)
    else { return Line() }
    return Line(found: (inode, text))
  }

  /// Parses an address and a port. The address consists of 32-bit words in this machine's byte
  /// order.
  private static func address(_ field: String, bytesCount: Int) -> String? {
    let parts = field.split(separator: ":")
    guard parts.count == 2, let port = UInt16(parts[1], radix: 16) else { return nil }
    let digits = Array(parts[0].utf8)
    guard digits.count == bytesCount * 2 else { return nil }
    var bytes: [UInt8] = []
    for word in stride(from: 0, to: digits.count, by: 8) {
      let text = String(decoding: digits[word..<word + 8], as: UTF8.self)
      guard let value = UInt32(text, radix: 16) else { return nil }
      withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
    }
    return SocketAddressText.internet(bytes, port: port)
  }
}

/// The fields of a line, which are separated by spaces.
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

  /// Returns the next field; at the end of the line, an empty field.
  mutating func next() -> Field {
    left = left.drop { $0 == UInt8(ascii: " ") }
    let field = left.prefix { $0 != UInt8(ascii: " ") }
    left = left[field.endIndex...]
    return Field(bytes: field)
  }

  mutating func skip(_ count: Int) {
    for _ in 0..<count { _ = next() }
  }

  /// The rest of the line, which may contain spaces.
  var rest: String {
    String(decoding: left.drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)
  }
}
