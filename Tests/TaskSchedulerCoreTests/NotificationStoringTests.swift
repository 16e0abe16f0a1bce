import Testing

@testable import TaskSchedulerCore

@Suite("§9, §15 A change of notifications is stored before the client receives the reply")
struct NotificationStoringTests {
  private let tea = NotificationDraft(content: NotificationContent(title: "tea"))

  private func clocked() -> World {
    var world = World()
    world.setClock(1_800_000_000)
    return world
  }

  /// Sends a request. The store does not answer it yet.
  private func begin(
    _ world: inout World, _ event: (RequestID) -> NotificationEvent
  ) -> (request: RequestID, effects: [Effect]) {
    let request = world.newRequest()
    return (request, world.feed(.notification(event(request))))
  }

  private func replies(_ effects: [Effect], to request: RequestID) -> [Reply] {
    effects.compactMap { if case .reply(request, let reply) = $0 { reply } else { nil } }
  }

  @Test("The reply to a scheduled notification follows the store's answer")
  func schedule() {
    var world = clocked()
    world.storing = .never
    let (request, effects) = begin(&world) { .schedule($0, mail, tea) }
    let id = NotificationID(1)
    #expect(effects == [.notification(.store(TransactionID(1), .schedule(id, mail, tea)))])
    let answers = world.feed(.notification(.stored(TransactionID(1))))
    #expect(answers.first == .reply(request, .scheduled(id)))
    #expect(world.fired == [id])
    world.feed(.notification(.stored(TransactionID(1))))
    #expect(world.fired == [id], "a repeated answer of the store has no effect")
  }

  @Test("The reply to a cancellation follows the store's answer")
  func cancel() {
    var world = clocked()
    let id = world.schedule(mail, in: .seconds(100))
    world.storing = .never
    let (request, effects) = begin(&world) { .cancel($0, mail, id, stored: [id]) }
    #expect(effects == [.notification(.store(TransactionID(2), .cancel([id], mail)))])
    #expect(world.scheduler.status(of: mail, at: world.now) == nil)
    let answers = world.feed(.notification(.stored(TransactionID(2))))
    #expect(replies(answers, to: request) == [.cancelled([id])])
  }

  @Test("The reply to a new badge follows the store's answer")
  func badge() {
    var world = clocked()
    world.storing = .never
    let (request, effects) = begin(&world) { .setBadge($0, mail, 3) }
    #expect(effects == [.notification(.store(TransactionID(1), .setBadge(mail, 3)))])
    let answers = world.feed(.notification(.stored(TransactionID(1))))
    #expect(replies(answers, to: request) == [.done])
    #expect(world.changes(of: mail).contains(.badgeSet(3)))
  }

  @Test("A cancellation or badge that the store refuses has the reply NotStored and no effect")
  func refused() {
    var world = clocked()
    let id = world.schedule(mail, in: .seconds(100))
    world.storing = .failing
    let refusal = Reply.refused(.notStored(reason: "ENOSPC"))
    #expect(world.ask { .notification(.cancel($0, mail, id, stored: [id])) } == refusal)
    #expect(world.ask { .notification(.cancel($0, mail, nil, stored: [id])) } == refusal)
    #expect(world.ask { .notification(.setBadge($0, mail, 3)) } == refusal)
    #expect(!world.changes(of: mail).contains(.badgeSet(3)))
    world.storing = .atOnce
    world.advance(by: .seconds(100))
    #expect(world.fired == [id])
  }

  @Test("A notification does not fire while its cancellation is being stored")
  func doesNotFireMeanwhile() {
    var world = clocked()
    let once = world.schedule(mail, in: .seconds(10))
    let repeating = world.schedule(mail, in: .seconds(10), repeats: .minute)
    world.storing = .never
    _ = begin(&world) { .cancel($0, mail, nil, stored: []) }
    world.setClock(1_800_000_050)
    #expect(world.fired.isEmpty && world.scheduler.nextDeadline == nil)
    #expect(world.scheduler.waitingNotifications.isEmpty)
    world.storing = .atOnce
    world.feed(.notification(.storeFailed(TransactionID(3), reason: "ENOSPC")))
    #expect(world.fired == [once, repeating], "the notification was not cancelled, and is due")
  }

  @Test("Each of two cancellations of a notification has a reply")
  func cancelledTwice() {
    var world = clocked()
    let id = world.schedule(mail, in: .seconds(100))
    world.storing = .never
    let first = begin(&world) { .cancel($0, mail, id, stored: [id]) }.request
    let second = begin(&world) { .cancel($0, mail, id, stored: [id]) }.request
    let failure = world.feed(.notification(.storeFailed(TransactionID(2), reason: "ENOSPC")))
    #expect(replies(failure, to: first) == [.refused(.notStored(reason: "ENOSPC"))])
    #expect(world.scheduler.nextDeadline == nil, "the second cancellation is outstanding")
    let answers = world.feed(.notification(.stored(TransactionID(3))))
    #expect(replies(answers, to: second) == [.cancelled([id])])
    world.advance(by: .seconds(200))
    #expect(world.fired.isEmpty)
  }

  @Test("A slow store does not delay a notification, and stores its firing later")
  func fires() throws {
    var world = clocked()
    let id = world.schedule(mail, in: .seconds(10), repeats: .minute)
    world.storing = .never
    world.advance(by: .seconds(10))
    let at = try #require(world.wall)
    #expect(world.fired == [id])
    #expect(world.transactions.last == .fire(id, mail, at: at, to: nil))
    let next = Effect.notification(.findNext(id, after: at))
    #expect(!world.effects.contains(next), "the transaction contains the next time")
    #expect(world.feed(.notification(.stored(TransactionID(2)))).contains(next))
  }

  @Test("A repeating notification whose firing cannot be stored still fires at its next time")
  func firingNotStored() {
    var world = clocked()
    let id = world.schedule(mail, in: .seconds(10), repeats: .minute)
    world.storing = .failing
    world.advance(by: .seconds(130))
    #expect(world.fired == [id, id, id])
  }

  @Test("A restarted daemon repeats all outstanding transactions in their order")
  func restart() throws {
    var world = clocked()
    let old = world.schedule(mail, in: .seconds(100))
    let fired = world.schedule(mail, in: .seconds(1))
    world.storing = .never
    world.advance(by: .seconds(1))
    let requests = [
      begin(&world) { .setBadge($0, mail, 3) }.request,
      begin(&world) { .cancel($0, mail, old, stored: []) }.request,
      begin(&world) { .schedule($0, mail, tea) }.request,
      begin(&world) { .setBadge($0, mail, 4) }.request,
    ]
    let begun = world.transactions.suffix(5)
    world.forget()
    try world.crash()
    #expect(world.transactions == Array(begun))
    #expect(world.effects.allSatisfy { if case .reply = $0 { false } else { true } })
    for number in 3...7 { world.feed(.notification(.stored(TransactionID(UInt64(number))))) }
    let answers = requests.flatMap { replies(world.effects, to: $0) }
    #expect(answers == [.done, .cancelled([old]), .scheduled(NotificationID(3)), .done])
    #expect(!world.fired.contains(fired), "the notification fired before the crash")
  }

  @Test("A stop of the scheduler does not lose the reply to an outstanding transaction")
  func stop() {
    var world = clocked()
    world.storing = .never
    let request = begin(&world) { .setBadge($0, mail, 3) }.request
    #expect(replies(world.feed(.scheduler(.stop)), to: request).isEmpty)
    let answers = world.feed(.notification(.stored(TransactionID(1))))
    #expect(replies(answers, to: request) == [.done])
  }
}
