import Testing

@testable import TaskSchedulerCore

@Suite("§12: Resource rules in the background")
struct BackgroundRuleTests {
  private func world() -> World {
    World {
      $0.backgroundUseWindow = .seconds(10)
      $0.backgroundProcessorShare = 50
      $0.throttledProcessorShare = 10
    }
  }

  private func resources(_ world: World) -> [ResourceEffect] {
    world.effects.compactMap { if case .resources(let effect) = $0 { effect } else { nil } }
  }

  private func priorities(_ world: World) -> [ProcessPriority] {
    resources(world).compactMap { effect in
      if case .prioritize(_, let priority) = effect { priority } else { nil }
    }
  }

  private func throttles(_ world: World) -> [Int?] {
    resources(world).compactMap { effect -> Int?? in
      if case .throttle(_, let percent) = effect { percent } else { nil }
    }
  }

  private func samples(_ world: World) -> Int {
    resources(world).count { if case .sample = $0 { true } else { false } }
  }

  @Test(
    """
    An instance has a lower priority in the background, and its own priority again \
    before it resumes
    """)
  func order() throws {
    var world = world()
    let id = world.make(mail, .suspended)
    #expect(priorities(world) == [.background, .suspended])
    world.forget()
    world.ask { .operation(.activate($0, mail)) }
    let raised = try #require(
      world.position(of: .resources(.prioritize(id, .foreground))))
    #expect(raised < (try #require(world.position(of: .resume(id)))))
  }

  @Test("An activation does not wait until the displaced application has a lower priority")
  func last() throws {
    var world = world()
    let first = world.make(mail, .active)
    let second = world.make(music, .suspended)
    world.ask { .operation(.activate($0, music)) }
    world.acknowledgeAll(first)
    world.acknowledgeAll(second)
    world.forget()
    let effects = world.feed(.operation(.activate(world.newRequest(), mail)))
    let lowered = try #require(effects.firstIndex(of: .resources(.prioritize(second, .background))))
    #expect(lowered == effects.count - 1)
    #expect(effects.contains(.resources(.prioritize(first, .foreground))) )
  }

  @Test("An application that starts in the background has a lower priority at once")
  func start() {
    var world = world()
    let id = world.adopt(mail, in: .background, task: "work")
    #expect(priorities(world) == [.background])
    world.feed(.process(.leaderExited(id, .exited(code: 0))))
    #expect(priorities(world) == [.background])
  }

  @Test(
    "The daemon kills an application for GPU use in the background: gpuInBackground",
    arguments: [true, false])
  func gpu(isUsed: Bool) {
    var world = world()
    let id = world.make(mail, .background)
    world.rates[id] = (0, isUsed ? 0.1 : 0)
    world.advance(by: .seconds(10))
    #expect(world.lastEnd(mail)?.reason == (isUsed ? .gpuInBackground : nil))
  }

  @Test("The rest of earlier GPU work, up to BackgroundGPUTime, does not end an application")
  func gpuRest() {
    var world = world()
    let id = world.make(mail, .background)
    let limit = world.scheduler.policy.backgroundGPUTime
    world.feed(.resources(.used(id, ResourceUse(processor: .zero, gpu: limit))))
    #expect(world.state(id) == .background)
    world.feed(.resources(.used(id, ResourceUse(processor: .zero, gpu: limit + .nanoseconds(1)))))
    #expect(world.lastEnd(mail)?.reason == .gpuInBackground)
  }

  @Test("The daemon kills an application that is suspended with a shared lock: sharedResourceHeld")
  func held() {
    var world = world()
    world.suspending = .never
    let id = world.make(mail, .active)
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    // The daemon reports the held lock while it is still stopping the processes.
    world.feed(.resources(.held(id, path: "/x")))
    world.feed(.process(.suspensionCompleted(id)))
    #expect(world.lastEnd(mail)?.reason == .sharedResourceHeld)
    #expect(!world.changes(of: mail).contains { change in
      if case .transition(_, .suspended, _) = change { true } else { false }
    })
  }

  @Test("A report of a held lock kills an application only while its suspension is in progress")
  func lateHeld() {
    var world = world()
    for state in [ApplicationState.active, .background, .suspended] {
      let id = world.make(mail, state)
      world.feed(.resources(.held(id, path: "/x")))
      #expect(world.state(id) == state)
      world.feed(.process(.leaderExited(id, .exited(code: 0))))
    }
  }

  @Test("The daemon throttles, and then kills, an application above its CPU share: excessiveUse")
  func excessive() {
    var world = world()
    let id = world.make(mail, .background)
    world.rates[id] = (0.51, 0)
    world.advance(by: .seconds(10))
    #expect(throttles(world) == [10])
    #expect(world.status(id)?.throttledTo == 10)
    world.rates[id] = (0.09, 0)
    world.advance(by: .seconds(10))
    #expect(world.lastEnd(mail)?.reason == .excessiveUse)
  }

  @Test("The daemon kills an application that exceeds its CPU share again after a throttle")
  func again() {
    var world = world()
    let id = world.make(mail, .background)
    world.rates[id] = (0.51, 0)
    world.advance(by: .seconds(10))
    world.rates[id] = (0.07, 0)
    world.advance(by: .seconds(10))
    #expect(throttles(world) == [10, nil])
    world.rates[id] = (0.49, 0)
    world.advance(by: .seconds(30))
    #expect(world.state(id) == .background)
    world.rates[id] = (0.51, 0)
    world.advance(by: .seconds(10))
    #expect(world.lastEnd(mail)?.reason == .excessiveUse)
  }

  @Test(
    "The daemon throttles no application below its CPU share, and samples none in the foreground")
  func share() {
    var world = world()
    let id = world.make(mail, .background)
    world.rates[id] = (0.49, 0)
    world.advance(by: .seconds(400))
    #expect(throttles(world).isEmpty)
    #expect(samples(world) > 30)
    world.ask { .operation(.activate($0, mail)) }
    world.acknowledgeAll(id)
    world.forget()
    world.advance(by: .seconds(4000))
    #expect(samples(world) == 0)
    #expect(world.scheduler.nextDeadline == nil, "no timer wakes an idle daemon")
  }

  @Test("A suspended application is not sampled, and a foreground application is not throttled")
  func lifted() {
    var world = world()
    let id = world.make(mail, .background)
    world.rates[id] = (0.6, 0)
    world.advance(by: .seconds(10))
    #expect(throttles(world) == [10])
    world.ask { .operation(.activate($0, mail)) }
    #expect(throttles(world) == [10, nil])
    world.acknowledgeAll(id)
    world.rates[id] = (0, 0)
    world.end(id, TaskID(1))
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    #expect(world.state(id) == .suspended)
    world.forget()
    world.advance(by: .seconds(1000))
    #expect(samples(world) == 0)
  }

  @Test(
    """
    An instance may use any amount of CPU and GPU time while a debugger traces one of its \
    processes
    """)
  func traced() {
    var world = world()
    let id = world.make(mail, .background)
    world.traced = [id]
    world.rates[id] = (2, 1)
    world.advance(by: .seconds(100))
    #expect(world.state(id) == .background)
    #expect(throttles(world).isEmpty)
  }

  @Test("A restarted daemon counts CPU use from its own start, and keeps a throttle")
  func absence() throws {
    var world = world()
    let id = world.make(mail, .background)
    world.rates[id] = (0.6, 0)
    world.advance(by: .seconds(10))
    #expect(throttles(world) == [10])
    world.forget()
    try world.crash(awayFor: .seconds(5))
    #expect(throttles(world) == [10])
    #expect(priorities(world) == [.background])
    #expect(samples(world) == 1)
    #expect(world.state(id) == .background)
  }

  @Test("A restarted daemon samples an application whose processes it cannot stop again")
  func suspensionLost() throws {
    for isPlaying in [false, true] {
      var world = world()
      let id = world.adopt(mail, modes: [.audio])
      world.ask { .operation(.sendToBackground($0, mail)) }
      #expect(world.state(id) == .suspended)
      world.suspending = .failing
      world.forget()
      try world.crash()
      #expect(world.state(id) == .background)
      #expect(samples(world) == 1)
      if isPlaying { world.play(id) }
      world.suspending = .atOnce
      world.advance(by: world.scheduler.policy.suspendRetryInterval)
      #expect(world.state(id) == (isPlaying ? .background : .suspended))
    }
  }

  @Test("The daemon reports a listening socket of a suspended application to the operator once")
  func listens() {
    var world = world()
    world.suspending = .never
    let id = world.make(mail, .active)
    func suspend(_ addresses: [String]) {
      world.ask { .operation(.sendToBackground($0, mail)) }
      world.acknowledgeAll(id)
      world.feed(.resources(.listens(id, ListeningReport(addresses))))
      world.feed(.process(.suspensionCompleted(id)))
      world.ask { .operation(.activate($0, mail)) }
      world.acknowledgeAll(id)
    }
    suspend(["0.0.0.0:80"])
    suspend(["0.0.0.0:80"])
    suspend([])
    suspend(["[::]:80", "@x"])
    let reports = world.changes(of: mail).compactMap { change -> [String]? in
      if case .resources(.listens(let report)) = change { report.addresses } else { nil }
    }
    #expect(reports == [["0.0.0.0:80"], ["[::]:80", "@x"]])
    #expect(world.status(id)?.listening == ListeningReport(["[::]:80", "@x"]))
  }

  @Test("§12: The record of many listening sockets has the first ten, and their number")
  func manyListeners() {
    let report = ListeningReport((1...3000).map { "0.0.0.0:\($0)" })
    #expect(report.addresses.count == 10 && report.count == 3000)
  }

  @Test("§12: The daemon records that a scan of descriptors at a suspension was incomplete")
  func incompleteLook() {
    var world = world()
    world.suspending = .never
    let id = world.make(mail, .active)
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    let report = ListeningReport(isComplete: false)
    world.feed(.resources(.listens(id, report)))
    world.feed(.process(.suspensionCompleted(id)))
    #expect(world.changes(of: mail).contains(.resources(.listens(report))))
    #expect(world.status(id)?.listening == report)
  }

  @Test("A policy with contradictory limits is refused with the names of the limits")
  func bounds() {
    var policy = Policy()
    policy.throttledProcessorShare = 80
    #expect(policy.problems.contains { $0.contains("ThrottledProcessorShare") })
    policy = Policy()
    policy.backgroundUseWindow = .zero
    #expect(policy.problems.contains { $0.contains("BackgroundUseWindow") })
  }
}
