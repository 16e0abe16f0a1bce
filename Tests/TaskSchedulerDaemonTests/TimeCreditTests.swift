import Testing

@testable import TaskSchedulerDaemon

@Suite("A user's credit of the daemon's time")
struct TimeCreditTests {
  private let start: UInt64 = 1_000_000_000

  /// Returns whether credit is left at each of the instants, in this order.
  private func answers(_ credit: inout TimeCredit, at instants: [UInt64]) -> [Bool] {
    instants.map { credit.isLeft(at: $0) }
  }

  @Test("The credit starts full, is spent by calls, and grows with time")
  func growth() {
    var credit = TimeCredit(at: start)
    let first = answers(&credit, at: [start])
    credit.spend(UInt64(TimeCredit.burst))
    let spent = answers(&credit, at: [start])
    credit.spend(1000)
    let divisor = UInt64(TimeCredit.divisor)
    let later = answers(&credit, at: [start + 1000 * divisor, start + 1001 * divisor])
    #expect(first + spent + later == [true, false, false, true])
  }

  @Test("The credit is limited to the burst, and an expensive call is repaid within 0.4 s")
  func bounds() {
    var credit = TimeCredit(at: start)
    let hour = start + 3_600_000_000_000
    let saved = answers(&credit, at: [hour])
    credit.spend(UInt64(TimeCredit.burst))
    let spent = answers(&credit, at: [hour])
    credit.spend(UInt64.max)
    let paid = answers(&credit, at: [hour + 399_000_000, hour + 401_000_000])
    #expect(saved + spent + paid == [true, false, false, true])
  }

  @Test("The credit is full again when all that was spent has grown back")
  func whole() {
    var credit = TimeCredit(at: start)
    let first = credit.isWhole(at: start)
    credit.spend(1000)
    let spent = credit.isWhole(at: start + 999 * UInt64(TimeCredit.divisor))
    let later = credit.isWhole(at: start + 1000 * UInt64(TimeCredit.divisor))
    #expect([first, spent, later] == [true, false, true])
  }

  @Test("The credit does not grow while the clock stands still")
  func standing() {
    var credit = TimeCredit(at: start)
    credit.spend(UInt64(TimeCredit.burst) + 1)
    let still = answers(&credit, at: Array(repeating: start, count: 10))
    #expect(still.allSatisfy { !$0 })
  }
}
