/// A string of the kernel: bytes without a NUL, which need not be UTF-8. The arguments and the
/// environments of programs are such strings.
public struct SystemString: Hashable, Sendable, ExpressibleByStringInterpolation {
  /// The bytes, without the NUL at the end.
  public let bytes: [UInt8]

  /// Creates a string from these bytes. An argument of a program must not contain a NUL.
  public init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Creates a string from the UTF-8 of a Swift string.
  public init(_ text: String) {
    bytes = Array(text.utf8)
  }

  /// Creates a string from the bytes of a C string.
  public init(cString: UnsafePointer<CChar>) {
    var bytes: [UInt8] = []
    var next = cString
    while next.pointee != 0 {
      bytes.append(UInt8(bitPattern: next.pointee))
      next += 1
    }
    self.bytes = bytes
  }

  /// Creates a string from the UTF-8 of a literal.
  public init(stringLiteral text: String) {
    self.init(text)
  }
}
