import Testing

@testable import TaskSchedulerCore

private let user = mail.owner

extension World {
  /// Reports that the user's session has exactly these windows.
  @discardableResult
  fileprivate mutating func see(
    _ windows: [(InstanceID, WindowVisibility)], hasFocus: Bool? = nil
  ) -> [Effect] {
    let reports = windows.map { WindowReport($0.0, $0.1) }
    let isFocused = windows.contains { $0.1 == .focused }
    return feed(
      .session(.windows(user, WindowSnapshot(reports, hasFocus: hasFocus ?? isFocused))))
  }

  fileprivate mutating func attach() { feed(.session(.agentAttached(user))) }

  /// Returns a world with two aware applications whose windows are visible. `mail` has the focus.
  fileprivate static func withTwo(
    _ change: (inout Policy) -> Void = { _ in }
  ) -> (World, mail: InstanceID, maps: InstanceID) {
    var world = World(change)
    world.attach()
    let second = world.make(maps, .active)
    world.see([(second, .focused)])
    let first = world.make(mail, .active)
    world.acknowledgeAll(second)
    world.see([(first, .focused), (second, .visible)])
    world.acknowledgeAll(first)
    world.acknowledgeAll(second)
    return (world, first, second)
  }
}

@Suite("§20 Focus: the windows that the user sees determine the states")
struct FocusTests {
  @Test(
    """
    An application that gets the focus does not wait for the previous application's \
    acknowledgement
    """)
  func focused() {
    var (world, first, second) = World.withTwo()
    #expect(world.state(first) == .active)
    #expect(world.state(second) == .inactive)
    world.see([(first, .visible), (second, .focused)])
    #expect(world.state(second) == .active)
    #expect(world.state(first) == .inactive)
    #expect(
      world.inFlight[first]?.kind == .willResignActive,
      "the application has not acknowledged the callback")
    #expect(world.scheduler.explanation(of: maps)?.cause == .focused)
    #expect(world.scheduler.explanation(of: mail)?.cause == .unfocused)
  }

  @Test(
    """
    A suspended application whose window gets the focus receives its held system changes and \
    willEnterForeground, and then becomes active
    """)
  func suspended() {
    var world = World()
    world.attach()
    let id = world.make(mail, .suspended)
    world.feed(.systemChanged(nil, SystemChange(kind: .timeZone, value: nil), for: nil))
    let effects = world.see([(id, .focused)])
    #expect(effects.contains(.resume(id)))
    #expect(
      effects.contains {
        if case .notify(id, .systemChanges) = $0 { true } else { false }
      })
    #expect(world.state(id) == .inactive)
    #expect(world.inFlight[id]?.kind == .willEnterForeground)
    world.acknowledge(id)
    #expect(world.state(id) == .active)
  }

  @Test("An application that loses the focus to another program but stays visible is inactive")
  func visible() {
    var (world, first, second) = World.withTwo()
    world.see([(first, .visible), (second, .visible)], hasFocus: true)
    #expect(world.state(first) == .inactive)
    world.acknowledgeAll(first)
    world.advance(by: .seconds(3600))
    #expect(world.state(first) == .inactive, "a visible application stays in the foreground")
    #expect(world.state(second) == .inactive)
    #expect(world.scheduler.explanation(of: mail)?.window?.visibility == .visible)
  }

  @Test("A hidden application goes to the background after FocusSettleTime and HiddenGraceTime")
  func hidden() {
    var (world, first, second) = World.withTwo()
    world.see([(first, .hidden), (second, .focused)])
    #expect(world.state(first) == .inactive)
    world.acknowledgeAll(first)
    #expect(world.scheduler.explanation(of: mail)?.limits.map(\.kind) == [.hidden])
    world.advance(by: .milliseconds(30_499))
    #expect(world.state(first) == .inactive)
    world.advance(by: .milliseconds(1))
    #expect(world.state(first) == .background)
    #expect(world.inFlight[first]?.kind == .didEnterBackground)
    #expect(world.scheduler.explanation(of: mail)?.cause == .hidden)
  }

  @Test("The explanation of a hidden application names no application that displaced it before")
  func hiddenAfterDisplaced() {
    var (world, first, second) = World.withTwo()
    world.ask { .operation(.activate($0, maps)) }
    #expect(world.status(first)?.displacedBy == maps)
    world.see([(first, .hidden), (second, .focused)])
    world.acknowledgeAll(first)
    world.acknowledgeAll(second)
    world.advance(by: .milliseconds(30_500))
    #expect(world.state(first) == .background)
    #expect(world.status(first)?.displacedBy == nil)
  }

  @Test("A hidden application that is shown again within HiddenGraceTime stays in the foreground")
  func shownInTime() {
    var (world, first, second) = World.withTwo()
    world.see([(first, .hidden), (second, .focused)])
    world.acknowledgeAll(first)
    world.acknowledgeAll(second)
    world.advance(by: .seconds(30))
    world.see([(first, .visible), (second, .focused)])
    world.advance(by: .seconds(60))
    #expect(world.state(first) == .inactive)
    #expect(world.delivered(first).last == .willResignActive)
  }

  @Test("A suspended application whose window is shown without the focus becomes inactive")
  func shown() {
    var (world, first, second) = World.withTwo()
    world.see([(first, .hidden), (second, .focused)])
    world.acknowledgeAll(first)
    world.acknowledgeAll(second)
    world.advance(by: .seconds(31))
    world.acknowledgeAll(first)
    #expect(world.state(first) == .suspended)
    world.see([(first, .visible), (second, .focused)])
    #expect(world.state(first) == .inactive)
    #expect(world.inFlight[first]?.kind == .willEnterForeground)
    world.acknowledgeAll(first)
    #expect(world.state(first) == .inactive)
    #expect(world.state(second) == .active)
  }

  @Test("A window that a report no longer lists counts as hidden")
  func gone() {
    var (world, first, second) = World.withTwo()
    world.see([(second, .focused)])
    world.acknowledgeAll(first)
    world.advance(by: .milliseconds(30_500))
    #expect(world.state(first) == .background)
  }

  @Test(
    "If no window has the focus, the active application becomes inactive after FocusSettleTime",
    arguments: [true, false])
  func settles(isHidden: Bool) {
    var (world, first, second) = World.withTwo()
    let visibility: WindowVisibility = isHidden ? .hidden : .visible
    world.see([(first, visibility), (second, visibility)])
    world.advance(by: .milliseconds(499))
    #expect(world.state(first) == .active)
    world.advance(by: .milliseconds(1))
    #expect(world.state(first) == .inactive)
  }

  @Test("A loss of the focus for less than FocusSettleTime changes nothing")
  func gap() {
    var (world, first, second) = World.withTwo()
    world.forget()
    world.see([(first, .visible), (second, .visible)])
    world.advance(by: .milliseconds(400))
    world.see([(first, .focused), (second, .visible)])
    world.advance(by: .seconds(60))
    #expect(world.effects.isEmpty)
  }

  @Test("An operator's order holds until the window changes; a repeated report does not undo it")
  func orders() {
    var (world, first, second) = World.withTwo()
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(first)
    #expect(world.state(first) == .suspended)
    world.forget()
    world.see([(first, .focused), (second, .visible)])
    #expect(world.effects.isEmpty)
    world.ask { .operation(.activate($0, maps)) }
    world.acknowledgeAll(second)
    world.advance(by: .seconds(60))
    #expect(world.state(second) == .active, "the order holds, although its window has no focus")
    world.see([(first, .visible), (second, .focused)])
    world.see([(first, .focused), (second, .visible)])
    #expect(world.inFlight[first]?.kind == .willEnterForeground)
  }

  @Test("A report of windows does not affect applications that never had a window")
  func withoutWindow() {
    var world = World()
    world.attach()
    let daemon = world.adopt(music, in: .background, task: "work")
    let elsewhere = world.adopt(mail, at: SeatID("tty2"))
    let id = world.make(maps, .active)
    world.forget()
    world.see([(id, .focused)])
    world.see([(id, .hidden)], hasFocus: true)
    world.advance(by: .milliseconds(500))
    world.acknowledgeAll(id)
    world.advance(by: .seconds(30))
    #expect(world.state(daemon) == .background)
    #expect(world.state(elsewhere) == .active)
    #expect(world.state(id) == .background)
  }

  @Test("Reports about instances of other users and about unknown instances change nothing")
  func foreign() {
    var (world, first, _) = World.withTwo()
    world.forget()
    let other = UserID(user.uid + 1)
    world.feed(.session(.agentAttached(other)))
    let report = WindowSnapshot(
      [WindowReport(first, .hidden), WindowReport(InstanceID(99), .focused)], hasFocus: true)
    world.feed(.session(.windows(other, report)))
    world.advance(by: .seconds(60))
    #expect(world.effects.isEmpty)
  }

  @Test("A report without an attached agent changes nothing")
  func unattached() {
    var world = World()
    let id = world.make(mail, .active)
    world.forget()
    world.see([(id, .hidden)], hasFocus: true)
    world.advance(by: .seconds(60))
    #expect(world.effects.isEmpty)
  }

  @Test("An application that may not run in the background is terminated when it is hidden")
  func optedOut() {
    var world = World()
    world.attach()
    world.feed(
      .scheduler(.manifestsChanged([Manifest(id: mail.id, owner: user, multitasking: false)])))
    let id = world.make(mail, .active)
    world.see([(id, .focused)])
    let other = world.make(maps, .active)
    world.see([(id, .hidden), (other, .focused)])
    #expect(world.status(id)?.ending == nil)
    world.acknowledgeAll(id)
    world.advance(by: .milliseconds(30_500))
    #expect(world.status(id)?.ending == .optedOut)
  }
}

@Suite("§20 Windows that are closed while their application is suspended")
struct ClosedWindowTests {
  @Test("A suspended application whose windows are closed runs for EventTime")
  func closed() {
    var world = World()
    world.attach()
    let id = world.make(mail, .suspended)
    world.see([(id, .hidden)])
    #expect(world.state(id) == .suspended)
    world.see([])
    #expect(world.state(id) == .background)
    #expect(world.scheduler.explanation(of: mail)?.cause == .closed)
    world.advance(by: .milliseconds(9_999))
    #expect(world.state(id) == .background)
    world.advance(by: .milliseconds(1))
    #expect(world.state(id) == .suspended)
    world.forget()
    world.see([])
    #expect(world.effects.isEmpty, "it already has no window")
  }

  @Test("SessionGraceTime after the loss of an agent, its suspended applications run for EventTime")
  func lost() {
    var world = World()
    world.attach()
    let id = world.make(mail, .suspended)
    world.see([(id, .hidden)])
    world.feed(.session(.agentLost(user)))
    world.advance(by: .milliseconds(9_999))
    #expect(world.state(id) == .suspended)
    world.advance(by: .milliseconds(1))
    #expect(world.state(id) == .background)
  }

  @Test("An application that closes its windows itself is suspended as any other")
  func closedItself() {
    var (world, first, second) = World.withTwo()
    world.see([(second, .focused)])
    world.acknowledgeAll(first)
    world.acknowledgeAll(second)
    world.advance(by: .milliseconds(30_500))
    world.acknowledgeAll(first)
    #expect(world.state(first) == .suspended)
    world.see([(second, .visible)])
    #expect(world.state(first) == .suspended)
  }
}

@Suite("§20 The loss of a session agent")
struct LostAgentTests {
  @Test("The last report of a lost agent stays valid for SessionGraceTime")
  func grace() {
    var (world, first, second) = World.withTwo { $0.hiddenGraceTime = .seconds(5) }
    world.see([(first, .hidden), (second, .focused)])
    world.acknowledgeAll(first)
    world.acknowledgeAll(second)
    world.feed(.session(.agentLost(user)))
    world.advance(by: .milliseconds(5_500))
    #expect(world.state(first) == .background)
  }

  @Test("SessionGraceTime after the loss of an agent, the limits of hidden windows are cancelled")
  func cancelled() {
    var (world, first, second) = World.withTwo()
    world.see([(first, .hidden), (second, .focused)])
    world.acknowledgeAll(first)
    world.acknowledgeAll(second)
    world.feed(.session(.agentLost(user)))
    world.advance(by: .seconds(3600))
    #expect(world.state(first) == .inactive)
    #expect(world.state(second) == .active)
    #expect(world.scheduler.explanation(of: mail)?.window == nil)
    #expect(world.scheduler.nextDeadline == nil)
  }

  @Test("An agent that comes back within SessionGraceTime with the same windows changes nothing")
  func comesBack() {
    var (world, first, second) = World.withTwo()
    world.see([(first, .hidden), (second, .focused)])
    world.acknowledgeAll(first)
    world.acknowledgeAll(second)
    world.feed(.session(.agentLost(user)))
    world.advance(by: .seconds(9))
    world.attach()
    world.forget()
    world.see([(first, .hidden), (second, .focused)])
    #expect(world.effects.isEmpty)
    world.advance(by: .milliseconds(21_500))
    #expect(world.state(first) == .background)
  }

  @Test("Changes in the first snapshot of an agent that comes back take effect")
  func changes() {
    var (world, first, second) = World.withTwo()
    world.feed(.session(.agentLost(user)))
    world.advance(by: .seconds(2))
    world.attach()
    world.see([(first, .visible), (second, .focused)])
    #expect(world.state(second) == .active)
    #expect(world.state(first) == .inactive)
  }

  @Test("An application without a window in the first report after a long loss counts as hidden")
  func comesBackLate() {
    var (world, first, second) = World.withTwo()
    world.see([(first, .visible), (second, .focused)])
    world.acknowledgeAll(first)
    world.acknowledgeAll(second)
    world.feed(.session(.agentLost(user)))
    world.advance(by: .seconds(60))
    world.attach()
    world.see([(first, .visible)])
    #expect(world.state(second) == .active)
    world.advance(by: .milliseconds(30_500))
    world.acknowledgeAll(second)
    #expect(!world.state(second).isForeground)
    #expect(world.state(first) == .inactive)
  }

  @Test(
    "After the loss of an agent, an activation displaces applications whose windows are unknown")
  func sentAway() {
    var (world, first, second) = World.withTwo()
    world.feed(.session(.agentLost(user)))
    world.advance(by: .seconds(10))
    let third = world.make(music, .active)
    #expect(world.state(third) == .active)
    #expect(!world.state(first).isForeground)
    #expect(!world.state(second).isForeground)
  }

  @Test("The known windows and locks survive a crash of the daemon")
  func crash() throws {
    var (world, first, second) = World.withTwo()
    world.see([(first, .hidden), (second, .focused)])
    world.acknowledgeAll(first)
    world.acknowledgeAll(second)
    world.feed(.session(.locked(seat0, byRequest: false)))
    world.acknowledgeAll(second)
    try world.crash()
    world.feed(.session(.unlocked(seat0)))
    #expect(world.state(second) == .active)
    world.advance(by: .seconds(31))
    #expect(world.state(first) == .background)
  }

  @Test("The limit of a hidden window starts again if it passes while the machine sleeps")
  func sleeps() {
    var (world, first, second) = World.withTwo()
    world.see([(first, .hidden), (second, .focused)])
    world.acknowledgeAll(first)
    world.acknowledgeAll(second)
    world.sleep(for: .seconds(3600))
    #expect(world.state(first) == .inactive)
    world.advance(by: .milliseconds(30_500))
    #expect(world.state(first) == .background)
  }
}

@Suite("§20 The lock of the screen")
struct ScreenLockTests {
  @Test("A locked screen makes the active application of its seat inactive until the unlock")
  func locks() {
    var world = World()
    let id = world.make(mail, .active)
    let elsewhere = world.adopt(maps, at: SeatID("tty2"))
    world.feed(.session(.locked(seat0, byRequest: false)))
    #expect(world.state(id) == .inactive)
    #expect(world.inFlight[id]?.kind == .willResignActive)
    #expect(world.state(elsewhere) == .active)
    #expect(world.scheduler.explanation(of: mail)?.cause == .locked)
    world.acknowledgeAll(id)
    world.feed(.session(.unlocked(seat0)))
    #expect(world.state(id) == .active)
    #expect(world.inFlight[id]?.kind == .didBecomeActive)
  }

  @Test("The lock of a session is in force at the terminals in it, and not at others")
  func terminals() throws {
    var world = World()
    let desktop = world.make(mail, .active)
    let terminal = world.adopt(maps, at: SeatID("seat0/pts/1:7"))
    let other = world.adopt(music, at: SeatID("seat0x/pts/1:7"))
    world.feed(.session(.locked(seat0, byRequest: false)))
    #expect(world.state(desktop) == .inactive)
    #expect(world.state(terminal) == .inactive)
    #expect(world.state(other) == .active)
    #expect(world.scheduler.lockedSeats == [seat0])
    world.acknowledgeAll(desktop)
    try world.crash()
    world.feed(.session(.unlocked(seat0)))
    #expect(world.state(desktop) == .active)
    #expect(world.state(terminal) == .active)
    #expect(world.scheduler.lockedSeats.isEmpty)
  }

  @Test("A terminal's program that gets the focus while the session is locked waits for the unlock")
  func focusOfTerminal() {
    var world = World()
    world.attach()
    let id = world.adopt(maps, at: SeatID("seat0/pts/1:7"))
    world.see([(id, .hidden)])
    world.ask { .operation(.sendToBackground($0, maps)) }
    world.feed(.session(.locked(seat0, byRequest: false)))
    world.see([(id, .focused)])
    #expect(world.state(id) != .active)
    world.feed(.session(.unlocked(seat0)))
    #expect(world.state(id) == .active)
  }

  @Test("An application that is sent away while the screen is locked stays in the background")
  func sentAway() {
    var world = World()
    let id = world.make(mail, .active)
    world.feed(.session(.locked(seat0, byRequest: false)))
    world.acknowledgeAll(id)
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.feed(.session(.unlocked(seat0)))
    #expect(!world.state(id).isForeground)
  }

  @Test("An application that gets the focus while the screen is locked is active after the unlock")
  func focusWhileLocked() {
    var (world, first, second) = World.withTwo()
    world.feed(.session(.locked(seat0, byRequest: false)))
    world.see([(first, .visible), (second, .focused)])
    #expect(world.state(first) == .inactive)
    #expect(world.state(second) == .inactive)
    world.acknowledgeAll(first)
    world.acknowledgeAll(second)
    world.feed(.session(.unlocked(seat0)))
    #expect(world.state(second) == .active)
    #expect(world.state(first) == .inactive)
  }
}
