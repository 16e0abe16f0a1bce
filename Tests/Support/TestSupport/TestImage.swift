/// PNG images for tests.
public enum TestImage {
  /// Returns a PNG image of these dimensions. Its pixels cannot be decoded, because the content of
  /// the chunk IDAT is not valid compressed data.
  ///
  /// - Parameters:
  ///   - format: the bit depth, the color type, and the methods of compression, filtering and
  ///     interlacing.
  ///   - pixelBytes: the length of the chunk IDAT; nil omits the chunk.
  public static func png(
    width: UInt32 = 3, height: UInt32 = 2, format: [UInt8] = [8, 6, 0, 0, 0],
    pixelBytes: Int? = 10
  ) -> [UInt8] {
    signature + chunk("IHDR", number(width) + number(height) + format)
      + (pixelBytes.map { chunk("IDAT", [UInt8](repeating: 0x55, count: $0)) } ?? [])
      + chunk("IEND", [])
  }

  /// Returns a PNG image of exactly this number of bytes.
  public static func png(bytes count: Int) -> [UInt8] {
    png(pixelBytes: count - png(pixelBytes: 0).count)
  }

  public static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  public static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + data
    // Does not compute the checksums of large chunks, because no test reads them.
    return number(UInt32(data.count)) + body + number(data.count > 64 ? 0 : checksum(body))
  }

  public static func number(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }

  /// Returns the CRC of the PNG specification, by its definition as a division of polynomials.
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var rest = UInt32.max
    for byte in bytes {
      for place in 0..<8 {
        let bit = UInt32(byte >> place & 1)
        rest = (rest ^ bit) & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1
      }
    }
    return ~rest
  }
}
