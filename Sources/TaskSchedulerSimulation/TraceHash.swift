import TaskSchedulerCore

/// A hash of a trace. Unlike Swift's own hashes, the hash is the same in every process.
///
/// The hash applies the step of FNV-1a to 8-byte words of the bytes that an event log would
/// contain. After each step, it mixes the high bits into the low bits.
public struct TraceHash: Sendable {
  public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325
  private var writer = StoredWriter()

  public init() {}

  /// Adds an event, its instant and its effects.
  mutating func add(_ event: Event, at now: Instant, _ effects: [Effect]) {
    writer.removeAll()
    now.write(to: &writer)
    event.write(to: &writer)
    effects.write(to: &writer)
    writer.bytes.withUnsafeBytes { bytes in
      add(UInt64(bytes.count))
      for place in stride(from: 0, to: bytes.count - 7, by: 8) {
        add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
      }
      for byte in bytes.suffix(bytes.count % 8) { add(UInt64(byte)) }
    }
  }

  private mutating func add(_ word: UInt64) {
    value = (value ^ word) &* 0x0000_0100_0000_01B3
    value ^= value >> 29
  }
}
