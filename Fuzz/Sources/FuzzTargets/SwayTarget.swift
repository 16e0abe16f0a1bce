import TaskSchedulerSession

/// The messages of a compositor to the session agent. The agent must read the same messages
/// wherever the stream is split. It must refuse a tree of windows, or find at most one focused
/// window in it.
///
/// The first byte of the input selects the lengths of the pieces.
enum SwayTarget {
  private struct Outcome: Equatable {
    var messages: [SwayMessage] = []
    var violation: SwayViolation?
  }

  static func run(_ input: UnsafeRawBufferPointer) throws {
    var controlBytes = ControlBytes(input)
    guard let seed = controlBytes.byte() else { return }
    let stream = Array(controlBytes.rest)
    let whole = read([stream])
    let split = read(FramingTarget.split(stream, seed))
    try require(split == whole, "the pieces give \(split), the whole stream \(whole)")
    for message in whole.messages where message.type == .getTree {
      guard let windows = try? SwayTree.windows(message.payload) else { continue }
      let focusedCount = windows.count { $0.visibility == .focused }
      try require(focusedCount <= 1, "\(focusedCount) windows are focused")
    }
  }

  private static func read(_ pieces: [[UInt8]]) -> Outcome {
    var outcome = Outcome()
    var buffer = SwayMessageBuffer()
    for piece in pieces {
      piece.withUnsafeBytes { buffer.append($0) }
      do throws(SwayViolation) {
        while let message = try buffer.next() { outcome.messages.append(message) }
      } catch {
        outcome.violation = error
        return outcome
      }
    }
    return outcome
  }
}
