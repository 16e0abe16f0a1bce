import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerSimulation
import TaskSchedulerWire
import TestSupport

/// Real processes and the real daemon. A seed determines actions. After each action, the test
/// compares the daemon's state with that of the core.
final class RealWorld {
  let daemon: DaemonFixture
  let model: CoreModel
  private let monitor: Monitor
  private let workload: Workload
  private let faults: Faults
  private let seed: UInt64
  private var processes: [RealProcess] = []
  private let inspection: Inspection
  /// The numbers of actions and comparisons. A test checks that there were enough.
  private(set) var tally = Tally()

  struct Tally {
    var actions = 0
    var answers = 0
    var told = 0
    var states: Set<ApplicationState> = []
  }

  /// A program that the test or the daemon started.
  private final class RealProcess {
    let leader: Leader
    let pidfd: PIDFD
    /// The application; nil for a program that is not aware of the scheduler.
    let application: TestApplication?
    /// The adopted process; nil if the program was not adopted. This reference keeps the process
    /// alive: the deinitializer of `TestProcess` would kill it.
    let adopted: TestProcess?
    var tasksEnded: [TaskID] = []

    init(
      _ leader: Leader, _ pidfd: consuming PIDFD, application: TestApplication? = nil,
      adopted: TestProcess? = nil
    ) {
      self.leader = leader
      self.pidfd = pidfd
      self.application = application
      self.adopted = adopted
    }
  }

  static let actionsMin = 10

  private static let names = [
    "org.example.mail", "org.example.music", "org.example.maps", "org.example.sync",
  ]

  init(seed: UInt64) throws {
    self.seed = seed
    let sleep = #"command = ["/bin/sleep", "1000"]"#
    daemon = try DaemonFixture(
      .init(
        options: [("suspend-mechanism", "\"signal\"")],
        policy: [
          ("BackgroundTime", "700ms"), ("ExpirationLead", "200ms"), ("TerminateTimeout", "300ms"),
          ("CallbackTimeout", "2s"), ("LaunchTime", "500ms"), ("MaxTasksPerApplication", "3"),
        ],
        manifests: [
          (Self.names[0], sleep), (Self.names[1], sleep + "\nbackground-modes = [\"audio\"]"),
          (Self.names[3], sleep + "\nmultitasking = false"),
        ]))
    monitor = try Monitor(daemon)
    model = try CoreModel(daemon)
    inspection = Inspection(daemon, model)
    let owner = UserID(getuid())
    workload = Workload(
      keys: Self.names.compactMap { ApplicationID($0) }.map { ApplicationKey($0, owner: owner) },
      seats: [SeatID("seat0")])
    // The only fault is that processes exit. Other tests cover faults of the machine and errors of
    // applications.
    faults = Faults(seed: seed, without: Set(Fault.allCases).subtracting([.exits]))
  }

  var facts: Inspection.Facts { inspection.facts }

  /// Performs actions that the seed determines, until `limit` has passed or `actionsMax` is
  /// reached. Compares the daemon with the core after each action.
  func run(for limit: Duration, actionsMax: UInt64 = 400) throws {
    let end = BootClock.now() + UInt64(limit.components.seconds) * 1_000_000_000
    var number: UInt64 = 0
    // Performs a minimum number of actions, even on a slow machine.
    while BootClock.now() < end || tally.actions <= Self.actionsMin, number < actionsMax {
      do {
        if let action = workload.action(number, seed: seed, faults: faults, in: self) {
          try perform(action)
        }
        // Waits for a change after every fourth action, so that limits of applications expire.
        if number % 4 == 3 { try waitForChange() }
        try compare()
      } catch {
        throw PredictionMismatch("seed \(seed), action \(number): \(error)")
      }
      number += 1
    }
    try finish()
  }

  private func compare() throws {
    try inspection.compare(processes.map(\.leader))
    for process in processes {
      if let status = model.status(process.leader) { tally.states.insert(status.state) }
    }
  }

  // MARK: Actions

  private func perform(_ action: Workload.Action) throws {
    switch action {
    case .activate(let key):
      try ask(.operation(.activate(nil, key))) { try daemon.activate(key.id.name) }
    case .deactivate(let key):
      try ask(.operation(.deactivate(nil, key))) {
        try daemon.call(ControlInterface.Deactivate.self, .init(application: key.id.name))
      }
    case .sendToBackground(let key):
      try ask(.operation(.sendToBackground(nil, key))) { try daemon.sendToBackground(key.id.name) }
    case .terminate(let key, _):
      // Ignores the reply: it does not report an end if the program has never run.
      try ask(.operation(.terminate(nil, key, byUser: false))) {
        _ = try daemon.call(ControlInterface.Terminate.self, .init(application: key.id.name))
      }
    case .launch(let key, let target, _):
      try ask(.operation(.launch(nil, key, target: target, reason: .operator))) {
        add(try daemon.launch(key.id.name, background: target == .background))
      }
    case .adopt(let key, let target, _, let additions, _): try adopt(key, target, additions)
    case .register(let key, let target, _): try register(key, target)
    case .begin(let process, let name):
      try say(process, "BeginBackgroundTask", name.map { ["name": .string($0)] } ?? [:], [
        .taskBegan, .refused,
      ])
    case .end(let process, let task):
      processes[process].tasksEnded.append(task)
      let parameters: JSONValue = ["task": .integer(Int64(task.number))]
      try say(process, "EndBackgroundTask", parameters, [.taskEnded, .refused])
    case .openStreamAs(let process, let other):
      guard let application = processes[process].application, application.id != other.name else {
        return
      }
      try application.process.writeLine("stream \(other.name)")
      try wait(process, for: [.refused])
    case .exit(let process, let status): try kill(process, status)
    // A new stream would receive earlier events again, which `finish` does not expect.
    case .openStream: return
    case .machineSleeps, .daemonDies, .configurationChanges, .debuggerAttaches, .losesStream,
      .endWrongly, .acknowledgeWrongly:
      throw PredictionMismatch("the workload contains an excluded fault: \(action)")
    }
    tally.actions += 1
  }

  /// Sends a request to the daemon, and checks that it answers as the core does.
  private func ask(_ event: Event, _ call: () throws -> Void) throws {
    try model.refresh()
    let answered = model.answers.count
    var heard = "done"
    do {
      try call()
    } catch let failure as ControlInterface.Failure {
      heard = failure.name.split(separator: ".").last.map(String.init) ?? ""
    }
    try model.refresh()
    let given = model.answers[answered...].filter { $0.event.isLike(event) }.map(\.reply)
    // The daemon may refuse a request without passing it to the core. In this case, the core must
    // predict the same refusal.
    let reply = given.isEmpty ? model.answer(to: event) : given.count == 1 ? given[0] : nil
    guard let reply, reply.word == heard else {
      throw PredictionMismatch("\(event) was answered by \(heard), and by the core \(given)")
    }
    tally.answers += 1
  }

  private func adopt(
    _ key: ApplicationKey, _ target: LaunchTarget, _ additions: Workload.AdoptionOptions
  ) throws {
    let process = try daemon.shell("sleep 1000 & exec sleep 1000")
    let leader = try leader(process.pid)
    let adoption = Adoption(
      application: key, leader: leader, target: target, seat: SeatID("seat0"),
      backgroundTask: additions.backgroundTask)
    processes.append(
      RealProcess(leader, try pidfd(process.pid), adopted: process))
    try ask(.operation(.adopt(RequestID(0), adoption))) {
      try daemon.adopt(
        key.id.name, process, background: target == .background, task: additions.backgroundTask)
    }
  }

  private func register(_ key: ApplicationKey, _ target: LaunchTarget) throws {
    let flags = target == .background ? "background" : "foreground"
    let application = try TestApplication(daemon, key.id.name, flags)
    let leader = try leader(application.pid)
    processes.append(
      RealProcess(leader, try pidfd(application.pid), application: application))
    try model.refresh()
    let answered = model.answers.count
    let event = try application.nextEvent()
    try model.refresh()
    let reply = model.answers[answered...].last { answer in
      if case .application(.register(_, key, leader, _, _)) = answer.event { true } else { false }
    }?.reply
    let heard = event.errorName ?? "done"
    guard let reply, reply.word == heard else {
      throw PredictionMismatch("registering \(key.id.name) was answered by \(heard)")
    }
    tally.answers += 1
  }

  /// Sends an application's call, and waits until the monitor reports the effect of the call.
  /// `finish` compares the answer.
  private func say(
    _ process: Int, _ method: String, _ parameters: JSONValue,
    _ kinds: [ControlInterface.ChangeKind]
  ) throws {
    guard let application = processes[process].application else { return }
    try application.send(method, parameters)
    try wait(process, for: kinds)
  }

  /// Waits until one of these changes arrives, or the process no longer runs.
  private func wait(_ process: Int, for kinds: [ControlInterface.ChangeKind]) throws {
    let pid = Int(processes[process].leader.pid)
    try monitor.next("\(kinds) of process \(pid)") { change in
      guard change.pid == pid else { return false }
      return kinds.contains(change.kind) || change.kind == .ended
        || change.kind == .transition && change.to == .suspended
    }
  }

  private func kill(_ process: Int, _ status: ExitStatus) throws {
    let known = model.status(processes[process].leader)
    let isForeground = known.map { $0.state == .active || $0.state == .inactive } ?? false
    // Only SIGKILL can end a stopped process.
    let signal = status == .signaled(SIGSEGV) && isForeground ? SIGSEGV : SIGKILL
    _ = try processes[process].pidfd.send(signal: signal)
    if known == nil {
      try waitFor(POLLIN, on: processes[process].pidfd.rawValue)
    } else {
      let pid = Int(processes[process].leader.pid)
      try monitor.next("the end of \(pid)") { $0.pid == pid && $0.kind == .ended }
    }
  }

  /// Waits for the next change of an application in the background. Does nothing if there is no
  /// such application.
  private func waitForChange() throws {
    try model.refresh()
    let waiting = processes.first { model.status($0.leader)?.state == .background }
    guard let pid = waiting.map({ Int($0.leader.pid) }) else { return }
    try monitor.next("a limit of process \(pid)") { $0.pid == pid }
  }

  // MARK: Programs

  private func leader(_ pid: Int32) throws -> Leader {
    guard let stat = try daemon.proc.stat(pid) else {
      throw PredictionMismatch("there is no process \(pid)")
    }
    return Leader(pid: pid, startTime: stat.startTime)
  }

  private func pidfd(_ pid: Int32) throws -> PIDFD {
    guard let pidfd = try PIDFD.open(pid) else {
      throw PredictionMismatch("there is no process \(pid)")
    }
    return pidfd
  }

  private func add(_ pid: Int32) {
    // The launched process may have been killed already.
    guard let leader = try? leader(pid), let process = try? RealProcess(leader, pidfd(pid)) else {
      return
    }
    processes.append(process)
  }

  // MARK: The end of the run

  /// Ends every program, and compares the events and answers that each application received with
  /// those of the core.
  private func finish() throws {
    for process in processes { _ = try process.pidfd.send(signal: SIGKILL) }
    for process in processes where model.status(process.leader) != nil {
      let pid = Int(process.leader.pid)
      let isOver = try daemon.applications().allSatisfy { $0.instance?.pid != pid }
      if !isOver { try monitor.next("the end of \(pid)") { $0.pid == pid && $0.kind == .ended } }
    }
    try compare()
    for process in processes {
      guard let application = process.application, let id = model.instance(of: process.leader)
      else { continue }
      let (heard, answers) = try application.rest()
      let said = model.told[id] ?? []
      guard heard.elementsEqual(said.prefix(heard.count)) else {
        throw PredictionMismatch(
          "seed \(seed): \(application.id) received \(heard); the core sent \(said)")
      }
      let given = model.answers.filter { $0.event.isTaskCall(of: id) }.map(\.reply.text)
      guard answers.elementsEqual(given.prefix(answers.count)) else {
        throw PredictionMismatch(
          "seed \(seed): \(application.id) got \(answers); the core gave \(given)")
      }
      tally.told += heard.count
      tally.answers += answers.count
    }
  }
}

extension RealWorld: WorkloadState {
  var processCount: Int { processes.count }
  func isAlive(_ process: Int) -> Bool { (try? processes[process].pidfd.hasEnded()) == false }
  func isManaged(_ process: Int) -> Bool { model.status(processes[process].leader) != nil }
  func isStopped(_ process: Int) -> Bool {
    model.status(processes[process].leader)?.state == .suspended
  }
  func hasStream(_ process: Int) -> Bool {
    isManaged(process) && processes[process].application != nil
  }
  func tasks(of process: Int) -> [TaskID] {
    model.status(processes[process].leader)?.status.tasks.map(\.id) ?? []
  }
  func tasksEnded(by process: Int) -> [TaskID] { processes[process].tasksEnded }
  func callbacksAcknowledged(by process: Int) -> [CallbackID] { [] }
}
