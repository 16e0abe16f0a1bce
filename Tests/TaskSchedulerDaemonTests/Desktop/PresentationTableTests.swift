import TaskSchedulerCore
import Testing

@testable import TaskSchedulerDaemon

/// A class that contains a table, so that `#expect` can call functions that change the table.
@dynamicMemberLookup
private final class Table {
  private var table = PresentationTable()

  subscript<Value>(dynamicMember path: KeyPath<PresentationTable, Value>) -> Value {
    table[keyPath: path]
  }

  func show(_ notification: DesktopNotification) { table.show(notification) }
  func next() -> (notification: DesktopNotification, replaces: UInt32)? { table.next() }
  func close(_ number: UInt64) -> UInt32? { table.close(NotificationID(number)) }
  func closed(_ name: UInt32) -> NotificationID? { table.closed(name) }
  func chosen(_ name: UInt32) -> (id: NotificationID, token: String?)? { table.chosen(name) }
  func keep(token: String, of name: UInt32) { table.keep(token: token, of: name) }
  func serviceEnded() -> [NotificationID] { table.serviceEnded() }

  func answered(
    _ number: UInt64, _ name: UInt32
  ) -> (PresentationTable.Answered, forgotten: NotificationID?) {
    table.answered(NotificationID(number), name)
  }

  func failed(_ number: UInt64, isFault: Bool) -> PresentationTable.Failed {
    table.failed(NotificationID(number), isFault: isFault)
  }
}

@Suite("The notifications that are shown or waiting")
struct PresentationTableTests {
  private let table = Table()

  private func notification(_ number: UInt64, _ title: String = "") throws -> DesktopNotification {
    let id = try #require(ApplicationID("org.example.mail"))
    return DesktopNotification(
      id: NotificationID(number), application: ApplicationKey(id, owner: UserID(1)), title: title)
  }

  private func ask(_ number: UInt64, _ title: String = "") throws {
    table.show(try notification(number, title))
    #expect(table.next()?.notification.id == NotificationID(number))
  }

  @Test("Notifications are shown in order; each has the service's id until it is closed")
  func turns() throws {
    for number in 1...3 as ClosedRange<UInt64> { table.show(try notification(number)) }
    for number in 1...3 as ClosedRange<UInt64> {
      let next = try #require(table.next())
      #expect(next.notification.id == NotificationID(number))
      #expect(next.replaces == 0)
      #expect(table.answered(number, UInt32(number) + 10).0 == .shown)
    }
    #expect(table.next() == nil)
    #expect(table.closed(12) == NotificationID(2))
    #expect(table.closed(12) == nil, "once")
    #expect(table.closed(99) == nil, "another's")
    #expect(table.close(1) == 11)
    #expect(table.closed(13) == NotificationID(3))
    #expect(table.isEmpty)
  }

  @Test("A notification that is shown again replaces its earlier version")
  func replaced() throws {
    try ask(1, "a")
    #expect(table.answered(1, 11).0 == .shown)
    table.show(try notification(1, "b"))
    let next = try #require(table.next())
    #expect(next.replaces == 11 && next.notification.title == "b")
    #expect(table.answered(1, 12).0 == .shown)
    #expect(table.closed(11) == nil)
    #expect(table.closed(12) == NotificationID(1))
  }

  @Test("A notification that is shown again before the service has answered waits for the answer")
  func shownWhileAsked() throws {
    try ask(1, "a")
    table.show(try notification(1, "b"))
    table.show(try notification(1, "c"))
    #expect(table.next() == nil)
    #expect(table.answered(1, 11).0 == .shown)
    let next = try #require(table.next())
    #expect(next.replaces == 11 && next.notification.title == "c")
  }

  @Test("A cancelled notification is not shown; if the service was already asked, it is closed")
  func takenBack() throws {
    table.show(try notification(1))
    #expect(table.close(1) == nil)
    #expect(table.next() == nil)
    #expect(table.isEmpty)
    try ask(2)
    #expect(table.close(2) == nil)
    #expect(table.answered(2, 11).0 == .cancelled(11))
    #expect(table.isEmpty)
    try ask(3)
    #expect(table.close(3) == nil)
    #expect(table.failed(3, isFault: true) == .cancelled(nil))
    #expect(table.isEmpty)
  }

  @Test("A notification can be chosen once each time that it is shown")
  func chosen() throws {
    try ask(1)
    #expect(table.chosen(11) == nil)
    #expect(table.answered(1, 11).0 == .shown)
    table.keep(token: "t", of: 11)
    table.keep(token: "t", of: 12)
    let choice = try #require(table.chosen(11))
    #expect(choice.id == NotificationID(1) && choice.token == "t")
    #expect(table.chosen(11) == nil)
    try ask(1)
    #expect(table.answered(1, 11).0 == .shown)
    #expect(try #require(table.chosen(11)).token == nil)
  }

  @Test(
    "When the service ends, shown notifications are forgotten, and unanswered requests wait again")
  func serviceEnded() throws {
    for number in 1...4 as ClosedRange<UInt64> { try ask(number) }
    #expect(table.answered(1, 11).0 == .shown)
    table.show(try notification(5))
    #expect(table.serviceEnded() == [NotificationID(1)])
    for id in table.pending.reversed() { #expect(table.failed(id.number, isFault: true) == .waits) }
    let turns = (0..<4).compactMap { _ in table.next()?.notification.id.number }
    #expect(turns == [2, 3, 4, 5])
    #expect(table.pendingCount == 4)
  }

  @Test("A notification is given up after three failures that its content may have caused")
  func givenUp() throws {
    try ask(1, "a")
    #expect(table.failed(1, isFault: false) == .waits)
    for _ in 1..<PresentationTable.failuresMax {
      #expect(table.next() != nil)
      #expect(table.failed(1, isFault: true) == .waits)
    }
    #expect(table.next() != nil)
    #expect(table.failed(1, isFault: true) == .givenUp)
    #expect(table.isEmpty)
  }

  @Test("If the service returns an id twice, the id belongs to the newer notification")
  func twice() throws {
    try ask(1)
    #expect(table.answered(1, 11).forgotten == nil)
    try ask(2)
    #expect(table.answered(2, 11).forgotten == NotificationID(1))
    #expect(table.closed(11) == NotificationID(2))
    #expect(table.isEmpty)
  }

  @Test("A notification that a service closes immediately counts as not shown")
  func discarded() throws {
    try ask(1)
    #expect(table.answered(1, 0).0 == .discarded)
    #expect(table.isEmpty)
  }
}

@Suite("Attempts with increasing delays")
struct BackoffTests {
  @Test("Each delay is twice the previous one; a success or a new request shortens the delay")
  func waits() {
    let second: UInt64 = 1_000_000_000
    var backoff = Backoff()
    #expect(backoff.mayTry(at: 0))
    var now: UInt64 = 100 * second
    for wait in [1, 2, 4, 8, 16, 32] as [UInt64] {
      backoff.tried(at: now)
      #expect(backoff.next == now + wait * second)
      now = backoff.next
    }
    backoff.tried(at: now)
    backoff.expedite()
    #expect(backoff.next == now + 10 * second)
    backoff.succeeded()
    #expect(backoff.next == now + second)
    backoff.tried(at: backoff.next)
    #expect(backoff.next == now + 2 * second)
    for _ in 0..<100 { backoff.tried(at: now) }
    #expect(backoff.next == now + 86_400 * second)
  }
}
