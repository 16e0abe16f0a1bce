import TaskSchedulerCore
import Testing

@testable import TaskSchedulerEventLog

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

@Suite("The event log's form: values as bytes")
struct CodingTests {
  @Test("A part of an unfinished message takes a byte for each byte, whatever it holds")
  func messagePart() throws {
    let part = MessagePart([UInt8](repeating: 0xE9, count: 1 << 16))
    let note = Note.input(part, connection: 7)
    let bytes = try BinaryEncoding.bytes(of: note)
    #expect(bytes.count < part.bytes.count + 100)
    #expect(try BinaryDecoding.decode(Note.self, from: bytes) == note)
  }

  @Test("A written value reads back unchanged")
  func roundTrip() throws {
    let bytes = try BinaryEncoding.bytes(of: Everything())
    #expect(try BinaryDecoding.decode(Everything.self, from: bytes) == Everything())
  }

  private struct Newer: Codable {
    var added = ["x": [1, 2, 3]]
    var kept = 5
    var text = "t"
  }
  private struct Older: Codable, Equatable {
    var text: String
    var kept: Int
    var later: Int?
  }

  @Test("Unknown fields are skipped, and missing fields are optional")
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

  @Test("A requested notification of an earlier version is read")
  func notificationAskedFor() throws {
    enum Older: Encodable { case schedule(RequestID, ApplicationKey, NotificationDraft) }
    let (request, draft) = (
      RequestID(1), NotificationDraft(content: NotificationContent(title: "tea"))
    )
    let key = ApplicationKey(try #require(ApplicationID("org.test.tea")), owner: UserID(0))
    let bytes = try BinaryEncoding.bytes(of: Older.schedule(request, key, draft))
    #expect(
      try BinaryDecoding.decode(NotificationEvent.self, from: bytes)
        == .schedule(request, key, draft, unshown: nil))
  }

  @Test("Lowered priorities are read as a list, and as the fields of earlier versions")
  func lowered() throws {
    struct Named: Codable {
      struct Process: Codable {
        var pid: Int32 = 5
        var startTime: UInt64 = 6
      }
      var thread = Process()
      var process: Int32 = 4
      var group: String?
      var lever = "nice"
      var before = -3
      var after = 10
    }
    for group in [nil, "/a.slice"] {
      let value = Holdings.Lowered(
        thread: Leader(pid: 5, startTime: 6), process: 4, group: group, lever: "nice", before: -3,
        after: 10)
      for bytes in [
        try BinaryEncoding.bytes(of: value), try BinaryEncoding.bytes(of: Named(group: group)),
      ] {
        #expect(try BinaryDecoding.decode(Holdings.Lowered.self, from: bytes) == value)
      }
    }
  }

  @Test(
      """
      Held processes are read in the present form, as plain bytes and as earlier versions wrote \
      them
      """)
  func holdings() throws {
    struct Named: Codable {
      var instances: [InstanceID: Holdings.Instance]
      var connections: [UInt64: Holdings.Connection]
      var arrivals: [Leader: Holdings.Arrival]
      var runningOn: [Leader: Holdings.Instance]?
    }
    let leader = Leader(pid: 7, startTime: .max)
    let arrival = Holdings.Arrival(
      leader: leader, uid: .max, group: "/a.slice", marker: "m", mechanism: "freezer",
      isLaunched: true, launch: InstanceID(3))
    var instance = Holdings.Instance(
      application: "org.example.mail", arrival: arrival,
      stopped: [true, false].map { Holdings.Stopped(process: leader, wasStopped: $0) })
    instance.release = .kill
    instance.lowered = [
      .init(thread: leader, process: 4, group: "/b", lever: "nice", before: -20, after: 19),
      .init(thread: leader, process: 4, group: nil, lever: "io", before: .min, after: .max),
    ]
    instance.leadsSession = true
    instance.leadsGroup = false
    let plain = Holdings.Instance(
      application: "org.example.maps",
      arrival: .init(
        leader: leader, uid: 0, group: nil, marker: nil, mechanism: nil, isLaunched: false))
    var connection = Holdings.Connection()
    connection.stream = InstanceID(1)
    connection.monitor = .init(uid: 1000)
    connection.waiting = .init(
      request: RequestID(9), method: "terminate", application: "mail", isOneway: false)
    connection.input = MessagePart(Array(0...255))
    connection.isUnsaved = true
    var holdings = Holdings()
    holdings.instances = [InstanceID(1): instance, InstanceID(2): plain]
    holdings.connections = [.max: connection, 0: .init()]
    holdings.arrivals = [leader: arrival]
    holdings.runningOn = [leader: instance]
    let named = Named(
      instances: holdings.instances, connections: holdings.connections,
      arrivals: holdings.arrivals, runningOn: holdings.runningOn)
    for bytes in [try BinaryEncoding.bytes(of: holdings), try BinaryEncoding.bytes(of: named)] {
      #expect(try BinaryDecoding.decode(Holdings.self, from: bytes) == holdings)
    }
  }

  @Test("Fields are found in any order, even while others are decoded")
  func anyOrder() throws {
    struct Pair: Codable, Equatable {
      var first: [Older]
      var last: Int
    }
    struct Turned: Decodable {
      var last: Int
      var first: [Older]
      var again: Int
      enum CodingKeys: CodingKey { case first, last }
      init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        last = try values.decode(Int.self, forKey: .last)
        first = try values.decode([Older].self, forKey: .first)
        again = try values.decode(Int.self, forKey: .last)
      }
    }
    let older = [Older(text: "a", kept: 1), Older(text: "b", kept: 2, later: 3)]
    let bytes = try BinaryEncoding.bytes(of: Pair(first: older, last: 9))
    let turned = try BinaryDecoding.decode(Turned.self, from: bytes)
    #expect(turned.first == older)
    #expect([turned.last, turned.again] == [9, 9])
  }

  @Test("Truncated bytes are refused")
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

  @Test("A changed byte does not crash the reader")
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

  @Test("A number that does not fit its type is refused")
  func numbers() throws {
    let bytes = try BinaryEncoding.bytes(of: UInt64(300))
    #expect(throws: DecodingError.self) { try BinaryDecoding.decode(UInt8.self, from: bytes) }
    let negative = try BinaryEncoding.bytes(of: -1)
    #expect(throws: DecodingError.self) { try BinaryDecoding.decode(UInt.self, from: negative) }
    let long = [3] + Array(repeating: 0xFF as UInt8, count: 9) + [2]
    #expect(throws: DecodingError.self) { try BinaryDecoding.decode(UInt64.self, from: long) }
  }

  @Test("The checksum is that of zlib")
  func checksum() {
    #expect(Array("123456789".utf8).withUnsafeBytes { Checksum.crc32($0) } == 0xCBF4_3926)
    // 32 bytes of ones, as zlib sums them up.
    let ones = [UInt8](repeating: 0xFF, count: 32)
    #expect(ones.withUnsafeBytes { Checksum.crc32($0) } == 0xFF6C_AB0B)
  }
}
