import TaskSchedulerCore
import Testing

@testable import TaskSchedulerJournal

private struct Everything: Codable, Equatable {
  var flag = true
  var none: Int?
  var some: String? = "ü \u{0} \u{10FFFF}"
  var small: Int8 = -128
  var least = Int64.min
  var most = UInt64.max
  var double = -0.1
  var nested = [["a": 1], [:]]
  var ids: [UInt32: [UInt8]] = [7: [0, 255]]
  var choice = [Choice.plain, .one(1), .two(left: "l", right: [.plain])]
  var empty = Empty()

  enum Choice: Codable, Equatable {
    case plain
    case one(Int)
    indirect case two(left: String, right: [Choice])
  }
  struct Empty: Codable, Equatable {}
}

@Suite("the journal's form: values as bytes")
struct CodingTests {
  @Test("what is written is read again unchanged")
  func roundTrip() throws {
    let bytes = try BinaryEncoding.bytes(of: Everything())
    #expect(try BinaryDecoding.decode(Everything.self, from: bytes) == Everything())
  }

  private struct Newer: Codable {
    var added = ["x": [1, 2, 3]]
    var kept = 5
    var text = "t"
  }
  private struct Older: Codable {
    var text: String
    var kept: Int
    var later: Int?
  }

  @Test("fields that a reader does not know are stepped over; those it misses are optional")
  func versions() throws {
    let older = try BinaryDecoding.decode(Older.self, from: BinaryEncoding.bytes(of: Newer()))
    #expect(older.text == "t")
    #expect(older.kept == 5)
    #expect(older.later == nil)
    struct Stricter: Codable { var missing: Int }
    #expect(throws: DecodingError.self) {
      try BinaryDecoding.decode(Stricter.self, from: BinaryEncoding.bytes(of: Newer()))
    }
  }

  @Test("bytes cut off anywhere are refused")
  func truncated() throws {
    let bytes = try BinaryEncoding.bytes(of: Everything())
    for count in 0..<bytes.count {
      #expect(throws: DecodingError.self) {
        try BinaryDecoding.decode(Everything.self, from: Array(bytes[..<count]))
      }
    }
    #expect(throws: DecodingError.self) {
      try BinaryDecoding.decode(Everything.self, from: bytes + [0])
    }
  }

  @Test("no changed byte makes the reader crash")
  func damaged() throws {
    let bytes = try BinaryEncoding.bytes(of: Everything())
    for index in bytes.indices {
      for change in [1, 0x80, 0xFF] as [UInt8] {
        var damaged = bytes
        damaged[index] ^= change
        _ = try? BinaryDecoding.decode(Everything.self, from: damaged)
      }
    }
  }

  @Test("a number that does not fit its type is refused")
  func numbers() throws {
    let bytes = try BinaryEncoding.bytes(of: UInt64(300))
    #expect(throws: DecodingError.self) { try BinaryDecoding.decode(UInt8.self, from: bytes) }
    let negative = try BinaryEncoding.bytes(of: -1)
    #expect(throws: DecodingError.self) { try BinaryDecoding.decode(UInt.self, from: negative) }
    let long = [3] + Array(repeating: 0xFF as UInt8, count: 9) + [2]
    #expect(throws: DecodingError.self) { try BinaryDecoding.decode(UInt64.self, from: long) }
  }

  @Test("the checksum is that of zlib")
  func checksum() {
    #expect(Array("123456789".utf8).withUnsafeBytes { Checksum.crc32($0) } == 0xCBF4_3926)
  }
}
