import Testing

@testable import TaskSchedulerCore

@Suite("Stored values")
struct StoredTests {
  private func isRestored<Value: Stored & Equatable>(_ values: [Value]) throws {
    let bytes = StoredWriter.bytes(of: values)
    #expect(try StoredReader.read([Value].self, from: bytes) == values)
  }

  @Test("Decoded numbers equal the originals, up to the bounds of their types")
  func numbers() throws {
    try isRestored([0, 1, 127, 128, .max - 1, .max] as [UInt64])
    try isRestored([0, .max] as [UInt32])
    try isRestored([.min, .min + 1, -64, -1, 0, 1, 63, 64, .max] as [Int64])
    try isRestored([.min, -1, 0, .max] as [Int32])
    try isRestored([.min, 0, .max] as [Int])
    try isRestored([.zero, .nanoseconds(1), .seconds(-3), .nanoseconds(Int64.max)] as [Duration])
  }

  @Test("Decoded texts, lists, dictionaries and optional values equal the originals")
  func containers() throws {
    try isRestored([true, false])
    try isRestored(["", "org.example.mail", "\"ü\"\n"])
    try isRestored([[], ["a"], ["b", ""]] as [[String]])
    try isRestored([nil, "", nil] as [String?])
    try isRestored([[:], [1: "a", 2: ""]] as [[UInt64: String]])
  }

  @Test("The decoder refuses a number that does not fit its type")
  func tooLarge() {
    let bytes = StoredWriter.bytes(of: UInt64.max)
    #expect(throws: MalformedBytes.self) { try StoredReader.read(UInt32.self, from: bytes) }
    #expect(throws: MalformedBytes.self) { try StoredReader.read(Int32.self, from: bytes) }
    let long = Array(repeating: 0xFF as UInt8, count: 9) + [2]
    #expect(throws: MalformedBytes.self) { try StoredReader.read(UInt64.self, from: long) }
  }

  @Test("The decoder refuses a dictionary with a duplicate key")
  func keyTwice() {
    #expect(throws: MalformedBytes("1 occurs twice")) {
      try StoredReader.read([UInt64: Bool].self, from: [2, 1, 0, 1, 1])
    }
  }

  @Test(
    """
    The decoder refuses truncated bytes, additional bytes, and a count that exceeds the \
    bytes
    """)
  func damaged() throws {
    var walk = RandomWalk(seed: 4)
    walk.run(steps: 300, thenStop: false)
    let instances = walk.world.scheduler.instances
    #expect(instances.count > 1)
    let whole = StoredWriter.bytes(of: instances)
    func read(_ bytes: [UInt8]) throws {
      _ = try StoredReader.read([InstanceID: Instance].self, from: bytes)
    }
    try read(whole)
    for count in whole.indices {
      #expect(throws: MalformedBytes.self, "\(count)") { try read(Array(whole.prefix(count))) }
    }
    #expect(throws: MalformedBytes.self) { try read(whole + [0]) }
    #expect(throws: MalformedBytes.self) { try read([0xFF, 0xFF, 0xFF, 0xFF, 0x7F]) }
  }

  @Test("No changed byte makes the decoder crash")
  func changedByte() throws {
    var walk = RandomWalk(seed: 5)
    walk.run(steps: 200, thenStop: false)
    let whole = StoredWriter.bytes(of: walk.world.scheduler)
    for index in whole.indices {
      for change in [1, 0x80, 0xFF] as [UInt8] {
        var bytes = whole
        bytes[index] ^= change
        if let read = try? StoredReader.read(Scheduler.self, from: bytes) {
          #expect(read.violatedInvariant == nil)
        }
      }
    }
  }
}
