import ArgumentParser
import Glibc
import LinuxSystem
import TaskSchedulerSimulation

/// `taskctl simulate`.
struct SimulateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Run the scheduler without a daemon: on a scenario, on seeds, or on an event log.",
    discussion: """
      With a file, the scheduler runs through the scenario in virtual time, and the command prints \
      the resulting timeline. /usr/share/doc/taskschedd/docs/scenarios.md describes the format. \
      /usr/share/doc/taskschedd/examples/scenarios has examples. '-' reads standard input.

      With --seeds, each seed determines the actions of simulated applications and operators, and \
      failures of processes, messages and the daemon. Checkers compare the scheduler's behavior \
      with its specification. The command shortens the run of a failing seed and prints the \
      options that reproduce it.

      With --replay, the file is the event log of a daemon, or its directory; the default is \
      'event-log' beside the socket. The timeline begins with the state at the beginning of the \
      event log, and shows each later event and the scheduler's decisions. The command changes \
      nothing; you may use it while the daemon runs. It shows a damaged event log up to the last \
      intact record.

      Exit codes: 0 no violation, and the checkers found every planted defect (--canary); 1 the \
      file is invalid, damaged or unreadable; 2 invalid command line; 4 a violation; 5 the \
      checkers did not find a planted defect; 6 a seed gave different results in two processes; \
      7 the scheduler trapped.

      Examples:
        taskctl simulate upload.scenario
        taskctl simulate --seeds 1000
        taskctl simulate --seeds 100 --canary all
        sudo taskctl simulate --replay
      """)

  @OptionGroup var options: ConnectionOptions

  @Argument(
    help: ArgumentHelp(
      "A scenario, or '-' for standard input; with --replay, an event log or its directory.",
      valueName: "file"),
    completion: .file())
  var file: String?

  @Flag(help: "Show the contents of a daemon's event log.")
  var replay = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Run this number of seeds.", valueName: "count"))
  var seeds: Int?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The first seed; the default is 1.", valueName: "seed"))
  var first: UInt64?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The number of processes; the default is one per CPU.", valueName: "count"))
  var jobs: Int?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The number of actions of each seed before its faults end; the default is "
        + "\(SimulationOptions.actionCountDefault).", valueName: "count"))
  var actions: Int?

  @Option(
    name: .customLong("skip"),
    help: ArgumentHelp("Omit these actions, such as 10-20.", valueName: "range"))
  var skips: [SkippedActions] = []

  @Option(help: ArgumentHelp("Do not inject this fault.", valueName: "fault"))
  var without: [Fault] = []

  @Option(
    help: ArgumentHelp(
      "Plant a defect that the checkers must find; 'all' plants each defect in turn.",
      valueName: "defect"))
  var canary: CanaryChoice?

  @Flag(help: "Print every event and effect of the first seed.")
  var trace = false

  @Option(help: .hidden)
  var worker: WorkerShare?

  func validate() throws {
    if replay, seeds != nil { throw ValidationError("give --replay or --seeds, not both") }
    if file == nil, seeds == nil, !replay {
      throw ValidationError("give a scenario file, --seeds or --replay")
    }
    if file != nil, seeds != nil { throw ValidationError("give a file or --seeds, not both") }
    if seeds == nil, let option = seedOption {
      throw ValidationError(
        "\(option) has no effect with \(replay ? "--replay" : "a scenario"); use it with --seeds")
    }
    if let seeds, seeds < 1 { throw ValidationError("--seeds is \(seeds); the minimum is 1") }
    if let seeds, (first ?? 1).addingReportingOverflow(UInt64(seeds)).overflow {
      throw ValidationError("--first plus --seeds exceeds the largest seed")
    }
    if let jobs, jobs < 1 { throw ValidationError("--jobs is \(jobs); the minimum is 1") }
    if let actions, actions < 0 {
      throw ValidationError("--actions is \(actions); the minimum is 0")
    }
  }

  /// An option of the command line that has an effect only with `--seeds`; nil if there is none.
  private var seedOption: String? {
    let isGiven = [
      ("--first", first != nil), ("--jobs", jobs != nil), ("--actions", actions != nil),
      ("--skip", !skips.isEmpty), ("--without", !without.isEmpty), ("--canary", canary != nil),
      ("--trace", trace), ("--worker", worker != nil),
    ]
    return isGiven.first { $0.1 }?.0
  }

  func run() throws {
    if replay {
      let path = file ?? ReleaseCommand.directory(ofSocket: options.path.path)
      return try EventLogRun(path: path, isJSON: options.json).run()
    }
    if let file { return try ScenarioRun(path: file, isJSON: options.json).run() }
    guard let seeds else { return }
    let first = first ?? 1
    let plan = SeedPlan(
      seeds: first..<(first + UInt64(seeds)),
      actionCount: actions ?? SimulationOptions.actionCountDefault, skipped: skips.map(\.range),
      without: Set(without))
    if let worker { return try SeedWorker(plan: plan, share: worker, canary: canary?.one).run() }
    if trace { return try SeedTrace(options: plan.options(first, canary: canary?.one)).run() }
    let jobs = jobs ?? max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    let campaign = SeedCampaign(plan: plan, jobs: min(jobs, seeds), isJSON: options.json)
    switch canary {
    case nil: try campaign.run()
    case .one(let canary)?: try campaign.run(canaries: [canary])
    case .all?: try campaign.run(canaries: Canary.allCases)
    }
  }
}

/// A range of action numbers: `10-20`, or `7`.
struct SkippedActions: ExpressibleByArgument {
  let range: Range<Int>

  init?(argument: String) {
    let ends = argument.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1],
      first <= last, last < Int.max
    else { return nil }
    range = first..<(last + 1)
  }
}

extension Fault: ExpressibleByArgument {}

/// The deliberate defects that the simulation plants, to test that its checkers find them.
enum CanaryChoice: ExpressibleByArgument {
  case all
  case one(Canary)

  init?(argument: String) {
    if argument == "all" {
      self = .all
    } else if let canary = Canary(rawValue: argument) {
      self = .one(canary)
    } else {
      return nil
    }
  }

  static var allValueStrings: [String] { ["all"] + Canary.allCases.map(\.rawValue) }

  var one: Canary? { if case .one(let canary) = self { canary } else { nil } }
}
