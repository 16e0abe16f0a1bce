import TaskSchedulerWire

/// Message boundaries in a stream. `MessageBuffer` and `MessageScanner` must find the same ends of
/// messages as a plain search for NULs, whether the stream arrives at once or in pieces.
///
/// The first byte of the input selects the maximum message length, and the second byte selects the
/// lengths of the pieces.
enum FramingTarget {
  private static let longest = [4, 16, 256, MessageScanner.messageBytesMaxDefault]

  private struct Outcome: Equatable {
    var messages: [[UInt8]] = []
    var violation: ProtocolViolation?
  }

  static func run(_ input: UnsafeRawBufferPointer) throws {
    var controlBytes = ControlBytes(input)
    guard let selector = controlBytes.byte(), let seed = controlBytes.byte() else { return }
    let bytesMax = longest[Int(selector) % longest.count]
    let stream = Array(controlBytes.rest)
    let pieces = split(stream, seed)
    let expected = search(stream, bytesMax)
    let scanned = scan(pieces, bytesMax)
    try require(scanned == expected, "the scanner found \(scanned), a plain search \(expected)")
    let buffered = try buffer(pieces, bytesMax)
    try require(buffered == expected, "the buffer found \(buffered), a plain search \(expected)")
  }

  /// Splits a stream into pieces of 1 to 32 bytes. For seed 0, the stream stays in one piece.
  static func split(_ stream: [UInt8], _ seed: UInt8) -> [[UInt8]] {
    if seed == 0 { return [stream] }
    var state = UInt32(seed)
    var pieces: [[UInt8]] = []
    var rest = stream[...]
    while !rest.isEmpty {
      state = state &* 1_664_525 &+ 1_013_904_223
      let count = Int(state >> 27) + 1
      pieces.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    return pieces
  }

  private static func search(_ stream: [UInt8], _ bytesMax: Int) -> Outcome {
    var outcome = Outcome()
    var rest = stream[...]
    while let end = rest.firstIndex(of: 0), end - rest.startIndex < bytesMax {
      outcome.messages.append(Array(rest[..<end]))
      rest = rest[(end + 1)...]
    }
    if rest.count >= bytesMax { outcome.violation = .oversized(bytesMax: bytesMax) }
    return outcome
  }

  private static func scan(_ pieces: [[UInt8]], _ bytesMax: Int) -> Outcome {
    var outcome = Outcome()
    var scanner = MessageScanner(messageBytesMax: bytesMax)
    var held: [UInt8] = []
    for piece in pieces {
      held += piece
      do {
        while let length = try held.withUnsafeBytes({ try scanner.scan($0) }) {
          outcome.messages.append(Array(held[..<(length - 1)]))
          held.removeFirst(length)
        }
      } catch {
        outcome.violation = error as? ProtocolViolation
        return outcome
      }
    }
    return outcome
  }

  private static func buffer(_ pieces: [[UInt8]], _ bytesMax: Int) throws -> Outcome {
    var outcome = Outcome()
    var buffer = MessageBuffer(messageBytesMax: bytesMax)
    var held = 0
    for piece in pieces {
      buffer.append(piece)
      held += piece.count
      do throws(ProtocolViolation) {
        while let message = try buffer.next() {
          outcome.messages.append(message)
          held -= message.count + 1
        }
      } catch {
        outcome.violation = error
        return outcome
      }
      try require(buffer.count == held, "the buffer holds \(buffer.count) bytes, not \(held)")
    }
    return outcome
  }
}
