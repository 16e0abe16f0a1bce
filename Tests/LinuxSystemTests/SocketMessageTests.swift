import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite("Messages over a socket")
final class SocketMessageTests {
  private let ours: FileDescriptor
  private let theirs: FileDescriptor

  init() throws {
    let (first, second) = try UnixSocket.pair(nonblocking: true).ends()
    ours = FileDescriptor(taking: first)
    theirs = FileDescriptor(taking: second)
  }

  private func send(_ text: String, _ descriptors: [Int32] = []) throws {
    let bytes = [UInt8](text.utf8)
    let sent = try bytes.withUnsafeBytes { bytes in
      try descriptors.withUnsafeBufferPointer {
        try UnixSocket.send(theirs.rawValue, bytes, descriptors: $0)
      }
    }
    #expect(sent == .bytes(bytes.count))
  }

  private func receive(_ count: Int, _ bag: inout DescriptorBag) throws -> String {
    var bytes = [UInt8](repeating: 0, count: count)
    try bytes.withUnsafeMutableBytes {
      try UnixSocket.receive(ours.rawValue, exactly: $0, descriptors: &bag)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func peek(_ room: Int) throws -> Transfer {
    var bytes = [UInt8](repeating: 0, count: room)
    return try bytes.withUnsafeMutableBytes { try UnixSocket.peek(ours.rawValue, into: $0) }
  }

  @Test("The descriptors of a message are not received with the previous message")
  func exactBytes() throws {
    let passed = try FileDescriptor.event(initialValue: 7)
    try send("first\0")
    try send("second\0", [passed.rawValue])
    var bag = DescriptorBag()
    #expect(try peek(64) == .bytes(13))
    #expect(try receive(6, &bag) == "first\0")
    #expect(bag.count == 0)
    #expect(try receive(7, &bag) == "second\0")
    #expect(bag.count == 1)
    let arrived = try unwrap(bag.take(0))
    #expect(bag.peek(0) == nil)
    #expect(fcntl(arrived.rawValue, F_GETFD) & FD_CLOEXEC != 0)
    var counter: UInt64 = 0
    _ = try withUnsafeMutableBytes(of: &counter) { try arrived.read(into: $0) }
    #expect(counter == 7)
  }

  @Test("A receive without descriptors returns exactly the requested number of bytes")
  func plainBytes() throws {
    func take(_ count: Int) throws -> String {
      var bytes = [UInt8](repeating: 0, count: count)
      try bytes.withUnsafeMutableBytes { try UnixSocket.receive(ours.rawValue, exactly: $0) }
      return String(decoding: bytes, as: UTF8.self)
    }
    try send("first\0")
    try send("second\0")
    #expect(try take(6) == "first\0")
    #expect(try take(3) == "sec")
    #expect(throws: ReceiveError.short(received: 4)) { try take(5) }
  }

  @Test(
    "Each byte of a message that has a descriptor and fills several kernel buffers is peeked once")
  func longMessageWithDescriptor() throws {
    try UnixSocket.setPeekMark(ours.rawValue, 0)
    let passed = try FileDescriptor.event()
    let text = String(repeating: "x", count: 150_000)
    try send(text, [passed.rawValue])
    var seen = 0
    while case .bytes(let count) = try peek(65_536) { seen += count }
    #expect(seen == text.utf8.count)
    var bag = DescriptorBag()
    #expect(try receive(seen, &bag) == text)
    #expect(bag.count == 1)
    // The receive moved the peek offset back, so the next message is peeked from its start.
    try send("next")
    #expect(try peek(64) == .bytes(4))
  }

  @Test("Each byte is peeked once, even if only a part of the peeked bytes is received")
  func peekMark() throws {
    try UnixSocket.setPeekMark(ours.rawValue, 0)
    var bag = DescriptorBag()
    try send("one\0two\0thr")
    #expect(try peek(64) == .bytes(11))
    #expect(try receive(4, &bag) == "one\0")
    #expect(try peek(64) == .wouldBlock)
    try send("ee\0")
    #expect(try peek(64) == .bytes(3))
    #expect(try receive(4, &bag) == "two\0")
    #expect(try receive(6, &bag) == "three\0")
    #expect(try peek(64) == .wouldBlock)
    try send("last")
    #expect(try peek(64) == .bytes(4))
    try UnixSocket.shutdown(theirs.rawValue, SHUT_WR)
    #expect(try peek(64) == .closed)
    #expect(try receive(4, &bag) == "last")
  }

  @Test("A peek without a message returns wouldBlock, and reports that the peer has closed")
  func closed() throws {
    let (first, second) = try UnixSocket.pair(nonblocking: true).ends()
    let one = FileDescriptor(taking: first)
    var byte: UInt8 = 0
    func look() throws -> Transfer {
      try withUnsafeMutableBytes(of: &byte) { try UnixSocket.peek(one.rawValue, into: $0) }
    }
    #expect(try look() == .wouldBlock)
    FileDescriptor(taking: second).close()
    #expect(try look() == .closed)
    let sent = try [UInt8]("x".utf8).withUnsafeBytes { try UnixSocket.send(one.rawValue, $0) }
    #expect(sent == .closed)
  }

  @Test("A send returns wouldBlock when the kernel's buffer is full, after a partial send")
  func full() throws {
    let bytes = [UInt8](repeating: 1, count: 4 << 20)
    var sent: [Transfer] = []
    repeat {
      sent.append(try bytes.withUnsafeBytes { try UnixSocket.send(theirs.rawValue, $0) })
    } while sent.last != .wouldBlock
    #expect(sent.count >= 2)
    #expect(sent.first != .wouldBlock)
  }

  @Test("A receive reports the number of bytes if fewer bytes came than were requested")
  func short() throws {
    try send("abc")
    var bag = DescriptorBag()
    #expect(throws: ReceiveError.short(received: 3)) { _ = try receive(4, &bag) }
  }

  @Test("A message carries at most 253 descriptors, and unclaimed descriptors are closed")
  func most() throws {
    let passed = try FileDescriptor.pipe()
    try send("x", Array(repeating: passed.writing.rawValue, count: UnixSocket.descriptorsMax))
    var bag = DescriptorBag()
    #expect(try receive(1, &bag) == "x")
    #expect(bag.count == 253)
    let last = bag.peek(252)
    let number = try #require(last)
    #expect(fcntl(number, F_GETFD) >= 0)
    let (reading, writing) = passed.ends()
    FileDescriptor(taking: writing).close()
    bag.removeAll()
    // A hang-up comes only if all descriptors of the pipe's writing end are closed.
    let reader = FileDescriptor(taking: reading)
    #expect(try waitForHangUp(reader.rawValue))
    let none = Array(repeating: Int32(0), count: 254)
    #expect(throws: SystemError(call: "sendmsg", errno: EINVAL)) { try send("x", none) }
  }

  @Test(
    "A message with too many descriptors (MSG_CTRUNC) loses all of them, which is a separate error",
    arguments: [0, 1, 2, 5])
  func truncated(messageMax: Int) throws {
    let (reading, writing) = try FileDescriptor.pipe().ends()
    let reader = FileDescriptor(taking: reading)
    try send("x", Array(repeating: writing, count: messageMax + 1))
    FileDescriptor(taking: writing).close()
    var bag = DescriptorBag(messageMax: messageMax)
    #expect(throws: ReceiveError.descriptorsLost) { _ = try receive(1, &bag) }
    #expect(bag.count == 0)
    #expect(try waitForHangUp(reader.rawValue))
  }

  private func waitForHangUp(_ number: Int32) throws -> Bool {
    try Readiness.wait(for: 0, on: number, timeout: .seconds(20)) & Int16(POLLHUP) != 0
  }
}
