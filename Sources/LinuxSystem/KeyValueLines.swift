/// Text that consists of lines `key: value` or `key value`, such as the kernel's status files.
struct KeyValueLines {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Returns the value of the first line with this key, without white space around it.
  func value(_ key: StaticString) -> String? {
    field(key).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns the value of a key as a decimal number.
  func integer(_ key: StaticString) -> Int64? {
    value(key).flatMap { Int64($0) }
  }

  /// Returns the words of the value, which are separated by spaces or tabs.
  func words(_ key: StaticString) -> [Substring] {
    value(key)?.split(whereSeparator: { $0 == " " || $0 == "\t" }) ?? []
  }

  private func field(_ key: StaticString) -> ArraySlice<UInt8>? {
    key.withUTF8Buffer { key in
      for line in bytes.split(separator: UInt8(ascii: "\n")) where line.starts(with: key) {
        let rest = line.dropFirst(key.count)
        guard let next = rest.first, next == UInt8(ascii: ":") || isBlank(next) else { continue }
        let value = rest.dropFirst().drop(while: isBlank)
        let end = value.lastIndex(where: { !isBlank($0) }).map { $0 + 1 } ?? value.startIndex
        return value[..<end]
      }
      return nil
    }
  }

  private func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }
}
