import FoundationEssentials
import TaskSchedulerCore
import Testing

@testable import TaskSchedulerEventLog

/// Returns the names of a struct's fields or of an enum's cases, from the metadata in the program.
private func declaredNames(of type: Any.Type) -> [String] {
  // The metadata points to a context descriptor. At its byte 16 is the distance to a field
  // descriptor. Bytes 12 to 15 of the field descriptor are the number of fields. From byte 16 on,
  // each field has 12 bytes, and the last four of them are the distance to the name.
  func relative(_ place: UnsafeRawPointer) -> UnsafeRawPointer {
    place + Int(place.load(as: Int32.self))
  }
  let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
  let context = metadata.load(fromByteOffset: 8, as: UnsafeRawPointer.self)
  let fields = relative(context + 16)
  let count = Int(fields.load(fromByteOffset: 12, as: UInt32.self))
  return (0..<count).map { index in
    let name = relative(fields + 16 + 12 * index + 8)
    return String(cString: name.assumingMemoryBound(to: CChar.self))
  }
}

/// Returns the type's name, such as `[InstanceID: PendingLaunch]`, `UInt64?` or `Memory.Phase`.
private func name(_ type: any Stored.Type) -> String {
  guard let container = type as? any StoredContainer.Type else {
    return String(reflecting: type).split(separator: ".").dropFirst().joined(separator: ".")
  }
  let elements = container.elements.map { name($0) }
  if elements.count == 2 { return "[\(elements[0]): \(elements[1])]" }
  return "\(type)".hasPrefix("Optional") ? "\(elements[0])?" : "[\(elements[0])]"
}

@Suite("The forms of stored types are complete and documented")
struct StoredFormTests {
  /// All types whose values an event log can contain.
  private static let types: [any StoredByParts.Type] = {
    var found: [any StoredByParts.Type] = []
    var seen: Set<ObjectIdentifier> = []
    func add(_ type: any Stored.Type) {
      guard seen.insert(ObjectIdentifier(type)).inserted else { return }
      if let container = type as? any StoredContainer.Type { container.elements.forEach(add) }
      guard let type = type as? any StoredByParts.Type else { return }
      found.append(type)
      switch type.parts {
      case .fields(let types), .derived(let types): types.forEach(add)
      case .cases(let cases): cases.flatMap(\.payload).forEach(add)
      }
    }
    let roots: [any Stored.Type] = [
      EventLogStart.self, DaemonState.self, Scheduler.self, LoggedCall.self, Event.self, Note.self,
    ]
    roots.forEach(add)
    return found
  }()

  @Test("A form has every field and every case of its type", arguments: types.indices)
  func complete(index: Int) {
    let type = Self.types[index]
    switch type.parts {
    case .fields(let types): #expect(types.count == declaredNames(of: type).count, "\(type)")
    case .cases(let cases):
      #expect(cases.map(\.name).sorted() == declaredNames(of: type).sorted(), "\(type)")
    case .derived: break
    }
  }

  @Test("A value of each case of each enum is read as it was written", arguments: types.indices)
  func restored(index: Int) throws {
    let type = Self.types[index]
    guard case .cases(let cases) = type.parts else { return }
    for number in cases.indices {
      let bytes = try Self.sample(type, ofCase: number)
      let name = cases[number].name
      #expect(try rewritten(type, bytes) == bytes, "\(type) \(name)")
      #expect(try "\(decoded(type, bytes))".hasPrefix(name), "\(type) \(name)")
    }
  }

  @Test("A value of each type with fields is read as it was written", arguments: types.indices)
  func restoredFields(index: Int) throws {
    let type = Self.types[index]
    guard case .fields = type.parts else { return }
    let bytes = try Self.sample(type)
    #expect(try rewritten(type, bytes) == bytes, "\(type)")
  }

  @Test("The request of an event is the RequestID of its payload")
  func requests() throws {
    guard case .cases(let topics) = Event.parts else { return }
    var count = 0
    for (number, topic) in topics.enumerated() {
      let inner = topic.payload[0] as? any StoredByParts.Type
      for item in 0..<(inner.map { caseCount($0) } ?? 1) {
        let payload =
          try inner.map { try Self.sample($0, ofCase: item) }
          ?? topic.payload.flatMap { try Self.sample($0) }
        let event = try StoredReader.read(Event.self, from: [UInt8(number)] + payload)
        #expect(event.request == Self.request(in: event), "\(event)")
        count += 1
      }
    }
    #expect(count > topics.count)
  }

  /// Returns the RequestID of an event; nil if the event has none. The RequestID is in the payload
  /// of the event, or in the payload of an enum that is the event's payload.
  private static func request(in value: Any) -> RequestID? {
    for child in Mirror(reflecting: value).children {
      if let request = child.value as? RequestID { return request }
      let kind = Mirror(reflecting: child.value).displayStyle
      if kind == .tuple || kind == .optional || child.value is any StoredByParts && kind == .enum,
        let request = request(in: child.value)
      {
        return request
      }
    }
    return nil
  }

  private func caseCount(_ type: any StoredByParts.Type) -> Int {
    if case .cases(let cases) = type.parts { cases.count } else { 1 }
  }

  private func decoded<Value: Stored>(_ type: Value.Type, _ bytes: [UInt8]) throws -> Any {
    try StoredReader.read(type, from: bytes)
  }

  private func rewritten<Value: Stored>(_ type: Value.Type, _ bytes: [UInt8]) throws -> [UInt8] {
    StoredWriter.bytes(of: try StoredReader.read(type, from: bytes))
  }

  /// Returns the bytes of an arbitrary value of a type. If the type is an enum, the value is the
  /// case with the given number.
  private static func sample(
    _ type: any Stored.Type, ofCase number: Int = 0
  ) throws -> [UInt8] {
    func isReadable<Value: Stored>(_ type: Value.Type, _ bytes: [UInt8]) -> Bool {
      (try? StoredReader.read(type, from: bytes)) != nil
    }
    // In a signed number, the byte 1 stands for -1. Some types do not permit -1, but accept the
    // byte 2.
    let samples = [1, 2].lazy.compactMap { try? sample(type, ofCase: number, byte: $0) }
    return try #require(samples.first { isReadable(type, $0) }, "no sample of \(type)")
  }

  /// Returns the bytes of a value of a type. Each number in the value is stored as the one byte
  /// `byte`.
  private static func sample(
    _ type: any Stored.Type, ofCase number: Int = 0, byte: UInt8
  ) throws -> [UInt8] {
    if type == Region.self { return try region() }
    if let container = type as? any StoredContainer.Type {
      return try [1] + container.elements.flatMap { try sample($0, byte: byte) }
    }
    if let type = type as? any StoredByParts.Type {
      switch type.parts {
      case .fields(let types), .derived(let types):
        return try types.flatMap { try sample($0, byte: byte) }
      case .cases(let cases):
        return try [UInt8(number)] + cases[number].payload.flatMap { try sample($0, byte: byte) }
      }
    }
    // The type may be a number, a flag, an id, an enum that is stored by its name, or a policy.
    // Tries the bytes of each.
    let names = type is any RawRepresentable.Type ? declaredNames(of: type) : []
    let candidates =
      [[byte], [1]] + (["org.example.a"] + names).map { StoredWriter.bytes(of: $0) }
      + [StoredWriter.bytes(of: Policy())]
    func isReadable<Value: Stored>(_ type: Value.Type, _ bytes: [UInt8]) -> Bool {
      (try? StoredReader.read(type, from: bytes)) != nil
    }
    return try #require(candidates.first { isReadable(type, $0) }, "no sample of \(type)")
  }

  /// Returns the bytes of a valid region. The function above repeats one byte, but no byte results
  /// in both a valid coordinate and a valid radius.
  private static func region() throws -> [UInt8] {
    let center = try #require(Coordinate(latitude: 1, longitude: 2))
    let id = try #require(RegionID("a"))
    return StoredWriter.bytes(of: try #require(Region(id, center: center, radius: 200)))
  }

  /// Returns whether docs/event-log.md leaves out an enum. It leaves out the enums of events,
  /// effects and records, which often have new cases.
  private static func isLeftOut(_ name: String) -> Bool {
    name.hasSuffix("Event") || name.hasSuffix("Effect") || name.hasSuffix("Record")
      || name == "NotificationTransaction" || name == "Record.Change"
  }

  @Test("docs/event-log.md lists the stored types with their forms")
  func documented() throws {
    let rows = Self.types.filter { type in
      if case .cases = type.parts { !Self.isLeftOut(name(type)) } else { true }
    }.map { type in
      let content =
        switch type.parts {
        case .fields(let types):
          zip(declaredNames(of: type), types).map { "`\($0)`: \(name($1))" }
        case .derived(let types): types.map { name($0) }
        case .cases(let cases):
          cases.enumerated().map { number, item in
            let payload = item.payload.map { name($0) }.joined(separator: ", ")
            return "\(number) `\(item.name)`" + (payload.isEmpty ? "" : ": \(payload)")
          }
        }
      return "| \(name(type)) | \(content.joined(separator: "; ")) |"
    }
    let settings = PolicySetting.all.map { setting in
      let type =
        switch setting.kind {
        case .timeSpan: name(Duration.self)
        case .count: name(Int.self)
        case .flag: name(Bool.self)
        }
      return "`\(setting.name)`: \(type)"
    }
    let policy = "| \(name(Policy.self)) | \(settings.joined(separator: "; ")) |"
    let table = (rows + [policy]).sorted().joined(separator: "\n")
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let document = try String(contentsOfFile: "/\(root)/docs/event-log.md", encoding: .utf8)
    #expect(document.contains(table), "the table should be\n\(table)")
  }
}
