import TaskSchedulerCore
import Testing

@testable import TaskSchedulerEventLog

@Suite("The event log's form: frequent events")
struct FrequentEventTests {
  static let events: [Event] = [
    .acknowledge(RequestID(1), InstanceID(2), CallbackID(.max)),
    .beginBackgroundTask(RequestID(.max), InstanceID(3), name: "sync \"ü\" \u{0}"),
    .beginBackgroundTask(RequestID(4), InstanceID(5), name: ""),
    .beginBackgroundTask(RequestID(4), InstanceID(5), name: nil),
    .endBackgroundTask(RequestID(6), InstanceID(.max), TaskID(7)),
    .suspensionCompleted(InstanceID(8)), .stillSuspended([]),
    .stillSuspended([InstanceID(9), InstanceID(.max)]),
  ]

  private func bytes(of event: Event) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try #require(FrequentEvents.append(event, to: &bytes))
    return bytes
  }

  private func event(_ bytes: [UInt8]) throws -> Event {
    try bytes.withUnsafeBytes { try FrequentEvents.event($0) }
  }

  @Test("A frequent event reads back unchanged", arguments: events)
  func roundTrip(_ event: Event) throws {
    #expect(try self.event(bytes(of: event)) == event)
  }

  @Test("Other events have no short form")
  func others() {
    var bytes: [UInt8] = [7]
    #expect(!FrequentEvents.append(.deadlineReached, to: &bytes))
    #expect(bytes == [7])
  }

  @Test("A truncated or extended frequent event is refused or is another complete one")
  func damaged() throws {
    for event in Self.events {
      let whole = try bytes(of: event)
      for count in 0..<whole.count {
        guard let read = try? self.event(Array(whole.prefix(count))) else { continue }
        switch read {
        case .beginBackgroundTask(_, _, _?), .stillSuspended: #expect(read != event)
        case _: Issue.record("\(event) is read as \(read)")
        }
      }
    }
    let end = try bytes(of: .suspensionCompleted(InstanceID(1)))
    let noText: [UInt8] = [2] + Array(repeating: 0xFF, count: 17)
    for wrong in [end + [0], [0], [99] + Array(end.dropFirst()), noText] {
      #expect(throws: MalformedRecord.self) { try event(wrong) }
    }
  }

  @Test("Frequent events of earlier versions are read", arguments: events)
  func earlier(_ event: Event) throws {
    var record = [EventLogLayout.RecordKind.event.rawValue, 5, 0, 0, 0, 0, 0, 0, 0]
    try BinaryEncoding.append(event, to: &record)
    let entry = try record.withUnsafeBytes { try RecordReader.entry($0) }
    guard case .event(event, at: Instant(nanoseconds: 5)) = entry else {
      Issue.record("read as \(entry)")
      return
    }
  }
}
