import Testing

@testable import TaskSchedulerCore

@Suite("§9 Local notifications")
struct NotificationTests {
  private func clocked(_ change: (inout Policy) -> Void = { _ in }) -> World {
    var world = World(change)
    world.setClock(1_800_000_000)
    return world
  }

  @Test("A scheduled notification fires at its wall-clock time, and not before")
  func fires() {
    var world = clocked()
    let id = world.schedule(mail, in: .seconds(100))
    world.advance(by: .seconds(100) - nanosecond)
    #expect(world.fired.isEmpty)
    world.advance(by: nanosecond)
    #expect(world.fired == [id])
    world.advance(by: .seconds(100_000))
    #expect(world.fired == [id], "once")
  }

  @Test("A notification without a schedule fires as soon as it is stored")
  func now() {
    var world = clocked()
    let id = world.schedule(mail, in: nil)
    #expect(world.fired == [id])
    #expect(world.scheduler.nextDeadline == nil)
  }

  @Test("A notification that cannot be stored is refused, and never fires")
  func notStored() {
    var world = clocked()
    world.storing = .failing
    let draft = NotificationDraft(content: NotificationContent(title: "tea"))
    let reply = world.ask { .notification(.schedule($0, mail, draft)) }
    #expect(reply == .refused(.notStored(reason: "ENOSPC")))
    world.storing = .atOnce
    world.advance(by: .seconds(1000))
    #expect(world.fired.isEmpty)
  }

  @Test("A repeating notification fires again at the next time of its calendar")
  func repeats() throws {
    var world = clocked()
    let id = world.schedule(mail, in: .seconds(10), repeats: .minute)
    world.advance(by: .seconds(10))
    let first = try #require(world.wall)
    #expect(world.effects.contains(.notification(.findNext(id, after: first))))
    world.advance(by: .seconds(120))
    #expect(world.fired == [id, id, id])
    world.ask { .notification(.cancel($0, mail, id, stored: [])) }
    world.advance(by: .seconds(1000))
    #expect(world.fired.count == 3)
  }

  @Test("A repeating notification without a next time does not fire again")
  func repeatsEnd() {
    var world = clocked()
    let draft = NotificationDraft(
      content: NotificationContent(title: "tea"),
      schedule: NotificationSchedule(date: "", timeZone: "UTC", repeats: .year))
    world.ask { .notification(.schedule($0, mail, draft)) }
    #expect(world.fired.count == 1)
    world.feed(.notification(.nextFound(NotificationID(1), nil)))
    world.feed(.notification(.nextFound(NotificationID(1), WallTime(nanoseconds: 0))))
    #expect(world.fired.count == 1, "an answer without a request has no effect")
  }

  @Test("An application may have MaxNotificationsPerApplication = 128 scheduled notifications")
  func quota() {
    var world = clocked()
    let first = world.schedule(mail, in: .seconds(100))
    for _ in 1..<128 { world.schedule(mail, in: .seconds(100)) }
    let draft = NotificationDraft(
      content: NotificationContent(title: "tea"),
      schedule: NotificationSchedule(date: "", timeZone: "UTC"))
    let refusal = Refusal.quotaExceeded(name: "MaxNotificationsPerApplication", limit: 128)
    #expect(world.ask { .notification(.schedule($0, mail, draft)) } == .refused(refusal))
    let other = world.schedule(music, in: .seconds(100))
    #expect(other.number > 0, "other applications have their own quota")
    world.ask { .notification(.cancel($0, mail, first, stored: [])) }
    world.schedule(mail, in: .seconds(100))
    world.advance(by: .seconds(100))
    #expect(world.fired.count == 129)
    world.schedule(mail, in: .seconds(100))
  }

  @Test("MaxNotificationsPerApplication does not count immediate notifications")
  func quotaOfPresented() {
    var world = clocked { $0.notificationsPerApplicationMax = 1 }
    world.schedule(mail, in: .seconds(100))
    let now = NotificationDraft(content: NotificationContent(title: "tea"))
    #expect(world.ask { .notification(.schedule($0, mail, now)) } == .scheduled(NotificationID(2)))
    #expect(world.fired.count == 1)
    var scheduler = world.scheduler
    _ = scheduler.handle(.notification(.schedule(world.newRequest(), music, now)), at: world.now)
    scheduler.checkInvariants()
    let later = NotificationDraft(
      content: NotificationContent(title: "tea"),
      schedule: NotificationSchedule(date: "", timeZone: "UTC"))
    let effects = scheduler.handle(
      .notification(.schedule(world.newRequest(), music, later)), at: world.now)
    #expect(
      effects.contains {
        guard case .notification(.store(_, let transaction)) = $0 else { return false }
        return transaction == .schedule(NotificationID(4), music, later)
      },
      "an immediate notification that is being stored does not count")
  }

  @Test("§9 MaxNotificationsPerApplication does not count notifications that have fired")
  func firedDoNotCount() {
    var world = clocked { $0.notificationsPerApplicationMax = 2 }
    var later = NotificationDraft(
      content: NotificationContent(title: "tea"),
      schedule: NotificationSchedule(date: "", timeZone: "UTC"))
    later.firesAt = world.wall?.advanced(by: .seconds(100))
    func ask(unshown: Int) -> Reply? {
      world.ask { .notification(.schedule($0, mail, later, unshown: unshown)) }
    }
    #expect(ask(unshown: 50) == .scheduled(NotificationID(1)))
    #expect(ask(unshown: 50) == .scheduled(NotificationID(2)))
    let refusal = Refusal.quotaExceeded(name: "MaxNotificationsPerApplication", limit: 2)
    #expect(ask(unshown: 0) == .refused(refusal))
  }

  @Test(
      """
      §16 The applications of a user may have MaxNotificationsPerUser = 1024 notifications \
      that are scheduled or not yet shown
      """)
  func quotaOfUser() {
    var world = clocked()
    var later = NotificationDraft(
      content: NotificationContent(title: "tea"),
      schedule: NotificationSchedule(date: "", timeZone: "UTC"))
    later.firesAt = world.wall?.advanced(by: .seconds(100))
    let now = NotificationDraft(content: NotificationContent(title: "tea"))
    func ask(_ app: ApplicationKey, _ draft: NotificationDraft, unshown: Int?) -> Reply? {
      world.ask { .notification(.schedule($0, app, draft, unshown: unshown)) }
    }
    func application(_ number: Int, of user: UInt32) -> ApplicationKey {
      ApplicationKey(ApplicationID("org.test.number\(number)")!, owner: UserID(user))
    }
    for number in 0..<1000 {
      let reply = ask(application(number / 100, of: 7), later, unshown: 0)
      #expect(reply == .scheduled(NotificationID(UInt64(number + 1))))
    }
    let refusal = Reply.refused(.quotaExceeded(name: "MaxNotificationsPerUser", limit: 1024))
    #expect(ask(application(50, of: 7), later, unshown: 24) == refusal)
    #expect(ask(application(50, of: 7), now, unshown: 24) == refusal)
    #expect(ask(application(50, of: 7), now, unshown: .max) == refusal)
    #expect(ask(application(50, of: 7), later, unshown: 23) == .scheduled(NotificationID(1001)))
    #expect(ask(application(50, of: 7), later, unshown: 23) == refusal)
    #expect(ask(application(50, of: 8), later, unshown: 0) == .scheduled(NotificationID(1002)))
    world.ask { .notification(.cancel($0, application(0, of: 7), nil, stored: [])) }
    #expect(ask(application(50, of: 7), later, unshown: 23) == .scheduled(NotificationID(1003)))
  }

  @Test("MaxNotificationsPerUser counts immediate notifications that are being stored")
  func quotaOfPresenting() {
    var world = clocked { $0.notificationsPerUserMax = 2 }
    world.storing = .never
    let now = NotificationDraft(content: NotificationContent(title: "tea"))
    let other = ApplicationKey(music.id, owner: UserID(mail.owner.uid + 1))
    func ask(_ app: ApplicationKey) -> Reply? {
      world.ask { .notification(.schedule($0, app, now, unshown: app == mail ? 1 : 0)) }
    }
    let refusal = Refusal.quotaExceeded(name: "MaxNotificationsPerUser", limit: 2)
    #expect(ask(mail) == nil && ask(other) == nil && ask(other) == nil)
    #expect(ask(mail) == .refused(refusal))
    #expect(ask(other) == .refused(refusal))
    world.feed(.notification(.storeFailed(TransactionID(1), reason: "ENOSPC")))
    #expect(ask(mail) == nil, "a notification that was not stored does not count")
  }

  @Test("The quotas count a repeating notification while the daemon computes its next time")
  func quotaOfRepeating() {
    var world = clocked { $0.notificationsPerApplicationMax = 1 }
    let draft = NotificationDraft(
      content: NotificationContent(title: "tea"),
      schedule: NotificationSchedule(date: "", timeZone: "UTC", repeats: .day))
    var scheduler = world.scheduler
    let request = world.newRequest()
    _ = scheduler.handle(.notification(.schedule(request, mail, draft)), at: world.now)
    _ = scheduler.handle(.notification(.stored(TransactionID(1))), at: world.now)
    scheduler.checkInvariants()
    let other = world.newRequest()
    let effects = scheduler.handle(.notification(.schedule(other, mail, draft)), at: world.now)
    let refusal = Refusal.quotaExceeded(name: "MaxNotificationsPerApplication", limit: 1)
    #expect(effects.contains(.reply(other, .refused(refusal))))
  }

  @Test("A cancelled notification never fires")
  func cancel() {
    var world = clocked()
    let ids = (0..<3).map { _ in world.schedule(mail, in: .seconds(100)) }
    let other = world.schedule(music, in: .seconds(100))
    func cancel(_ app: ApplicationKey, _ id: NotificationID?) -> Reply? {
      world.ask { .notification(.cancel($0, app, id, stored: [])) }
    }
    #expect(cancel(mail, ids[1]) == .cancelled([ids[1]]))
    #expect(world.transactions.last == .cancel([ids[1]], mail))
    #expect(cancel(mail, ids[1]) == .refused(.unknownNotification(ids[1])))
    #expect(cancel(mail, nil) == .cancelled([ids[0], ids[2]]))
    #expect(cancel(mail, nil) == .cancelled([]))
    world.advance(by: .seconds(100))
    #expect(world.fired == [other])
  }

  @Test("The cancellation of a shown notification closes the notification")
  func cancelShown() {
    var world = clocked()
    let id = NotificationID(7)
    let reply = world.ask { .notification(.cancel($0, mail, id, stored: [id])) }
    #expect(reply == .cancelled([id]))
    #expect(world.transactions.last == .cancel([id], mail))
  }

  @Test("§9 A notification of an unknown application can be cancelled")
  func cancelUnknown() {
    var world = World()
    let stranger = ApplicationKey(ApplicationID("org.test.gone")!, owner: UserID(9))
    let one = ScheduledNotification(
      id: NotificationID(4), application: stranger,
      firesAt: WallTime(nanoseconds: 1_900_000_000_000_000_000), repeats: false)
    world.feed(.notification(.loaded([one], idLast: 4)))
    world.setClock(1_800_000_000)
    let reply = world.ask { .notification(.cancel($0, stranger, one.id, stored: [])) }
    #expect(reply == .cancelled([one.id]))
    #expect(world.transactions.last == .cancel([one.id], stranger))
  }

  @Test("An application cannot cancel another application's notification")
  func cancelOthers() {
    var world = clocked()
    let id = world.schedule(mail, in: .seconds(100))
    #expect(
      world.ask { .notification(.cancel($0, music, id, stored: [])) }
        == .refused(.unknownNotification(id)))
    world.advance(by: .seconds(100))
    #expect(world.fired == [id])
  }

  @Test("An active application receives didReceiveLocalNotification when its notification fires")
  func active() {
    var world = clocked()
    let instance = world.make(mail, .active)
    let id = world.schedule(mail, in: .seconds(10))
    world.advance(by: .seconds(10))
    #expect(world.receivers(of: id) == [instance])
    #expect(world.notices(instance) == [.notificationFired(id)])
  }

  @Test(
    """
    The notification of an application that is not active is shown to the user, and \
    resumes no process
    """,
    arguments: [ApplicationState.inactive, .background, .suspended, .notRunning])
  func shown(_ state: ApplicationState) {
    var world = clocked()
    let instance = world.make(mail, state)
    let id = world.schedule(mail, in: .seconds(10))
    world.advance(by: .seconds(10))
    #expect(world.receivers(of: id) == [nil])
    #expect(world.notices(instance).isEmpty)
    #expect(world.state(instance) == state)
  }

  @Test("The notification of an active application without an event stream is shown to the user")
  func activeWithoutStream() {
    var world = clocked()
    let instance = world.make(mail, .active)
    world.feed(.application(.streamClosed(instance)))
    let id = world.schedule(mail, in: .seconds(10))
    world.advance(by: .seconds(10))
    #expect(world.receivers(of: id) == [nil])
  }

  @Test(
    "The user's choice of a notification activates its application",
    arguments: [ApplicationState.inactive, .background, .suspended, .active])
  func chosen(_ state: ApplicationState) {
    var world = clocked()
    let instance = world.make(mail, state)
    world.forget()
    world.feed(.notification(.chosen(NotificationID(1), mail)))
    world.acknowledgeAll(instance)
    #expect(world.state(instance) == .active)
    #expect(world.notices(instance) == [.notificationChosen(NotificationID(1))])
  }

  @Test("The user's choice of a notification launches the application if it does not run")
  func chosenLaunches() throws {
    var world = clocked()
    world.feed(.scheduler(.manifestsChanged([Manifest(id: mail.id, owner: mail.owner)])))
    world.feed(.notification(.chosen(NotificationID(1), mail)))
    #expect(world.spawned == [.notification])
    let instance = try #require(world.scheduler.status(of: mail, at: world.now)?.instance?.id)
    #expect(world.state(instance) == .active)
    #expect(world.notices(instance).isEmpty, "the application has no event stream yet")
    world.ask { .application(.openStream($0, instance, named: mail.id)) }
    #expect(world.notices(instance) == [.notificationChosen(NotificationID(1))])
  }

  @Test(
    """
    If the user chooses a notification during a launch in the background, the application starts \
    in the foreground
    """)
  func chosenWhileLaunching() throws {
    var world = clocked()
    world.spawning = .never
    let manifest = Manifest(id: mail.id, owner: mail.owner, backgroundModes: [.voip])
    world.feed(.scheduler(.manifestsChanged([manifest])))
    world.feed(.scheduler(.started))
    world.feed(.notification(.chosen(NotificationID(1), mail)))
    let launching = try #require(world.scheduler.launching.first)
    world.feed(.process(.spawned(launching, world.newLeader())))
    #expect(world.state(launching) == .active)
    world.ask { .application(.openStream($0, launching, named: mail.id)) }
    #expect(world.notices(launching) == [.notificationChosen(NotificationID(1))])
  }

  @Test("The choice of a notification of an unknown application launches nothing")
  func chosenUnknown() {
    var world = clocked()
    world.feed(.notification(.chosen(NotificationID(1), mail)))
    #expect(world.changes(of: mail).contains(.refused(.unknownApplication(mail))))
  }

  @Test("Notifications survive the daemon's restart")
  func restart() throws {
    var world = clocked()
    let id = world.schedule(mail, in: .seconds(100))
    try world.crash()
    world.advance(by: .seconds(100))
    #expect(world.fired == [id])
  }

  @Test("Notifications survive the application's end")
  func applicationEnds() {
    var world = clocked()
    let instance = world.make(mail, .active)
    let id = world.schedule(mail, in: .seconds(100))
    world.feed(.process(.leaderExited(instance, .exited(code: 0))))
    world.advance(by: .seconds(100))
    #expect(world.receivers(of: id) == [nil])
  }

  @Test("A notification survives a reboot, and fires once if it was due while the machine was off")
  func reboot() {
    var world = World()
    let past = ScheduledNotification(
      id: NotificationID(4), application: mail, firesAt: WallTime(nanoseconds: 1_000_000_000),
      repeats: false)
    var later = past
    later.id = NotificationID(5)
    later.firesAt = WallTime(nanoseconds: 1_800_000_060_000_000_000)
    world.feed(.notification(.loaded([past, later], idLast: 7)))
    #expect(world.fired.isEmpty, "the wall clock is unknown")
    world.setClock(1_800_000_000)
    #expect(world.fired == [past.id])
    world.advance(by: .seconds(60))
    #expect(world.fired == [past.id, later.id])
    let fresh = world.schedule(mail, in: .seconds(1))
    #expect(fresh == NotificationID(8), "each id is used once")
  }

  @Test("After the wall clock is set, notifications fire according to the new time")
  func clockIsSet() {
    var world = clocked()
    let id = world.schedule(mail, in: .seconds(3600))
    let later = world.schedule(mail, in: .seconds(7200))
    world.setClock(1_800_003_600)
    #expect(world.fired == [id])
    world.setClock(1_800_000_000)
    world.advance(by: .seconds(7199))
    #expect(world.fired == [id], "a clock that is set back fires no notification again")
    world.advance(by: .seconds(1))
    #expect(world.fired == [id, later])
  }

  @Test("Each of many notifications that are due at the same instant fires once")
  func many() {
    var world = clocked()
    for _ in 0..<100 { world.schedule(mail, in: .seconds(10)) }
    world.advance(by: .seconds(10))
    #expect(world.fired.count == 100 && Set(world.fired).count == 100)
  }

  @Test("The first and the last possible wall-clock time do not trap")
  func clockAtTheEnds() {
    var world = clocked()
    world.schedule(mail, in: .seconds(10))
    for nanoseconds in [Int64.min, -1, 0, .max] {
      world.feed(.scheduler(.clockRead(WallTime(nanoseconds: nanoseconds))))
    }
    #expect(world.fired.count <= 1)
  }
}
