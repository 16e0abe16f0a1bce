import Testing

@testable import TaskSchedulerCore

/// A random walk that sets, changes and removes handlers of a planner. The walk computes the
/// deadlines independently of the planner.
private struct KeepAliveWalk {
  /// What the walk knows about a handler.
  private struct Promise {
    var interval: Duration
    var countedFrom: Instant
    var runs = 0
    var deadline: Instant { countedFrom.advanced(by: interval) }
    /// The instant of the planned call. All intervals are long, so the lead always has its maximum,
    /// 100 ms.
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
    // All intervals are multiples of 60 s or 59 s, so that deadlines often coincide.
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

  /// Advances the time to `end`, and runs the planned bursts until then.
  mutating func advance(to end: Instant) throws {
    while let next = planner.nextBurst, next <= end {
      #expect(
        next == promises.values.map(\.due).min(),
        "the device wakes when the earliest handler is due")
      now = max(now, next)
      try run { $0.burst(at: $1) }
      wakeUpCount += 1
    }
    now = max(now, end)
  }

  /// Wakes the device for a reason other than a handler.
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
    #expect(planner.nextBurst == next, "the next burst comes after the shortest interval")
    called.append(ids)
    return true
  }

  /// Advances the time by at most 15 minutes, and then performs a random action.
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

@Suite("§6 Keep-alive: random changes of handlers")
struct KeepAliveWalkTests {
  private static let seeds = 1...12 as ClosedRange<UInt64>

  @Test("The planner calls each handler before its interval ends", arguments: seeds)
  func neverLate(seed: UInt64) throws {
    var walk = KeepAliveWalk(seed: seed)
    for _ in 0..<400 { try walk.step(changes: true, wakesByItself: true) }
    #expect(walk.wakeUpCount > 100)
    #expect(walk.usedCount > 10)
  }

  @Test(
    "The planner needs no more wake-ups than a planner that calls every handler at every burst",
    arguments: seeds)
  func lowerBound(seed: UInt64) throws {
    var walk = KeepAliveWalk(seed: seed)
    // A planner that calls every handler at every burst. Each call restarts the handler's interval,
    // so no planner has fewer wake-ups.
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
    """
    Four bursts at wake-ups for other reasons save three wake-ups, and a handler is called at \
    most 4/3 as often
    """,
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

  @Test("A handler is called at the instant that plannedBurst(of:) returns", arguments: seeds)
  func planned(seed: UInt64) throws {
    var walk = KeepAliveWalk(seed: seed)
    for _ in 0..<100 { try walk.step(changes: true, wakesByItself: true) }
    var planner = walk.planner
    var pair = Dictionary(
      uniqueKeysWithValues: planner.all.map { ($0.0, walk.planner.plannedBurst(of: $0.0)) })
    while !pair.isEmpty {
      let next = try #require(planner.nextBurst)
      for id in planner.burst(at: next) {
        if let planned = pair.removeValue(forKey: id) { #expect(planned == next) }
      }
    }
  }

  @Test(
    "A planner that is restored from its stored form behaves like the original", arguments: seeds)
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

  @Test("The stored form refuses a keep-alive interval of 0 s or less", arguments: [0, -1])
  func badInterval(seconds: Int) {
    let keepAlive = KeepAlive(interval: .seconds(seconds), countedFrom: Instant(nanoseconds: 0))
    let bytes = StoredWriter.bytes(of: [InstanceID(1): keepAlive])
    #expect(throws: MalformedBytes.self) {
      try StoredReader.read(KeepAlivePlanner.self, from: bytes)
    }
  }
}
