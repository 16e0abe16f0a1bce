import TaskSchedulerCore
import Testing

@testable import TaskSchedulerDaemon

@Suite("One user's flood does not fill the log")
struct RecordBudgetTests {
  private let start = Instant(nanoseconds: 1)

  private func record(_ change: Record.Change, uid: UInt32 = 1) throws -> Record {
    let id = try #require(ApplicationID("org.example.flood"))
    return Record(
      application: ApplicationKey(id, owner: UserID(uid)), leader: nil, change: change)
  }

  private func end(_ reason: EndReason) throws -> Record {
    try record(.ended(End(reason: reason, at: start)))
  }

  private func spent() throws -> RecordBudget {
    var budget = RecordBudget()
    let grant = try record(.taskEnded(TaskID(1), name: nil))
    for _ in 0..<RecordBudget.recordsMax {
      #expect(budget.verdict(on: grant, at: start) == .write(leftOut: 0))
    }
    return budget
  }

  @Test("Records beyond the budget are left out, which the log says once")
  func leftOut() throws {
    var budget = try spent()
    let grant = try record(.taskEnded(TaskID(1), name: nil))
    #expect(budget.verdict(on: grant, at: start) == .beginLeavingOut)
    #expect(budget.verdict(on: grant, at: start) == .leaveOut)
    let later = start.advanced(by: RecordBudget.interval)
    #expect(budget.verdict(on: grant, at: later) == .write(leftOut: 2))
    #expect(budget.verdict(on: grant, at: later) == .write(leftOut: 0))
  }

  @Test("A flooding user does not delay the records of another user")
  func otherUser() throws {
    var budget = try spent()
    let other = try record(.taskEnded(TaskID(1), name: nil), uid: 2)
    #expect(budget.verdict(on: other, at: start) == .write(leftOut: 0))
  }

  @Test(
    "The reason why an application was killed is always written",
    arguments: [EndReason.backgroundTimeExpired, .callbackTimeout, .terminatedByOperator])
  func kills(_ reason: EndReason) throws {
    func ended(_ reason: EndReason) -> Record.Change { .ended(End(reason: reason, at: start)) }
    var budget = try spent()
    #expect(budget.verdict(on: try end(reason), at: start) == .write(leftOut: 0))
    #expect(budget.verdict(on: try end(.exited(code: 0)), at: start) == .beginLeavingOut)
  }
}
