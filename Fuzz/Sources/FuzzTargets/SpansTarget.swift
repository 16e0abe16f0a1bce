import TaskSchedulerCore
import TaskSchedulerDaemon

/// Time spans and byte counts. They must be unchanged after writing and reading them again.
enum SpansTarget {
  static func run(_ input: UnsafeRawBufferPointer) throws {
    let text = String(decoding: input, as: UTF8.self)
    if let span = TimeSpan.parse(text) {
      try require(span >= .zero, "'\(text)' was read as a negative span")
      let written = TimeSpan.format(span)
      try require(TimeSpan.parse(written) == span, "'\(text)' was written as '\(written)'")
    }
    if let bytes = ByteCount.parse(text) {
      try require(bytes >= 0, "'\(text)' was read as a negative number of bytes")
      let written = ByteCount.format(bytes)
      try require(ByteCount.parse(written) == bytes, "'\(text)' was written as '\(written)'")
    }
  }
}
