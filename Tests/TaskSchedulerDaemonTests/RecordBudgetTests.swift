import TaskSchedulerCore
import Testing

@testable import TaskSchedulerDaemon

@Suite("One user's flood does not fill the log")
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

  @Test("Records beyond the budget are left out, which the log says once")
  func leftOut() {
    var budget = spent()
    #expect(budget.verdict(on: grant, of: loud, at: start) == .beginLeavingOut)
    #expect(budget.verdict(on: grant, of: loud, at: start) == .leaveOut)
    let later = start.advanced(by: RecordBudget.interval)
    #expect(budget.verdict(on: grant, of: loud, at: later) == .write(leftOut: 2))
    #expect(budget.verdict(on: grant, of: loud, at: later) == .write(leftOut: 0))
  }

  @Test("A flooding user does not delay the records of another user")
  func otherUser() {
    var budget = spent()
    #expect(budget.verdict(on: grant, of: UserID(2), at: start) == .write(leftOut: 0))
  }

  @Test(
    "The reason why an application was killed is always written",
    arguments: [EndReason.backgroundTimeExpired, .callbackTimeout, .terminatedByOperator])
  func kills(_ reason: EndReason) {
    var budget = spent()
    #expect(budget.verdict(on: end(reason), of: loud, at: start) == .write(leftOut: 0))
    #expect(budget.verdict(on: end(.exited(code: 0)), of: loud, at: start) == .beginLeavingOut)
  }
}
