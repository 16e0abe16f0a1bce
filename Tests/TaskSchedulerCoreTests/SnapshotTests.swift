import FoundationEssentials
import Testing

@testable import TaskSchedulerCore

@Suite("An acknowledged promise survives a crash of the daemon")
struct SnapshotTests {
  private func restored(_ scheduler: Scheduler) throws -> Scheduler {
    try JSONDecoder().decode(Scheduler.self, from: JSONEncoder().encode(scheduler))
  }

  @Test("A scheduler that was written and read continues like the original",
    arguments: 1...12 as ClosedRange<UInt64>)
  func goesOn(seed: UInt64) throws {
    var walk = Walk(seed: seed)
    for _ in 0..<12 {
      walk.run(steps: 50, thenStop: false)
      let original = walk.world.scheduler
      let copy = try restored(original)
      copy.checkInvariants()
      #expect(copy.nextDeadline == original.nextDeadline)
      #expect(copy.statuses(at: walk.world.now) == original.statuses(at: walk.world.now))
      var (one, other) = (walk, walk)
      other.world.scheduler = copy
      one.run(steps: 100)
      other.run(steps: 100)
      #expect(one.world.effects == other.world.effects)
    }
  }

  @Test("The same state is written as the same bytes")
  func canonical() throws {
    var walk = Walk(seed: 7)
    walk.run(steps: 300, thenStop: false)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let first = try encoder.encode(walk.world.scheduler)
    #expect(try encoder.encode(restored(walk.world.scheduler)) == first)
  }

  @Test("A state that violates an invariant is refused when it is read")
  func violatedInvariant() throws {
    var world = World()
    _ = world.make(mail, .background)
    let text = String(decoding: try JSONEncoder().encode(world.scheduler), as: UTF8.self)
    for (whole, broken) in [
      (CompactBytes.digits(of: "background"), CompactBytes.digits(of: "suspended")),
      ("\"instanceIDLast\":1", "\"instanceIDLast\":0"),
      ("\"instanceIDLast\":1", "\"instanceIDLast\":18446744073709551615"),
      ("\"tasksPerUserMax\":16384", "\"tasksPerUserMax\":0"),
    ] {
      let changed = text.replacing(whole, with: broken)
      #expect(changed != text)
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode(Scheduler.self, from: Data(changed.utf8))
      }
    }
  }

  @Test("A state of an older version without wake-ups is read")
  func olderState() throws {
    var world = World()
    let id = world.make(mail, .background)
    _ = world.make(music, .suspended)
    world.spawning = .never
    world.feed(.manifestsChanged([Manifest(id: maps.id, owner: maps.owner)]))
    world.feed(.launch(nil, maps, target: .foreground, reason: .user))
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let written = String(decoding: try encoder.encode(world.scheduler), as: UTF8.self)
    var older = written
    for part in [
      "keepAlives\":[]",
      "notifications\":{\"awaitingNext\":[],\"idLast\":0,\"pending\":[],\"scheduled\":[]}",
    ] {
      #expect(older.contains(part), "\(part)")
      older = older.replacing(",\"" + part, with: "")
    }
    // As they begin, these are not written, so that a new daemon has less to read.
    for part in ["changes", "sockets", "handling", "inbox"] {
      #expect(!older.contains("\"\(part)\":"), "\(part)")
    }
    let read = try JSONDecoder().decode(Scheduler.self, from: Data(older.utf8))
    #expect(String(decoding: try encoder.encode(read), as: UTF8.self) == written)
    #expect(read.state(of: id) == .background)
  }

  @Test("Limits of an older version get the defaults of missing ones")
  func olderPolicy() throws {
    let old = Data("{\"backgroundTime\":[30,0]}".utf8)
    var expected = Policy()
    expected.backgroundTime = try JSONDecoder().decode(Duration.self, from: Data("[30,0]".utf8))
    #expect(try JSONDecoder().decode(Policy.self, from: old) == expected)
  }
}
