import Testing

@testable import TaskSchedulerCore

/// Handlers that come, change and leave at any moment, and a device that wakes for them alone or
/// also for other things. What must hold is found out without the planner's help.
private struct KeepAliveWalk {
  /// What a handler was promised.
  private struct Promise {
    var interval: Duration
    var countedFrom: Instant
    var runs = 0
    var deadline: Instant { countedFrom.advanced(by: interval) }
    /// Intervals are long: the lead is the longest.
    var due: Instant { countedFrom.advanced(by: interval - .milliseconds(100)) }
  }

  var planner = KeepAlivePlanner()
  var now = Instant(nanoseconds: 3_600_000_000_000)
  private(set) var wakeUpCount = 0
  private(set) var usedCount = 0
  private(set) var called: [[InstanceID]] = []
  private var promises: [InstanceID: Promise] = [:]
  private var idLast: UInt64 = 0
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  var runCounts: [InstanceID: Int] { promises.mapValues(\.runs) }

  private mutating func seconds(_ range: ClosedRange<Int>) -> Duration {
    .seconds(Int.random(in: range, using: &generator))
  }

  mutating func arrive() {
    idLast += 1
    set(InstanceID(idLast))
  }

  private mutating func set(_ id: InstanceID) {
    // Often the same intervals, so that deadlines meet.
    let interval = seconds(10...60) * (Bool.random(using: &generator) ? 60 : 59)
    planner.set(id, interval: interval, at: now)
    promises[id] = Promise(
      interval: interval, countedFrom: now, runs: promises[id]?.runs ?? 0)
  }

  private mutating func changeOne() {
    guard let id = promises.keys.sorted().randomElement(using: &generator) else { return }
    if Bool.random(using: &generator) {
      set(id)
    } else {
      planner.remove(id)
      promises[id] = nil
    }
  }

  /// Goes on to `end`, and wakes the device when the planner wants it.
  mutating func advance(to end: Instant) throws {
    while let next = planner.nextBurst, next <= end {
      #expect(next == promises.values.map(\.due).min(), "woken when the earliest is due")
      now = max(now, next)
      try run { $0.burst(at: $1) }
      wakeUpCount += 1
    }
    now = max(now, end)
  }

  /// The device wakes for something else.
  mutating func wakeByItself() throws {
    let isUsed = try run { $0.useWakeUp(at: $1) }
    usedCount += isUsed ? 1 : 0
  }

  @discardableResult
  private mutating func run(
    _ body: (inout KeepAlivePlanner, Instant) -> [InstanceID]
  ) throws -> Bool {
    let ids = body(&planner, now)
    try planner.check()
    for id in ids {
      let promise = try #require(promises[id])
      #expect(promise.deadline >= now, "a handler is never called late")
      promises[id]?.countedFrom = now
      promises[id]?.runs += 1
    }
    for (id, promise) in promises { #expect(planner[id]?.deadline == promise.deadline) }
    guard !ids.isEmpty, let shortest = promises.values.map(\.interval).min() else { return false }
    let next = now.advanced(by: shortest - .milliseconds(100))
    #expect(planner.nextBurst == next, "the next burst is one interval away")
    called.append(ids)
    return true
  }

  /// Anything, some minutes after the last thing.
  mutating func step(changes: Bool, wakesByItself: Bool) throws {
    try advance(to: now.advanced(by: seconds(0...900)))
    switch Int.random(in: 0..<5, using: &generator) {
    case 0 where promises.count < 30: arrive()
    case 1 where changes: changeOne()
    case 2 where wakesByItself: try wakeByItself()
    case _: break
    }
    try planner.check()
  }
}

@Suite("§6 keep-alive: handlers come, change and leave at any moment")
struct KeepAliveWalkTests {
  private static let seeds = 1...12 as ClosedRange<UInt64>

  @Test("the handler is called at least once before each interval ends", arguments: seeds)
  func neverLate(seed: UInt64) throws {
    var walk = KeepAliveWalk(seed: seed)
    for _ in 0..<400 { try walk.step(changes: true, wakesByItself: true) }
    #expect(walk.wakeUpCount > 100)
    #expect(walk.usedCount > 10)
  }

  @Test(
    "wake-ups are as few as if everybody ran at every burst, whoever comes in between",
    arguments: seeds)
  func lowerBound(seed: UInt64) throws {
    var walk = KeepAliveWalk(seed: seed)
    // Each that runs at a burst can wait the longer for the next: none wakes the device less often.
    var everybody = KeepAlivePlanner()
    var count = 0
    for _ in 0..<400 {
      try walk.step(changes: false, wakesByItself: false)
      while let next = everybody.nextBurst, next <= walk.now {
        for (id, keepAlive) in everybody.all {
          everybody.set(id, interval: keepAlive.interval, at: next)
        }
        count += 1
      }
      for (id, keepAlive) in walk.planner.all where everybody[id] == nil {
        everybody.set(id, interval: keepAlive.interval, at: keepAlive.countedFrom)
      }
      #expect(walk.wakeUpCount == count)
    }
  }

  @Test(
    "a wake-up that is used saves three quarters of one, and nobody runs more than 4/3 as often",
    arguments: seeds)
  func wakeUps(seed: UInt64) throws {
    var alone = KeepAliveWalk(seed: seed)
    for _ in 0..<20 { alone.arrive() }
    var helped = alone
    let end = alone.now.advanced(by: .seconds(100 * 3600))
    try alone.advance(to: end)
    var generator = SeededGenerator(seed: seed)
    while helped.now < end {
      let pause = Duration.seconds(Int.random(in: 1...1200, using: &generator))
      try helped.advance(to: min(end, helped.now.advanced(by: pause)))
      try helped.wakeByItself()
    }
    #expect(helped.usedCount > 100)
    let saved = alone.wakeUpCount - helped.wakeUpCount
    #expect(4 * (saved + 1) >= 3 * helped.usedCount)
    for (id, count) in helped.runCounts {
      #expect(3 * count <= 4 * (try #require(alone.runCounts[id]) + 1))
    }
  }

  @Test("the planned burst is the one at which the handler runs", arguments: seeds)
  func planned(seed: UInt64) throws {
    var walk = KeepAliveWalk(seed: seed)
    for _ in 0..<100 { try walk.step(changes: true, wakesByItself: true) }
    var planner = walk.planner
    var missing = Dictionary(
      uniqueKeysWithValues: planner.all.map { ($0.0, walk.planner.plannedBurst(of: $0.0)) })
    while !missing.isEmpty {
      let next = try #require(planner.nextBurst)
      for id in planner.burst(at: next) {
        if let planned = missing.removeValue(forKey: id) { #expect(planned == next) }
      }
    }
  }

  @Test("A planner that was stored and restored behaves as the original", arguments: seeds)
  func restored(seed: UInt64) throws {
    var walk = KeepAliveWalk(seed: seed)
    for _ in 0..<100 { try walk.step(changes: true, wakesByItself: true) }
    let written = StoredWriter.bytes(of: walk.planner)
    var other = walk
    other.planner = try StoredReader.read(KeepAlivePlanner.self, from: written)
    try other.planner.check()
    #expect(StoredWriter.bytes(of: other.planner) == written)
    for _ in 0..<100 {
      try walk.step(changes: true, wakesByItself: true)
      try other.step(changes: true, wakesByItself: true)
    }
    #expect(walk.called == other.called)
  }

  @Test("A keep-alive interval of 0 s or less is refused", arguments: [0, -1])
  func badInterval(seconds: Int) {
    let keepAlive = KeepAlive(interval: .seconds(seconds), countedFrom: Instant(nanoseconds: 0))
    let bytes = StoredWriter.bytes(of: [InstanceID(1): keepAlive])
    #expect(throws: MalformedBytes.self) {
      try StoredReader.read(KeepAlivePlanner.self, from: bytes)
    }
  }
}
