import TaskSchedulerSession
import TaskSchedulerWire
import Testing

@Suite("§20: sway's messages in a stream of bytes")
struct SwayMessageTests {
  private func message(_ type: UInt32, _ payload: String, count: Int? = nil) -> [UInt8] {
    var bytes = Array("i3-ipc".utf8)
    withUnsafeBytes(of: UInt32(count ?? payload.utf8.count)) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: type) { bytes.append(contentsOf: $0) }
    return bytes + Array(payload.utf8)
  }

  private func messages(_ pieces: [[UInt8]]) throws -> [SwayMessage] {
    var buffer = SwayMessageBuffer()
    var messages: [SwayMessage] = []
    for piece in pieces {
      piece.withUnsafeBytes { buffer.append($0) }
      while let message = try buffer.next() { messages.append(message) }
    }
    return messages
  }

  @Test("Messages are found wherever the stream is split")
  func split() throws {
    let stream =
      message(2, #"{"success":true}"#) + message(0x8000_0003, #"{"change":"focus"}"#)
      + message(4, #"{"id":1}"#)
    let expected = [
      SwayMessage(type: .subscribe, payload: ["success": true]),
      SwayMessage(type: .windowEvent, payload: ["change": "focus"]),
      SwayMessage(type: .getTree, payload: ["id": 1]),
    ]
    for place in 0...stream.count {
      #expect(try messages([Array(stream[..<place]), Array(stream[place...])]) == expected)
    }
    #expect(try messages(stream.map { [$0] }) == expected)
  }

  @Test("A message that does not begin with i3-ipc is refused at its first wrong byte")
  func magic() {
    for bytes in [Array("i3-ipx".utf8), [0], Array("i3-j".utf8)] {
      #expect(throws: SwayViolation.badMagic) { try messages([bytes]) }
    }
    #expect(throws: SwayViolation.badMagic) { try messages([message(4, "{}") + [0]]) }
  }

  @Test("A length beyond the maximum is refused before the payload arrives")
  func oversized() {
    let most = SwayMessageBuffer.payloadBytesMax
    #expect(throws: Never.self) { try messages([message(4, "", count: most)]) }
    #expect(throws: SwayViolation.oversized(bytes: most + 1)) {
      try messages([message(4, "", count: most + 1)])
    }
    #expect(throws: SwayViolation.oversized(bytes: 0xFFFF_FFFF)) {
      try messages([message(4, "", count: 0xFFFF_FFFF)])
    }
  }

  @Test("An unknown type and malformed JSON are refused")
  func malformed() {
    #expect(throws: SwayViolation.unknownType(7)) { try messages([message(7, "{}")]) }
    let empty = JSONError(offset: 0, problem: "the text ends too early: a value was expected")
    #expect(throws: SwayViolation.badJSON(type: .getTree, empty)) {
      try messages([message(4, "")])
    }
    #expect(throws: SwayViolation.self) { try messages([message(4, "{\"a\":1,\"a\":2}")]) }
  }

  @Test("A request has the form of a message")
  func request() {
    #expect(SwayMessageBuffer.request(.getTree) == message(4, ""))
    #expect(SwayMessageBuffer.request(.subscribe, "[]") == message(2, "[]"))
  }
}
