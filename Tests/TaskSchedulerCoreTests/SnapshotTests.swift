import Testing

@testable import TaskSchedulerCore

@Suite("A crash of the daemon loses no acknowledged promise")
struct SnapshotTests {
  private func restored(_ scheduler: Scheduler) throws -> Scheduler {
    try StoredReader.read(Scheduler.self, from: StoredWriter.bytes(of: scheduler))
  }

  @Test(
    "A restored scheduler behaves like the original",
    arguments: 1...12 as ClosedRange<UInt64>)
  func goesOn(seed: UInt64) throws {
    var walk = RandomWalk(seed: seed)
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

  @Test("Equal states have equal bytes")
  func canonical() throws {
    var walk = RandomWalk(seed: 7)
    walk.run(steps: 300, thenStop: false)
    let first = StoredWriter.bytes(of: walk.world.scheduler)
    #expect(StoredWriter.bytes(of: try restored(walk.world.scheduler)) == first)
  }

  @Test("A state that violates an invariant is refused")
  func violatedInvariant() throws {
    var world = World()
    let id = world.make(mail, .background)
    _ = try restored(world.scheduler)
    let breaks: [(inout Scheduler) -> Void] = [
      { $0.instances[id]?.phase = .inactive(isActivating: true) },
      { $0.instanceIDLast = 0 },
      { $0.instanceIDLast = .max },
      {
        var policy = Policy()
        policy.tasksPerUserMax = 0
        $0.policy = SharedPolicy(policy)
      },
    ]
    for breakIt in breaks {
      var broken = world.scheduler
      breakIt(&broken)
      #expect(throws: MalformedBytes.self) { try restored(broken) }
    }
  }
}
