/// The properties of a PNG image (PNG Specification, Third Edition), read from its bytes without
/// decoding the pixels.
package struct PNGImage: Hashable {
  /// The size in pixels.
  package let width: Int
  package let height: Int

  /// The maximum size of an image in bytes.
  package static let bytesMax = 1 << 20
  /// The maximum width, and the maximum height, in pixels.
  package static let sideMax = 16_384
  /// The maximum number of pixels, a little more than an 8K screen has. A decoded image of this
  /// size needs 128 MiB, at 4 bytes for each pixel.
  package static let pixelsMax = 1 << 25
  /// The number of bytes up to the end of IHDR, the chunk that contains the size in pixels.
  package static let headerBytesCount = 33

  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  /// Reads the signature and IHDR, and finds the chunks up to IEND.
  ///
  /// - Throws: The problem. Its description continues a sentence that begins with "it is".
  package init(_ bytes: [UInt8]) throws(PNGProblem) {
    try self.init(header: bytes)
    try Self.checkChunks(bytes)
  }

  /// Reads the signature and IHDR only.
  package init(header bytes: [UInt8]) throws(PNGProblem) {
    guard bytes.starts(with: Self.signature) else {
      throw bytes.count < 8 && Self.signature.starts(with: bytes) ? .truncated : .noSignature
    }
    guard bytes.count >= Self.headerBytesCount else { throw .truncated }
    let start = Self.signature.count
    guard Self.number(bytes, start) == 13, Self.name(bytes, start + 4) == "IHDR" else {
      throw .noHeader
    }
    guard Self.checksum(bytes[start + 4..<start + 21]) == UInt32(Self.number(bytes, start + 21))
    else { throw .wrongChecksum }
    (width, height) = (Self.number(bytes, start + 8), Self.number(bytes, start + 12))
    guard (1...Self.sideMax).contains(width), (1...Self.sideMax).contains(height),
      width * height <= Self.pixelsMax
    else { throw .wrongSize(width: width, height: height) }
    guard Self.isKnown(depth: bytes[start + 16], colorType: bytes[start + 17]),
      bytes[start + 18] == 0, bytes[start + 19] == 0, bytes[start + 20] <= 1
    else { throw .unknownFormat }
  }

  /// Returns whether PNG allows this bit depth for this color type.
  private static func isKnown(depth: UInt8, colorType: UInt8) -> Bool {
    switch colorType {
    case 0: [1, 2, 4, 8, 16].contains(depth)
    case 3: [1, 2, 4, 8].contains(depth)
    case 2, 4, 6: [8, 16].contains(depth)
    case _: false
    }
  }

  /// Checks that chunks follow one another up to IEND, that one chunk contains pixels, and that no
  /// byte follows IEND.
  private static func checkChunks(_ bytes: [UInt8]) throws(PNGProblem) {
    var place = headerBytesCount
    var hasPixels = false
    while true {
      // A chunk has its length, its name, the data and a checksum.
      guard bytes.count - place >= 12 else { throw .truncated }
      let length = number(bytes, place)
      guard length <= bytes.count - place - 12 else { throw .truncated }
      let name = name(bytes, place + 4)
      place += 12 + length
      if name == "IDAT" { hasPixels = true }
      if name == "IEND" { break }
    }
    guard hasPixels else { throw .noPixels }
    guard place == bytes.count else { throw .bytesAfterEnd(bytes.count - place) }
  }

  /// Returns the big-endian integer in the 4 bytes at `place`.
  private static func number(_ bytes: [UInt8], _ place: Int) -> Int {
    bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  private static func name(_ bytes: [UInt8], _ place: Int) -> String {
    String(decoding: bytes[place..<place + 4], as: UTF8.self)
  }

  /// Returns the CRC of a chunk's name and data (Annex D of the specification).
  private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var crc = UInt32.max
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? 0xEDB8_8320 ^ crc >> 1 : crc >> 1 }
    }
    return ~crc
  }
}

/// The reason why the daemon does not accept bytes as a PNG image. The description continues a
/// sentence that begins with "it is".
package enum PNGProblem: Error, Hashable, CustomStringConvertible {
  case noSignature
  case noHeader
  case wrongChecksum
  case wrongSize(width: Int, height: Int)
  case unknownFormat
  case truncated
  case noPixels
  case bytesAfterEnd(Int)

  package var description: String {
    switch self {
    case .noSignature: "not a PNG image: the signature is missing"
    case .noHeader: "not a PNG image: the first chunk is not IHDR with 13 bytes"
    case .wrongChecksum: "a damaged PNG image: the checksum of IHDR is wrong"
    case .wrongSize(let width, let height):
      "a PNG image of \(width) x \(height) pixels; each side must be 1 to \(PNGImage.sideMax), and "
        + "the image must have at most \(PNGImage.pixelsMax) pixels"
    case .unknownFormat:
      "a PNG image whose IHDR has a bit depth, color type or method that the PNG specification "
        + "does not define"
    case .truncated: "a truncated PNG image: it ends before the chunk IEND"
    case .noPixels: "a PNG image without pixels: the chunk IDAT is missing"
    case .bytesAfterEnd(let count): "a PNG image with \(count) bytes after its end"
    }
  }
}
