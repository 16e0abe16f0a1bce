import TaskSchedulerCore
import Testing

@testable import TaskSchedulerDaemon

@Suite("One user's flood does not drown the log")
struct RecordBudgetTests {
  private let start = Instant(nanoseconds: 1)

  private let loud = UserID(1)
  private let grant = Record.Change.taskEnded(TaskID(1), name: nil).description()

  private func end(_ reason: EndReason) -> RecordDescription {
    Record.Change.ended(End(reason: reason, at: start)).description()
  }

  private func spent() -> RecordBudget {
    var budget = RecordBudget()
    for _ in 0..<RecordBudget.recordsMax {
      #expect(budget.verdict(on: grant, of: loud, at: start) == .write(leftOut: 0))
    }
    return budget
  }

  @Test("beyond the budget records are left out, which is said once")
  func leftOut() {
    var budget = spent()
    #expect(budget.verdict(on: grant, of: loud, at: start) == .beginLeavingOut)
    #expect(budget.verdict(on: grant, of: loud, at: start) == .leaveOut)
    let later = start.advanced(by: RecordBudget.interval)
    #expect(budget.verdict(on: grant, of: loud, at: later) == .write(leftOut: 2))
    #expect(budget.verdict(on: grant, of: loud, at: later) == .write(leftOut: 0))
  }

  @Test("one user slows, starves no other: another's records are written")
  func otherUser() {
    var budget = spent()
    #expect(budget.verdict(on: grant, of: UserID(2), at: start) == .write(leftOut: 0))
  }

  @Test(
    "why an application was killed is always written",
    arguments: [EndReason.backgroundTimeExpired, .callbackTimeout, .terminatedByOperator])
  func kills(_ reason: EndReason) {
    var budget = spent()
    #expect(budget.verdict(on: end(reason), of: loud, at: start) == .write(leftOut: 0))
    #expect(budget.verdict(on: end(.exited(code: 0)), of: loud, at: start) == .beginLeavingOut)
  }
}
