import FoundationEssentials
import Testing

@testable import TaskSchedulerCore

private let start = Instant(nanoseconds: 3_600_000_000_000)
private let minute = Duration.seconds(60)
/// The time from the planned call to the deadline, for all intervals of 2 s and more.
private let lead = Duration.milliseconds(100)

private func at(_ time: Duration) -> Instant { start.advanced(by: time) }

extension KeepAlivePlanner {
  /// Creates a planner with handlers 1, 2, … that are set at `start`. Each handler is due after the
  /// given number of minutes.
  fileprivate init(minutes: Int...) {
    self.init()
    for (index, period) in minutes.enumerated() {
      set(InstanceID(UInt64(index + 1)), interval: minute * period + lead, at: start)
    }
  }

  /// Runs the next burst at its time. Returns the instant and the called handlers.
  fileprivate mutating func next() -> (at: Instant, called: [UInt64]) {
    guard let nextBurst else { preconditionFailure("no handler is set") }
    return (nextBurst, burst(at: nextBurst).map(\.number))
  }
}

@Suite("§6 Keep-alive: the handlers of each burst")
struct KeepAlivePlannerTests {
  @Test("Without handlers, the planner plans no burst")
  func empty() {
    var planner = KeepAlivePlanner()
    #expect(planner.nextBurst == nil)
    #expect(planner.burst(at: at(minute)).isEmpty)
    #expect(planner.useWakeUp(at: at(minute)).isEmpty)
    #expect(planner.plannedBurst(of: InstanceID(1)) == nil)
  }

  @Test(
    "A burst calls the handlers of all applications, except those that can wait for the next burst")
  func commonBursts() {
    var planner = KeepAlivePlanner(minutes: 10, 20, 25, 60)
    var runs: [[UInt64]] = []
    for burst in 1...6 {
      let (time, called) = planner.next()
      #expect(time == at(minute * (10 * burst)))
      runs.append(called)
    }
    #expect(runs == [[1], [1, 2, 3], [1], [1, 2, 3], [1], [1, 2, 4, 3]])
  }

  @Test(
    """
    The planner plans a call before its deadline by 5% of the interval, or by 100 ms if that is \
    less
    """,
    arguments: [
      (interval: .nanoseconds(1), lead: .zero), (.milliseconds(20), .milliseconds(1)),
      (.seconds(1), .milliseconds(50)), (.seconds(2), lead), (.seconds(600), lead),
      (.seconds(Int64.max), lead),
    ] as [(interval: Duration, lead: Duration)])
  func leads(interval: Duration, lead: Duration) throws {
    var planner = KeepAlivePlanner()
    planner.set(InstanceID(1), interval: interval, at: start)
    let keepAlive = try #require(planner[InstanceID(1)])
    #expect(keepAlive.deadline == at(min(interval, .nanoseconds(Int64.max))))
    #expect(keepAlive.due.duration(to: keepAlive.deadline) == lead)
    #expect(planner.nextBurst == keepAlive.due)
    #expect(planner.plannedBurst(of: InstanceID(1)) == keepAlive.due)
  }

  @Test("A planned call that is late by 100 ms still meets its deadline")
  func withinTheLead() throws {
    var planner = KeepAlivePlanner(minutes: 10)
    var last = start
    for _ in 0..<100 {
      let next = try #require(planner.nextBurst)
      let deadline = try #require(planner[InstanceID(1)]?.deadline)
      let now = next.advanced(by: lead)
      #expect(planner.burst(at: now) == [InstanceID(1)])
      #expect(now <= deadline && last.duration(to: now) <= minute * 10 + lead)
      last = now
    }
  }

  @Test("The planner calls no handler before it is due")
  func notEarlier() {
    var planner = KeepAlivePlanner(minutes: 10)
    #expect(planner.burst(at: at(minute * 10 - .nanoseconds(1))).isEmpty)
    #expect(planner.burst(at: at(minute * 10)) == [InstanceID(1)])
  }

  @Test("The planner calls handlers in the order of their deadlines, then of their ids")
  func order() {
    var planner = KeepAlivePlanner()
    planner.set(InstanceID(3), interval: minute * 10, at: start)
    planner.set(InstanceID(2), interval: minute * 15, at: start)
    planner.set(InstanceID(9), interval: minute * 10, at: start)
    planner.set(InstanceID(4), interval: minute * 12, at: start)
    #expect(planner.next().called == [3, 9, 4, 2])
  }

  @Test("The interval counts from the last call or the last change of the interval")
  func change() {
    var planner = KeepAlivePlanner(minutes: 10, 10)
    #expect(planner.next().called == [1, 2])
    planner.set(InstanceID(2), interval: minute * 30 + lead, at: at(minute * 12))
    #expect(planner[InstanceID(2)]?.due == at(minute * 42))
    #expect(planner[InstanceID(2)]?.lastRun == at(minute * 10))
    planner.set(InstanceID(1), interval: minute * 11 + lead, at: at(minute * 19))
    #expect(planner.nextBurst == at(minute * 30))
    #expect(planner.next().called == [1])
    #expect(planner.next() == (at: at(minute * 41), called: [1, 2]))
  }

  @Test("The planner forgets a removed handler")
  func removal() {
    var planner = KeepAlivePlanner(minutes: 10, 20)
    planner.remove(InstanceID(1))
    planner.remove(InstanceID(7))
    #expect(planner[InstanceID(1)] == nil)
    #expect(planner.nextBurst == at(minute * 20))
    planner.remove(InstanceID(2))
    #expect(planner.nextBurst == nil)
    #expect(planner.all.isEmpty)
  }

  @Test("When the machine wakes, the planner calls the handlers that were due during the sleep")
  func sleptPastDeadlines() {
    var planner = KeepAlivePlanner(minutes: 10, 20, 45, 60)
    let woken = at(minute * 33)
    #expect(planner.burst(at: woken).map(\.number) == [1, 2])
    #expect(planner[InstanceID(1)]?.due == woken.advanced(by: minute * 10))
    #expect(planner.next() == (at: at(minute * 43), called: [1, 3]))
  }

  @Test(
    "A late burst does not delay the following bursts",
    arguments: [Duration.nanoseconds(1), .milliseconds(3), .seconds(2)])
  func noDrift(lateness: Duration) {
    var planner = KeepAlivePlanner(minutes: 10, 20, 30)
    var runs: [UInt64: Int] = [:]
    for burst in 1...600 {
      #expect(planner.nextBurst == at(minute * 10 * burst))
      let called = planner.burst(at: at(minute * 10 * burst + lateness))
      for id in called { runs[id.number, default: 0] += 1 }
      #expect(planner[InstanceID(1)]?.lastRun == at(minute * 10 * burst + lateness))
    }
    #expect(runs == [1: 600, 2: 300, 3: 200])
  }

  @Test("The planner runs a burst at a wake-up for another reason if that saves a later wake-up")
  func wakeUpUsed() {
    var planner = KeepAlivePlanner(minutes: 12, 24)
    #expect(planner.useWakeUp(at: at(minute * 9 - .nanoseconds(1))).isEmpty)
    #expect(planner.useWakeUp(at: at(minute * 9)) == [InstanceID(1)])
    #expect(planner.nextBurst == at(minute * 21))
    #expect(planner.useWakeUp(at: at(minute * 10)).isEmpty)
    // At 21 min, the machine wakes for another reason. This wake-up runs the burst that is planned
    // for the same instant.
    #expect(planner.useWakeUp(at: at(minute * 21)).map(\.number) == [1, 2])
    #expect(planner.nextBurst == at(minute * 33))
  }

  @Test("A handler with the longest possible interval does not wake the machine")
  func hugeInterval() {
    var planner = KeepAlivePlanner(minutes: 10)
    planner.set(InstanceID(2), interval: .seconds(Int64.max), at: start)
    #expect(planner.next().called == [1])
    #expect(planner.plannedBurst(of: InstanceID(2)).map { $0 > at(minute * 1_000_000) } == true)
  }
}

@Suite("§6 Keep-alive: the planner compared with the best schedule")
struct KeepAliveOptimumTests {
  /// A search of all possible schedules for the lowest cost, tick by tick.
  ///
  /// The keys of `leastCost` are the states that a schedule can reach. A state is the number of
  /// ticks until the deadline of each handler. The value is the lowest cost of reaching the state.
  private struct Search {
    let intervals: [Int]
    private var leastCost: [[Int]: Int]

    init(intervals: [Int], left: [Int]) {
      self.intervals = intervals
      leastCost = [left: 0]
    }

    /// Advances all schedules by one tick, and discards those that miss a deadline. If `mayRun` is
    /// true, any handlers may run in this tick.
    mutating func tick(mayRun: Bool = true, cost: (Int) -> Int) {
      var next: [[Int]: Int] = [:]
      for (left, count) in leastCost {
        for choice in 0..<(mayRun ? 1 << intervals.count : 1) {
          let after = left.indices.map { (choice >> $0) & 1 == 1 ? intervals[$0] : left[$0] - 1 }
          guard after.allSatisfy({ $0 > 0 }) else { continue }
          next[after] = min(next[after] ?? .max, count + cost(choice.nonzeroBitCount))
        }
      }
      leastCost = next
    }

    var best: Int? { leastCost.values.min() }
  }

  /// The cases to test: all pairs of intervals of 2 to 7 ticks, and all triples of 2 to 4 ticks. A
  /// tick is a second. `left` is the number of ticks until each handler is due. For each pair or
  /// triple, there is a case for each possible value of `left`.
  ///
  /// The planner calls a handler `lead` before its deadline. The test therefore adds `lead` to each
  /// interval that it sets.
  private static let cases: [(intervals: [Int], left: [Int])] = {
    var sets = (2...7).flatMap { first in (first...7).map { [first, $0] } }
    for first in 2...4 {
      for second in first...4 { sets += (second...4).map { [first, second, $0] } }
    }
    return sets.flatMap { intervals in
      (0..<intervals.reduce(1, *)).map { moment in
        var rest = moment
        let left = intervals.map { interval in
          defer { rest /= interval }
          return 1 + rest % interval
        }
        return (intervals, left)
      }
    }
  }()

  @Test("No other schedule has fewer wake-ups, or fewer runs of a handler")
  func fewest() {
    for (intervals, left) in Self.cases {
      var planner = KeepAlivePlanner()
      for (index, interval) in intervals.enumerated() {
        planner.set(
          InstanceID(UInt64(index)), interval: .seconds(interval) + lead,
          at: at(.seconds(10 + left[index] - interval)))
      }
      var wakeUps = Search(intervals: intervals, left: left)
      // Each of these searches finds the lowest number of runs of one handler, if the handler may
      // run only in the ticks in which the planner has a burst.
      var runs = intervals.indices.map { Search(intervals: [intervals[$0]], left: [left[$0]]) }
      var burstCount = 0
      var runCounts = intervals.map { _ in 0 }
      for tick in 1...20 {
        // Runs after tick 12 do not count. The search needs the later ticks only to discard
        // schedules that would miss a deadline.
        let counts = tick <= 12
        let called = planner.burst(at: at(.seconds(10 + tick)))
        burstCount += called.isEmpty ? 0 : 1
        for id in called where counts { runCounts[Int(id.number)] += 1 }
        wakeUps.tick { $0 == 0 ? 0 : 1 }
        for index in runs.indices {
          runs[index].tick(mayRun: !called.isEmpty) { counts ? $0 : 0 }
        }
        let isBest = wakeUps.best == burstCount
        #expect(isBest, "\(intervals) from \(left), wake-ups by tick \(tick)")
        if !isBest { return }
      }
      let isBest = runs.map(\.best) == runCounts
      #expect(isBest, "\(intervals) from \(left), runs")
      if !isBest { return }
    }
  }
}
