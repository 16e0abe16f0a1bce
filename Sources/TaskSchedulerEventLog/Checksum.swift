/// CRC-32 (ISO 3309, as in zlib and Ethernet), which detects malformed and damaged records.
///
/// The checksum does not protect against deliberate changes. The permissions of the directory do.
package enum Checksum {
  /// Eight tables of 256 entries. Table n maps a byte to its contribution to the checksum if n more
  /// bytes follow it in the same 8-byte word.
  private static let tables: [UInt32] = {
    var tables: [UInt32] = (0..<256).map { index in
      (0..<8).reduce(UInt32(index)) { value, _ in
        value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1
      }
    }
    for index in 256..<8 * 256 {
      let before = tables[index - 256]
      tables.append(tables[Int(before & 0xFF)] ^ (before >> 8))
    }
    return tables
  }()

  /// Returns the checksum of some bytes. For speed, the function processes eight bytes at a time:
  /// the event log of a thousand applications has more than a megabyte.
  package static func crc32(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    tables.withUnsafeBufferPointer { tables in
      var sum = ~0 as UInt32
      var place = 0
      while place + 8 <= bytes.count {
        let read = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
        let word = UInt64(littleEndian: read) ^ UInt64(sum)
        sum = 0
        for index in 0..<8 {
          let byte = Int(truncatingIfNeeded: word >> UInt64(8 * index)) & 0xFF
          sum ^= tables[(7 - index) << 8 | byte]
        }
        place += 8
      }
      for byte in bytes[place...] {
        sum = tables[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ (sum >> 8)
      }
      return ~sum
    }
  }
}
