import Glibc
import LinuxSystem
import TaskSchedulerDaemon

/// Messages with file descriptors on a real socket, which the daemon's `MessageInput` receives.
///
/// The input is a list of steps. `s` sends bytes: the next byte modulo 12 is the number of
/// descriptors, the byte after it is the length, and then the bytes follow. `n` receives a message.
/// `t` receives a message and claims its first descriptor. `r` simulates the daemon's death: a new
/// receiver continues with the collected data. `l` peeks at a message; the receiver then dies
/// before it receives the message. At the end, the target ends the stream and receives the rest.
///
/// The target checks that every message arrives whole, in order and as soon as it is complete, with
/// the descriptors that were sent with its bytes. It also checks that unclaimed descriptors are
/// closed, and that a message with too many descriptors ends the connection.
enum DescriptorsTarget {
  /// The maximum number of steps, each of which needs some system calls.
  private static let stepsMax = 256

  static func run(_ input: UnsafeRawBufferPointer) throws {
    var controlBytes = ControlBytes(input)
    var stream = try DescriptorStream()
    var steps = 0
    while let letter = controlBytes.byte(), steps < stepsMax, !stream.isOver {
      steps += 1
      switch letter {
      case UInt8(ascii: "s"):
        let descriptorCount = controlBytes.byte() ?? 0
        let bytes = controlBytes.bytes(Int(controlBytes.byte() ?? 0))
        try stream.send(bytes, descriptorCount: Int(descriptorCount) % 12)
      case UInt8(ascii: "n"): try stream.next(.take)
      case UInt8(ascii: "t"): try stream.next(.claim)
      case UInt8(ascii: "l"):
        try stream.next(.look)
        stream.restart()
      case UInt8(ascii: "r"): stream.restart()
      default: break
      }
    }
    try stream.finish()
  }
}

/// Both ends of a socket, and the messages that must arrive.
private struct DescriptorStream: ~Copyable {
  /// The maximum number of descriptors that `MessageInput` accepts.
  private static let descriptorsMax = 8

  /// A sent descriptor: the writing end of a pipe. The reading end hangs up when all copies of the
  /// writing end are closed.
  private final class Sent {
    let reading: FileDescriptor

    init(_ reading: consuming FileDescriptor) {
      self.reading = reading
    }

    func areClosed() throws -> Bool {
      // Waits, because a process that another thread is starting may hold a copy of the writing end
      // until it calls exec.
      let events = try Readiness.wait(for: 0, on: reading.rawValue, timeout: .seconds(5))
      return events & Int16(POLLHUP) != 0
    }
  }

  private struct Message {
    var bytes: [UInt8] = []
    var descriptorCount = 0
    var sent: [Sent] = []
  }

  private let near: FileDescriptor
  private let far: FileDescriptor
  private let buffer = ReadBuffer()
  private var input = MessageInput()
  /// The messages that were sent completely and not yet received.
  private var whole: [Message] = []
  private var unfinished = Message()
  private var sentCount = 0
  /// The descriptors of the message that was received last.
  private var last: [Sent] = []
  private(set) var isOver = false
  /// Whether the sending end is shut down, so that no more messages can arrive.
  private var isAtEnd = false

  init() throws {
    let (first, second) = try UnixSocket.pair(nonblocking: true).ends()
    near = FileDescriptor(taking: first)
    far = FileDescriptor(taking: second)
  }

  mutating func send(_ bytes: [UInt8], descriptorCount: Int) throws {
    if bytes.isEmpty { return }
    let (reading, writing) = try FileDescriptor.pipe().ends()
    let sent = Sent(FileDescriptor(taking: reading))
    let sample = FileDescriptor(taking: writing)
    let numbers = [Int32](repeating: sample.rawValue, count: descriptorCount)
    let transfer = try bytes.withUnsafeBytes { bytes in
      try numbers.withUnsafeBufferPointer {
        try UnixSocket.send(near.rawValue, bytes, descriptors: $0)
      }
    }
    guard case .bytes(let count) = transfer else { return }
    sentCount += 1 + bytes.count { $0 == 0 }
    unfinished.descriptorCount += descriptorCount
    unfinished.sent.append(sent)
    for byte in bytes[..<count] {
      if byte == 0 {
        whole.append(unfinished)
        unfinished = Message()
      } else {
        unfinished.bytes.append(byte)
      }
    }
  }

  /// The actions of the receiver on a message.
  enum ReaderAction {
    case look, take, claim
  }

  mutating func next(_ action: ReaderAction) throws {
    if try step(action) {
      throw Finding(description: "the receiver reported the end of an open stream")
    }
  }

  /// Performs one action of the receiver. Returns true at the end of the stream.
  private mutating func step(_ action: ReaderAction) throws -> Bool {
    let previous = last
    last = []
    switch input.next(far.rawValue, buffer) {
    case .message(let bytes): try came(bytes, action)
    case .part:
      do {
        try input.takePart(far.rawValue, buffer)
      } catch {
        try failed(error)
      }
    case .incomplete:
      try require(whole.isEmpty, "a complete message was not received")
      try areClosed(previous)
      // After the end of the stream, the rest of an incomplete message cannot arrive.
      return isAtEnd
    case .closed:
      try require(whole.isEmpty, "the receiver reported the end before the last message")
      try areClosed(previous)
      return true
    case .failed(let error): try failed(error)
    }
    try areClosed(previous)
    return false
  }

  private mutating func came(_ bytes: UnsafeRawBufferPointer, _ action: ReaderAction) throws {
    guard let expected = whole.first else {
      throw Finding(description: "received a message that was not sent: \(Array(bytes))")
    }
    try require(expected.bytes == Array(bytes), "received \(Array(bytes)), not \(expected.bytes)")
    try require(input.untakenCount > 0, "received a message that was already taken")
    try require(
      input.hasDescriptors || input.descriptors.count == expected.descriptorCount,
      "the receiver has not noticed all descriptors")
    if case .look = action { return }
    do {
      try input.take(far.rawValue, buffer)
    } catch {
      return try failed(error)
    }
    try require(expected.bytes == Array(bytes), "the message changed when it was taken")
    last = expected.sent
    whole.removeFirst()
    let count = input.descriptors.count
    try require(
      count == expected.descriptorCount,
      "received \(count) descriptors of \(expected.descriptorCount)")
    if !input.mayHaveMore {
      let left = try UnixSocket.readableCount(far.rawValue)
      try require(left == 0, "\(left) bytes are unread, but mayHaveMore is false")
    }
    if case .claim = action, count > 0 { try claim() }
  }

  private mutating func claim() throws {
    let isThere = input.descriptors.take(0) != nil
    try require(isThere, "a received descriptor cannot be claimed")
    let isThereAgain = input.descriptors.take(0) != nil
    try require(!isThereAgain, "a descriptor can be claimed twice")
  }

  private mutating func failed(_ error: any Error) throws {
    let descriptorCount = (whole.first ?? unfinished).descriptorCount
    try require(
      descriptorCount > Self.descriptorsMax,
      "the receiver refused a message with \(descriptorCount) descriptors: \(error)")
    isOver = true
  }

  private func areClosed(_ sent: [Sent]) throws {
    for sent in sent { try require(sent.areClosed(), "an unclaimed descriptor is still open") }
  }

  /// Simulates the daemon's death: the collected bytes survive, but not the descriptors.
  mutating func restart() {
    if input.isCollecting {
      let lost = input.descriptors.count
      if whole.isEmpty {
        unfinished.descriptorCount -= lost
      } else {
        whole[0].descriptorCount -= lost
      }
    }
    input = MessageInput(collected: Array(input.taken))
  }

  /// Ends the stream, and receives all messages that are left.
  consuming func finish() throws {
    try UnixSocket.shutdown(near.rawValue, Int(SHUT_WR))
    isAtEnd = true
    // A receive call returns the bytes of at most one send with descriptors, so a message may need
    // one step for each of its sends. The number of sends and messages limits the number of steps.
    var stepsLeft = sentCount + 3
    while !isOver {
      try require(stepsLeft > 0, "the receiver did not report the end of the stream")
      stepsLeft -= 1
      if try step(.take) { break }
    }
    let sent = whole.flatMap(\.sent) + unfinished.sent + last
    _ = consume self
    for sent in sent {
      try require(sent.areClosed(), "a descriptor is open after its connection was closed")
    }
  }
}
