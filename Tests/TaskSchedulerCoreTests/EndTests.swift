import Testing

@testable import TaskSchedulerCore

@Suite("§14 Ends of applications")
struct EndTests {
  @Test(
    "Every end has exactly one reason, which the log and the status show",
    arguments: [
      (TaskSchedulerCore.ExitStatus.exited(code: 0), EndReason.exited(code: 0)),
      (.exited(code: 3), .exited(code: 3)),
      (.signaled(11), .crashed(signal: 11)),
      (.unknown, .unknown),
    ])
  func ownEnd(_ status: TaskSchedulerCore.ExitStatus, _ reason: EndReason) {
    for state in [ApplicationState.active, .inactive, .background, .suspended] {
      var world = World()
      let id = world.make(mail, state)
      world.feed(.process(.leaderExited(id, status)))
      world.feed(.process(.leaderExited(id, status)))
      #expect(world.ends(of: mail) == [reason])
      #expect(world.lastEnd(mail) == End(reason: reason, at: world.now))
      #expect(
        world.effects.last == .release(id, killing: false), "the remaining processes continue")
    }
  }

  @Test(
    "The reason of a termination is terminatedByOperator or terminatedByUser",
    arguments: [true, false])
  func terminated(byUser: Bool) {
    var world = World()
    world.obeysTerminate = true
    let id = world.make(mail, .active)
    let request = world.newRequest()
    world.feed(.operation(.terminate(request, mail, byUser: byUser)))
    world.acknowledgeAll(id)
    let reason: EndReason = byUser ? .terminatedByUser : .terminatedByOperator
    #expect(world.ends(of: mail) == [reason])
    #expect(world.effects.contains(.release(id, killing: true)))
    #expect(world.effects.contains(.reply(request, .ended(End(reason: reason, at: world.now)))))
  }

  @Test("The first request to terminate determines the reason, whichever signal ends the leader")
  func firstReason() {
    var world = World()
    let id = world.make(mail, .active)
    world.ask { .operation(.terminate($0, mail, byUser: true)) }
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    world.feed(.process(.leaderExited(id, .signaled(15))))
    #expect(world.ends(of: mail) == [.terminatedByUser])
  }

  /// Returns the reason of an end that an operator or the user orders.
  private static func ordered(byUser: Bool) -> EndReason {
    byUser ? .terminatedByUser : .terminatedByOperator
  }

  @Test(
      """
      §14: A termination by an operator or a user stays the reason of the end if the \
      application does not acknowledge willTerminate; the detail names the callback
      """, arguments: [true, false])
  func terminateWithoutAnswer(byUser: Bool) {
    var world = World()
    _ = world.makeVoIP(mail, .background)
    let request = world.newRequest()
    world.feed(.operation(.terminate(request, mail, byUser: byUser)))
    world.advance(by: .seconds(6))
    let end = End(
      reason: Self.ordered(byUser: byUser), at: world.now, detail: .callback(.willTerminate))
    #expect(world.changes(of: mail).contains(.ended(end)))
    #expect(world.effects.contains(.reply(request, .ended(end))))
    #expect(world.scheduler.explanation(of: mail)?.end == .callback(.willTerminate))
    world.advance(by: .seconds(1000))
    world.feed(.scheduler(.started))
    #expect(
      world.spawned.isEmpty, "the application is not launched, not even at the daemon's next start")
  }

  @Test(
      """
      §14: A termination by an operator or a user is the reason of the end even if an \
      earlier callback is late
      """, arguments: [true, false])
  func terminateWhenOverdue(byUser: Bool) {
    var world = World()
    world.tracerChecking = .never
    let id = world.register(mail)
    world.advance(by: .seconds(6))
    world.ask { .operation(.terminate($0, mail, byUser: byUser)) }
    world.feed(.process(.tracerChecked(id, isTraced: false)))
    #expect(
      world.lastEnd(mail)
        == End(
          reason: Self.ordered(byUser: byUser), at: world.now,
          detail: .callback(.didFinishLaunching)))
  }

  @Test(
      """
      §14: A termination by an operator or a user replaces the daemon's reason for an end \
      in progress, and prevents a relaunch
      """, arguments: [true, false])
  func terminateWhileEnding(byUser: Bool) {
    var world = World()
    world.killing = .never
    let id = world.makeVoIP(mail, .background)
    world.advance(by: .seconds(600))
    #expect(world.status(id)?.ending == .backgroundTimeExpired)
    world.ask { .operation(.terminate($0, mail, byUser: byUser)) }
    world.feed(.process(.leaderExited(id, .signaled(9))))
    #expect(world.lastEnd(mail) == End(reason: Self.ordered(byUser: byUser), at: world.now))
    world.advance(by: .seconds(1000))
    #expect(world.spawned.isEmpty)
  }

  @Test(
    """
    §8: The next daemon does not launch an application that an operator has terminated, even if \
    the previous daemon stopped before the application ended
    """)
  func stoppedWhileOrdered() {
    var world = World()
    _ = world.makeVoIP(mail, .active)
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    world.feed(.scheduler(.stop))
    #expect(world.lastEnd(mail)?.reason == .schedulerStopped)
    world.feed(.scheduler(.started))
    #expect(world.spawned.isEmpty)
  }

  @Test("An application without multitasking ends when it leaves the foreground: optedOut")
  func optedOut() {
    var world = World()
    world.obeysTerminate = true
    world.feed(
      .scheduler(
        .manifestsChanged([
      Manifest(id: mail.id, owner: mail.owner, multitasking: false)
        ])))
    let id = world.make(mail, .active)
    let other = world.register(music)
    #expect(world.state(other).isForeground, "the other application does not wait")
    world.acknowledgeAll(id)
    #expect(world.ends(of: mail) == [.optedOut])
  }

  @Test("Each of two requests to terminate is answered when the leader has exited")
  func everyWaiterIsAnswered() {
    var world = World()
    let id = world.make(mail, .active)
    let first = world.newRequest()
    let second = world.newRequest()
    world.feed(.operation(.terminate(first, mail, byUser: false)))
    world.feed(.operation(.terminate(second, mail, byUser: false)))
    #expect(world.delivered(id).filter { $0 == .willResignActive }.count == 1)
    let end = End(reason: .terminatedByOperator, at: world.now)
    let last = world.feed(.process(.leaderExited(id, .exited(code: 0)))).suffix(2)
    #expect(Array(last) == [.reply(first, .ended(end)), .reply(second, .ended(end))])
  }

  @Test("A change of state is refused with Terminating while the application is terminating")
  func terminating() {
    var world = World()
    _ = world.make(mail, .active)
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    for request in [Request.activate, .deactivate, .sendToBackground] {
      #expect(world.ask { request.event($0, mail) } == .refused(.terminating))
    }
  }

  @Test(
      """
      §15: A stop of the scheduler resumes all processes and ends the instances: \
      schedulerStopped
      """,
    arguments: [ApplicationState.active, .inactive, .background, .suspended])
  func stopped(_ state: ApplicationState) {
    var world = World()
    let id = world.make(mail, state)
    world.forget()
    world.feed(.scheduler(.stop))
    #expect(world.ends(of: mail) == [.schedulerStopped])
    #expect(world.effects.contains(.release(id, killing: false)))
    #expect(world.effects.contains(.resume(id)) == (state == .suspended))
    #expect(!world.effects.contains(.kill(id)))
    #expect(world.state(id) == .notRunning)
    #expect(world.scheduler.nextDeadline == nil)
  }

  @Test("A stop of the scheduler cancels a suspension in progress")
  func stoppedWhileSuspending() {
    var world = World()
    world.suspending = .never
    let id = world.make(mail, .background)
    world.end(id, TaskID(1))
    world.forget()
    world.feed(.scheduler(.stop))
    #expect(world.effects.contains(.resume(id)))
  }

  @Test("A stop of the scheduler answers every outstanding request for an end or a launch")
  func stoppedAnswers() {
    var world = World()
    world.spawning = .never
    world.feed(.scheduler(.manifestsChanged([Manifest(id: music.id, owner: music.owner)])))
    _ = world.make(mail, .active)
    let end = world.newRequest()
    let launch = world.newRequest()
    world.feed(.operation(.terminate(end, mail, byUser: false)))
    world.feed(.operation(.launch(launch, music, target: .foreground, reason: .user)))
    world.forget()
    world.feed(.scheduler(.stop))
    let answered = world.effects.compactMap { effect -> RequestID? in
      if case .reply(let request, _) = effect { request } else { nil }
    }
    #expect(Set(answered) == [end, launch])
    #expect(answered.count == 2)
    #expect(world.scheduler.status(of: music, at: world.now)?.state == .notRunning)
  }

  @Test("§15: The foreground application is never suspended", arguments: [true, false])
  func foregroundIsNeverSuspended(isAware: Bool) {
    var world = World()
    let id = world.make(mail, .active, isAware: isAware)
    world.advance(by: .seconds(100_000))
    world.ask { .operation(.deactivate($0, mail)) }
    world.acknowledgeAll(id)
    world.advance(by: .seconds(100_000))
    #expect(world.state(id) == .inactive)
    #expect(!world.effects.contains(.suspend(id)))
  }

  @Test("The scheduler keeps the MaxEndedApplications most recently ended applications of a user")
  func endedAreForgotten() {
    var world = World { $0.endedApplicationsMax = 3 }
    for number in 1...10 {
      let id = world.make(key("org.example.app\(number)"), .active)
      world.feed(.process(.leaderExited(id, .exited(code: 0))))
    }
    _ = world.make(key("org.example.other", uid: 2000), .notRunning)
    let known = world.scheduler.statuses(at: world.now).filter { $0.key.owner == UserID(1000) }
    #expect(
      known.map(\.key.id.name) == ["org.example.app10", "org.example.app8", "org.example.app9"])
    #expect(world.scheduler.owners(of: key("org.example.other").id) == [UserID(2000)])
  }

  @Test("The removal of manifests leaves at most MaxEndedApplications ended applications")
  func manifestsGo() {
    var world = World { $0.endedApplicationsMax = 3 }
    for number in 1...10 {
      let app = key("org.example.app\(number)")
      world.feed(.scheduler(.manifestsChanged([Manifest(id: app.id, owner: app.owner)])))
      _ = world.make(app, .notRunning)
    }
    world.feed(.scheduler(.manifestsChanged([])))
    #expect(world.scheduler.statuses(at: world.now).count <= 3)
  }

  @Test("The scheduler forgets an application whose manifest is removed during a failing launch")
  func launchedInVain() {
    var world = World()
    world.spawning = .never
    world.feed(.scheduler(.manifestsChanged([Manifest(id: mail.id, owner: mail.owner)])))
    let request = world.newRequest()
    world.feed(.operation(.launch(request, mail, target: .foreground, reason: .user)))
    world.feed(.scheduler(.manifestsChanged([])))
    world.feed(.process(.spawnFailed(InstanceID(1), reason: "no such file")))
    #expect(world.scheduler.statuses(at: world.now).isEmpty)
  }

  @Test("The scheduler keeps the reason and time of a failed launch until the application runs")
  func launchFailure() throws {
    var world = World()
    world.feed(.scheduler(.manifestsChanged([Manifest(id: mail.id, owner: mail.owner)])))
    world.spawning = .failing
    world.ask { .operation(.launch($0, mail, target: .foreground, reason: .operator)) }
    let failure = LaunchFailure(reason: "no such file", at: world.now)
    func remembered() -> LaunchFailure? {
      world.scheduler.status(of: mail, at: world.now)?.launchFailure
    }
    #expect(remembered() == failure)
    try world.crash()
    #expect(remembered() == failure)
    world.spawning = .atOnce
    world.ask { .operation(.launch($0, mail, target: .foreground, reason: .operator)) }
    #expect(remembered() == nil)
  }

  @Test("The scheduler lists an application once, however often it has ended")
  func endedOften() {
    var world = World { $0.endedApplicationsMax = 2 }
    for _ in 1...10 { _ = world.make(mail, .notRunning) }
    _ = world.make(music, .notRunning)
    #expect(world.scheduler.statuses(at: world.now).map(\.key) == [mail, music])
  }
}
