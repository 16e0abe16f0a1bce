import Testing

@testable import TaskSchedulerSession

/// A class that contains a table, so that `#expect` can call functions that change the table.
@dynamicMemberLookup
private final class Table {
  private var table = PresentationTable()

  subscript<Value>(dynamicMember path: KeyPath<PresentationTable, Value>) -> Value {
    table[keyPath: path]
  }

  func show(_ notification: PresentedNotification) -> UInt32? {
    table.show(notification, shownAs: notification.content.shown.flatMap { ServiceName($0) })
  }
  func next() -> (notification: PresentedNotification, replaces: UInt32)? { table.next() }
  func close(_ id: Int, shownAs name: ServiceName? = nil) -> PresentationTable.Closing {
    table.close(key(id), shownAs: name)
  }
  func closed(_ name: UInt32) -> Int? { table.closed(name)?.id }
  func chosen(_ name: UInt32) -> (id: NotificationKey, token: String?)? { table.chosen(name) }
  func keep(token: String, of name: UInt32) { table.keep(token: token, of: name) }
  func serviceEnded() -> [Int] { table.serviceEnded().map(\.id) }
  func keys(of daemon: Int) -> [Int] { table.keys(of: daemon).map(\.id) }

  func adoptRemembered(from service: String?) -> (gone: [Int], toClose: [UInt32]) {
    let (gone, toClose) = table.adoptRemembered(from: service)
    return (gone.map(\.id), toClose.map(\.name))
  }

  func answered(_ id: Int, _ name: UInt32) -> (PresentationTable.Answered, forgotten: Int?) {
    let (answered, forgotten) = table.answered(key(id), name)
    return (answered, forgotten?.id)
  }

  func failed(_ id: Int, isFault: Bool) -> PresentationTable.Failed {
    table.failed(key(id), isFault: isFault)
  }

  private func key(_ id: Int) -> NotificationKey { NotificationKey(daemon: 0, id: id) }
}

@Suite("The notifications that are shown or waiting")
struct PresentationTableTests {
  private let table = Table()

  /// Returns a firing of a notification. Each title stands for a different firing.
  private func notification(_ id: Int, _ title: String = "") -> PresentedNotification {
    .sample(id, title, firedAt: title.hashValue)
  }

  private func ask(_ id: Int, _ title: String = "") {
    #expect(table.show(notification(id, title)) == nil)
    #expect(table.next()?.notification.key.id == id)
  }

  @Test("Notifications are shown in order; each has the service's id until it is closed")
  func turns() throws {
    for number in 1...3 { _ = table.show(notification(number)) }
    for number in 1...3 {
      let next = try #require(table.next())
      #expect(next.notification.key.id == number)
      #expect(next.replaces == 0)
      #expect(table.answered(number, UInt32(number) + 10).0 == .shown)
    }
    #expect(table.next() == nil)
    #expect(table.closed(12) == 2)
    #expect(table.closed(12) == nil, "once")
    #expect(table.closed(99) == nil, "another's")
    #expect(table.close(1) == .byService(11))
    #expect(table.closed(13) == 3)
    #expect(table.isEmpty)
  }

  @Test("A notification that is shown again replaces its earlier version")
  func replaced() throws {
    ask(1, "a")
    #expect(table.answered(1, 11).0 == .shown)
    _ = table.show(notification(1, "b"))
    let next = try #require(table.next())
    #expect(next.replaces == 11 && next.notification.content.title == "b")
    #expect(table.answered(1, 12).0 == .shown)
    #expect(table.closed(11) == nil)
    #expect(table.closed(12) == 1)
  }

  @Test("A notification that is shown again before the service has answered waits for the answer")
  func shownWhileAsked() throws {
    ask(1, "a")
    _ = table.show(notification(1, "b"))
    _ = table.show(notification(1, "c"))
    #expect(table.next() == nil)
    #expect(table.answered(1, 11).0 == .shown)
    let next = try #require(table.next())
    #expect(next.replaces == 11 && next.notification.content.title == "c")
  }

  @Test("A cancelled notification is not shown; if the service was already asked, it is closed")
  func takenBack() throws {
    _ = table.show(notification(1))
    #expect(table.close(1) == .done)
    #expect(table.next() == nil)
    #expect(table.isEmpty)
    ask(2)
    #expect(table.close(2) == .later)
    #expect(table.answered(2, 11).0 == .cancelled(11))
    #expect(table.isEmpty)
    ask(3)
    #expect(table.close(3) == .later)
    #expect(table.failed(3, isFault: true) == .cancelled(nil))
    #expect(table.isEmpty)
  }

  @Test("A notification can be chosen once each time that it is shown")
  func chosen() throws {
    ask(1)
    #expect(table.chosen(11) == nil)
    #expect(table.answered(1, 11).0 == .shown)
    table.keep(token: "t", of: 11)
    table.keep(token: "t", of: 12)
    let choice = try #require(table.chosen(11))
    #expect(choice.id.id == 1 && choice.token == "t")
    #expect(table.chosen(11) == nil)
    ask(1, "again")
    #expect(table.answered(1, 11).0 == .shown)
    #expect(try #require(table.chosen(11)).token == nil)
  }

  @Test(
    "When the service ends, shown notifications are forgotten, and unanswered requests wait again")
  func serviceEnded() throws {
    for number in 1...4 { ask(number) }
    #expect(table.answered(1, 11).0 == .shown)
    _ = table.show(notification(5))
    #expect(table.serviceEnded() == [1])
    for id in table.pending.reversed() { #expect(table.failed(id.id, isFault: true) == .waits) }
    let turns = (0..<4).compactMap { _ in table.next()?.notification.key.id }
    #expect(turns == [2, 3, 4, 5])
    #expect(table.pendingCount == 4)
  }

  @Test("A notification is given up after three failures that its content may have caused")
  func givenUp() throws {
    ask(1, "a")
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
    ask(1)
    #expect(table.answered(1, 11).forgotten == nil)
    ask(2)
    #expect(table.answered(2, 11).forgotten == 1)
    #expect(table.closed(11) == 2)
    #expect(table.isEmpty)
  }

  @Test("A notification that a daemon sends again is not shown again; a new firing is")
  func sentAgain() throws {
    ask(1, "a")
    #expect(table.show(notification(1, "a")) == nil)
    #expect(table.answered(1, 11).0 == .shown)
    #expect(table.show(notification(1, "a")) == 11, "the daemon may not know the service's id")
    #expect(table.next() == nil)
    _ = table.show(notification(1, "b"))
    #expect(try #require(table.next()).replaces == 11)
  }

  @Test("A notification of an earlier agent is shown silently in its place, if its service runs")
  func earlierAgent() throws {
    for (id, service) in [(1, "same"), (2, "other"), (3, "same")] {
      var remembered = notification(id)
      remembered.content.shown = .init(id: 10 + id, service: service)
      #expect(table.show(remembered) == nil)
    }
    #expect(table.close(3) == .later)
    #expect(table.close(4, shownAs: ServiceName(number: 14, service: "same")) == .later)
    #expect(table.close(5, shownAs: ServiceName(number: 15, service: "other")) == .later)
    #expect(table.keys(of: 0) == [1, 2])
    let adopted = table.adoptRemembered(from: "same")
    #expect(adopted.gone == [2, 5] && adopted.toClose == [13, 14])
    let next = try #require(table.next())
    #expect(next.replaces == 11 && next.notification.isSilent && next.notification.key.id == 1)
    #expect(table.next() == nil)
  }

  @Test("A notification that a service closes immediately counts as not shown")
  func discarded() throws {
    ask(1)
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
