import FoundationEssentials
import Testing

@testable import TaskSchedulerCore

extension CompactBytes {
  /// A text as it stands in what is not written as plain bytes.
  static func digits(of text: String) -> String {
    var writer = CompactWriter()
    writer.write(text: text)
    return writer.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  fileprivate func values<Value: Compact>() throws -> [Value] {
    var values: [Value] = []
    try forEach { (value, _) in values.append(value) }
    return values
  }
}

@Suite("Frequent values of the state, as plain bytes")
struct CompactTests {
  private func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  private func returns<Value: Compact & Equatable>(_ values: [Value]) throws {
    let text = try JSONEncoder().encode(CompactBytes(values))
    #expect(try JSONDecoder().decode(CompactBytes.self, from: text).values() == values)
  }

  @Test("Numbers up to their bounds read back unchanged")
  func numbers() throws {
    try returns([0, 1, 127, 128, .max - 1, .max] as [UInt64])
    try returns([0, .max] as [UInt32])
    try returns([.min, .min + 1, -64, -1, 0, 1, 63, 64, .max] as [Int64])
    try returns([.min, -1, 0, .max] as [Int32])
    try returns([.min, 0, .max] as [Int])
    try returns([.zero, .nanoseconds(1), .seconds(-3), .nanoseconds(Int64.max)] as [Duration])
  }

  @Test("Texts, lists and optional values read back unchanged")
  func others() throws {
    try returns([true, false])
    try returns(["", "org.example.mail", "\"ü\"\n"])
    try returns([[], ["a"], ["b", ""]] as [[String]])
    try returns([nil, "", nil] as [String?])
  }

  @Test("Each case of an enumeration reads back unchanged")
  func cases() throws {
    let at = Instant(nanoseconds: 7)
    try returns([.none, .stopping, .failed(retryAt: at)] as [Instance.Suspension])
    try returns(
      [
        .exited(code: 0), .exited(code: -1), .crashed(signal: 11), .unknown,
        .terminatedByOperator, .terminatedByUser, .callbackTimeout, .backgroundTimeExpired,
        .keepAliveTimeout, .memoryPressure, .gpuInBackground, .sharedResourceHeld, .excessiveUse,
        .optedOut, .schedulerStopped,
      ] as [EndReason])
    try returns(
      [
        .task(TaskID(1), name: "sync"), .task(TaskID(.max), name: nil), .callback(.willTerminate),
        .activity(.audio), .eventHandled, .eventTime, .launchTime,
      ].map { EndedEntitlement(kind: $0, at: at) })
  }

  @Test("Truncated bytes, another form and a count of missing values are refused")
  func damaged() throws {
    var walk = Walk(seed: 3)
    walk.run(steps: 300, thenStop: false)
    let instances = walk.world.scheduler.instances.values.map { $0 }
    #expect(instances.count > 1)
    let whole = try json(CompactBytes(instances)).dropFirst().dropLast()
    func read(_ digits: some StringProtocol) throws {
      let text = Data("\"\(digits)\"".utf8)
      let _: [Instance] = try JSONDecoder().decode(CompactBytes.self, from: text).values()
    }
    try read(whole)
    for count in 0..<whole.count {
      #expect(throws: DecodingError.self, "\(count)") { try read(whole.prefix(count)) }
    }
    #expect(throws: DecodingError.self) { try read(whole + "00") }
    #expect(throws: DecodingError.self) { try read("03" + whole.dropFirst(2)) }
    #expect(throws: DecodingError.self) { try read("02ffffffff7f") }
    #expect(throws: DecodingError.self) { try read("02ffffffffffffffffff7f") }
  }

  @Test("A state of an older version with named fields is read",
    arguments: 1...6 as ClosedRange<UInt64>)
  func older(seed: UInt64) throws {
    var walk = Walk(seed: seed)
    for _ in 0..<8 {
      walk.run(steps: 60, thenStop: false)
      let scheduler = walk.world.scheduler
      var text = try json(scheduler)
      for (name, bytes, older) in [
        ("instances", try json(compact(scheduler)), try json(sorted(scheduler))),
        (
          "applications", try json(CompactBytes(scheduler.applications.all)),
          try json(scheduler.applications.all)
        ),
        (
          "manifests", try json(CompactBytes(scheduler.applications.allManifests)),
          try json(scheduler.applications.allManifests)
        ),
      ] {
        #expect(text.contains("\"\(name)\":\(bytes)"), "\(name)")
        text = text.replacing("\"\(name)\":\(bytes)", with: "\"\(name)\":\(older)")
      }
      // What few have was not written apart.
      for (name, list) in [
        ("instanceDetails", try json(sorted(scheduler).compactMap { InstanceDetails($0) })),
        (
          "details",
          try json(scheduler.applications.all.compactMap { ApplicationDetails($0) })
        ),
      ] {
        #expect(text.contains("\"\(name)\":\(list)"), "\(name)")
        text = text.replacing("\"\(name)\":\(list)", with: "\"\(name)\":null")
      }
      let read = try JSONDecoder().decode(Scheduler.self, from: Data(text.utf8))
      #expect(read.instances == scheduler.instances)
      #expect(read.applications.all == scheduler.applications.all)
    }
  }

  private func sorted(_ scheduler: Scheduler) -> [Instance] {
    scheduler.instances.values.sorted { $0.id < $1.id }
  }

  private func compact(_ scheduler: Scheduler) -> CompactBytes { CompactBytes(sorted(scheduler)) }
}
