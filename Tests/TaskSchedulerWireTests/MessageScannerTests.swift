import Testing

@testable import TaskSchedulerWire

@Suite("Messages are found in a stream")
struct MessageScannerTests {
  static let messages = [#"{"method":"a.b.C"}"#, "{}", "", #"{"x":"é"}"#]
  static let stream: [UInt8] = messages.flatMap { Array($0.utf8) + [0 as UInt8] }

  @Test("A scanner finds each message, wherever the stream is split in three")
  func everySplit() throws {
    let stream = Self.stream
    for first in 0...stream.count {
      for second in first...stream.count {
        var scanner = MessageScanner()
        var taken = 0
        var found: [String] = []
        for end in [first, second, stream.count] {
          while let length = try scan(&scanner, Array(stream[taken..<end])) {
            found.append(String(decoding: stream[taken..<taken + length - 1], as: UTF8.self))
            taken += length
          }
        }
        #expect(found == Self.messages)
      }
    }
  }

  @Test("A buffer returns each message, wherever the reads split the stream")
  func bufferEverySplit() throws {
    for size in 1...Self.stream.count {
      var buffer = MessageBuffer()
      var found: [String] = []
      for start in stride(from: 0, to: Self.stream.count, by: size) {
        buffer.append(Array(Self.stream[start..<min(start + size, Self.stream.count)]))
        while let message = try buffer.next() {
          found.append(String(decoding: message, as: UTF8.self))
        }
      }
      #expect(found == Self.messages)
      #expect(buffer.count == 0)
    }
  }

  @Test("A byte that was scanned is not scanned again")
  func scansOnlyNewBytes() throws {
    var scanner = MessageScanner()
    #expect(try scan(&scanner, [1, 2, 3]) == nil)
    #expect(scanner.scannedCount == 3)
    // The first three bytes are 0 now. If the scanner scanned them again, it would find the end of
    // a message.
    #expect(try scan(&scanner, [0, 0, 0, 4]) == nil)
    #expect(try scan(&scanner, [0, 0, 0, 4, 0]) == 5)
    #expect(scanner.scannedCount == 0)
  }

  @Test("A message of the maximum length passes, and one byte more is refused")
  func limitsLength() throws {
    var scanner = MessageScanner(messageBytesMax: 4)
    #expect(try scan(&scanner, [1, 2, 3, 0, 1]) == 4)
    #expect(throws: ProtocolViolation.oversized(bytesMax: 4)) {
      try scan(&scanner, [1, 2, 3, 4])
    }
    var second = MessageScanner(messageBytesMax: 4)
    #expect(throws: ProtocolViolation.oversized(bytesMax: 4)) {
      try scan(&second, [1, 2, 3, 4, 0])
    }
    #expect(MessageScanner().messageBytesMax == 1_048_576)
  }

  private func scan(_ scanner: inout MessageScanner, _ bytes: [UInt8]) throws -> Int? {
    try bytes.withUnsafeBytes { try scanner.scan($0) }
  }
}
