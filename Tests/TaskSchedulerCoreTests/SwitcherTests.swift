import Testing

@testable import TaskSchedulerCore

@Suite("§19 The application switcher")
struct SwitcherTests {
  @Test("A snapshot replaces the earlier one, whose picture is deleted")
  func replaced() throws {
    var world = World()
    let id = world.make(mail, .active)
    let first = world.setPicture(id)
    #expect(world.snapshot(mail) == .picture(first))
    #expect(world.dropped.isEmpty)
    let second = world.setPicture(id)
    #expect(world.snapshot(mail) == .picture(second))
    #expect(world.dropped == [first])
    #expect(world.ask { .switcher(.setSnapshot($0, id, nil)) } == .done)
    #expect(world.snapshot(mail) == nil)
    #expect(world.dropped == [first, second])
    #expect(world.changes(of: mail) == [.picture(first), .picture(second), nil])
  }

  @Test("A sensitive snapshot deletes the earlier picture")
  func sensitive() {
    var world = World()
    let id = world.make(mail, .active)
    let picture = world.setPicture(id)
    #expect(world.ask { .switcher(.setSnapshot($0, id, .sensitive)) } == .done)
    #expect(world.snapshot(mail) == .sensitive)
    #expect(world.dropped == [picture])
    #expect(world.scheduler.pictures.isEmpty)
  }

  @Test(
    "An application sets its snapshot in every state in which it runs",
    arguments: [ApplicationState.active, .inactive, .background, .suspended])
  func states(state: ApplicationState) {
    var world = World()
    let id = world.make(mail, state)
    let picture = world.setPicture(id)
    #expect(world.snapshot(mail) == .picture(picture))
    #expect(world.state(id) == state)
  }

  @Test("A terminating application, and one that has ended, cannot set a snapshot")
  func refused() {
    var world = World()
    let id = world.make(mail, .active)
    world.ask { .operation(.terminate($0, mail, byUser: true)) }
    let late = Snapshot.picture(SnapshotID(77))
    #expect(world.ask { .switcher(.setSnapshot($0, id, late)) } == .refused(.terminating))
    #expect(world.dropped == [SnapshotID(77)], "the daemon does not keep the picture")
    world.feed(.process(.leaderExited(id, .exited(code: 0))))
    let refusal = Refusal.invalidState(.notRunning)
    #expect(world.ask { .switcher(.setSnapshot($0, id, late)) } == .refused(refusal))
    #expect(world.scheduler.pictures.isEmpty)
  }

  @Test("An ended application stays in the switcher with its snapshot if a manifest launches it")
  func ended() {
    var world = World()
    world.feed(.scheduler(.manifestsChanged([Manifest(id: mail.id, owner: mail.owner)])))
    let id = world.make(mail, .active)
    let picture = world.setPicture(id)
    world.feed(.process(.leaderExited(id, .signaled(11))))
    #expect(world.snapshot(mail) == .picture(picture))
    #expect(world.position(mail) == 1)
    world.feed(.scheduler(.manifestsChanged([])))
    #expect(world.snapshot(mail) == nil)
    #expect(world.position(mail) == nil)
    #expect(world.dropped == [picture])
  }

  @Test("An ended application leaves the switcher if no manifest launches it")
  func gone() {
    var world = World()
    let id = world.make(mail, .active)
    let picture = world.setPicture(id)
    world.feed(.process(.leaderExited(id, .exited(code: 0))))
    #expect(world.dropped == [picture])
    #expect(world.position(mail) == nil)
    // The application enters the switcher again when it is active again.
    _ = world.make(mail, .active)
    #expect(world.position(mail) == 1)
    #expect(world.snapshot(mail) == nil)
  }

  @Test(
    "A removal terminates the application, and deletes its entry and its snapshot at once",
    arguments: [true, false])
  func removed(byUser: Bool) throws {
    var world = World()
    world.feed(.scheduler(.manifestsChanged([Manifest(id: mail.id, owner: mail.owner)])))
    let id = world.make(mail, .active)
    let picture = world.setPicture(id)
    #expect(world.ask { .switcher(.remove($0, mail, byUser: byUser)) } == nil)
    #expect(world.position(mail) == nil)
    #expect(world.dropped == [picture])
    #expect(world.state(id) == .active, "it has not acknowledged willTerminate")
    world.forget()
    world.feed(.process(.leaderExited(id, .exited(code: 0))))
    let reason: EndReason = byUser ? .terminatedByUser : .terminatedByOperator
    let replied = world.effects.contains {
      if case .reply(_, .ended(let end)) = $0 { end.reason == reason } else { false }
    }
    #expect(replied)
    #expect(world.position(mail) == nil)
  }

  @Test("A removal of an application that does not run deletes its entry, and its relaunch")
  func removedEnded() {
    var world = World()
    let id = world.makeVoIP(mail, .active)
    _ = world.setPicture(id)
    world.feed(.process(.leaderExited(id, .signaled(11))))
    #expect(world.scheduler.status(of: mail, at: world.now)?.nextLaunch != nil)
    let reply = world.ask { .switcher(.remove($0, mail, byUser: true)) }
    guard case .ended(let end)? = reply else {
      Issue.record("the reply is \(String(describing: reply))")
      return
    }
    #expect(end.reason == .crashed(signal: 11))
    #expect(world.position(mail) == nil)
    #expect(world.snapshot(mail) == nil)
    #expect(world.scheduler.status(of: mail, at: world.now)?.nextLaunch == nil)
  }

  @Test("A removal during a launch is refused and changes nothing")
  func launching() {
    var world = World()
    world.feed(.scheduler(.manifestsChanged([Manifest(id: mail.id, owner: mail.owner)])))
    let id = world.make(mail, .active)
    let picture = world.setPicture(id)
    world.feed(.process(.leaderExited(id, .exited(code: 0))))
    world.spawning = .never
    world.ask { .operation(.activate($0, mail)) }
    let refusal = Refusal.invalidTransition(from: .notRunning, cause: .terminate)
    #expect(world.ask { .switcher(.remove($0, mail, byUser: true)) } == .refused(refusal))
    #expect(world.snapshot(mail) == .picture(picture))
    #expect(world.position(mail) == 1)
  }

  @Test("An unknown application cannot be removed")
  func unknown() {
    var world = World()
    let reply = world.ask { .switcher(.remove($0, mail, byUser: true)) }
    #expect(reply == .refused(.unknownApplication(mail)))
  }

  @Test("§16 Beyond MaxSnapshotsPerUser, the least recently active application loses its picture")
  func quota() {
    var world = World { $0.snapshotsPerUserMax = 2 }
    let ids = [mail, music, maps].map { ($0, world.make($0, .active)) }
    let pictures = ids.map { world.setPicture($0.1) }
    #expect(world.snapshot(mail) == nil)
    #expect(world.dropped == [pictures[0]])
    #expect(world.changes(of: mail) == [.picture(pictures[0]), nil])
    // Mail was active least recently, but keeps the picture that it has just set. Music was active
    // before maps, so music loses its picture instead.
    let again = world.setPicture(ids[0].1)
    #expect(world.snapshot(mail) == .picture(again))
    #expect(world.snapshot(music) == nil)
    #expect(world.snapshot(maps) == .picture(pictures[2]))
    // Neither another user's pictures nor sensitive snapshots count toward the user's limit.
    let other = key("org.example.mail", uid: 1001)
    _ = world.setPicture(world.register(other))
    world.ask { .switcher(.setSnapshot($0, ids[1].1, .sensitive)) }
    #expect(world.snapshot(maps) == .picture(pictures[2]))
    #expect(world.scheduler.pictures.count == 3)
  }

  @Test("§15 A crash of the daemon loses no snapshot; a stop deletes all")
  func crash() throws {
    var world = World()
    world.feed(.scheduler(.manifestsChanged([Manifest(id: mail.id, owner: mail.owner)])))
    let (first, second) = (world.make(mail, .active), world.make(music, .active))
    let picture = world.setPicture(first)
    world.ask { .switcher(.setSnapshot($0, second, .sensitive)) }
    try world.crash()
    #expect(world.snapshot(mail) == .picture(picture))
    #expect(world.snapshot(music) == .sensitive)
    #expect(world.position(mail) == 2)
    world.feed(.scheduler(.stop))
    #expect(world.scheduler.pictures.isEmpty)
    #expect(world.dropped == [picture])
    #expect(world.position(mail) == 1, "its manifest still launches it")
  }

  @Test("Without a service manager, a crash loses the pictures, and the switcher shows icons")
  func lost() throws {
    var world = World()
    let (first, second) = (world.make(mail, .active), world.make(music, .active))
    let pictures = [world.setPicture(first), world.setPicture(second)]
    try world.crash()
    world.feed(.switcher(.lost([pictures[0], SnapshotID(99)])))
    #expect(world.snapshot(mail) == nil)
    #expect(world.snapshot(music) == .picture(pictures[1]))
    #expect(world.dropped.isEmpty, "the daemon does not have the picture")
  }
}

extension World {
  fileprivate mutating func setPicture(_ id: InstanceID) -> SnapshotID {
    var picture = SnapshotID(0)
    let reply = ask { request in
      picture = SnapshotID(request.number)
      return .switcher(.setSnapshot(request, id, .picture(picture)))
    }
    #expect(reply == .done)
    return picture
  }

  fileprivate func snapshot(_ key: ApplicationKey) -> Snapshot? {
    scheduler.status(of: key, at: now)?.snapshot
  }

  fileprivate func position(_ key: ApplicationKey) -> Int? {
    scheduler.status(of: key, at: now)?.switcherPosition
  }

  fileprivate var dropped: [SnapshotID] {
    effects.compactMap { if case .dropPicture(let id) = $0 { id } else { nil } }
  }

  /// Returns the recorded snapshots of an application, in order.
  fileprivate func changes(of key: ApplicationKey) -> [Snapshot?] {
    effects.compactMap { effect -> Snapshot?? in
      guard case .record(let record) = effect, record.application == key,
        case .snapshotChanged(let snapshot) = record.change
      else { return nil }
      return .some(snapshot)
    }
  }
}
