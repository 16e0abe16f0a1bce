import ArgumentParser
import Glibc
import LinuxSystem
import TaskSchedulerSimulation

/// `taskctl simulate`.
struct SimulateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Try the policy without a daemon: a scenario, chance by seeds, a daemon's journal.",
    discussion: """
      With a file, the policy runs in virtual time through what the file says, and the timeline \
      that comes of it is printed. The format is explained at the top of the examples, in \
      /usr/share/doc/taskschedd/examples/scenarios. '-' reads standard input.

      With --seeds, made-up applications and operators do whatever the seeds decide while \
      processes, messages and the daemon itself fail, and what the policy does is held against \
      its promises. A failing seed is made smaller and printed with the options that repeat it.

      With --replay, the file is a daemon's own journal, or the folder of it; without a file, it \
      is 'journal' beside the socket. The timeline begins where things stood when the journal was \
      begun, and shows what has happened since, what the policy made of it, and why. Nothing is \
      changed: the daemon may be running. A damaged journal is shown up to its last whole record.

      Exit codes: 0 nothing was violated, and every canary was caught; 1 the file has mistakes, \
      is damaged or cannot be read; 2 a mistake in the command line; 4 a promise was violated; 5 \
      a canary was not caught; 6 the same seed did not bring about the same in two processes; 7 \
      the policy trapped.

      Examples:
        taskctl simulate upload.scenario
        taskctl simulate --seeds 1000
        taskctl simulate --seeds 100 --canary all
        sudo taskctl simulate --replay
      """)

  @OptionGroup var options: ConnectionOptions

  @Argument(
    help: ArgumentHelp(
      "A scenario, or '-' for standard input; with --replay, a journal or its folder.",
      valueName: "file"),
    completion: .file())
  var file: String?

  @Flag(help: "Show what a daemon's own journal tells.")
  var replay = false

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Run so many seeds.", valueName: "count"))
  var seeds: Int?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("The first seed.", valueName: "seed"))
  var first: UInt64 = 1

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Processes to run at a time; as many as processors.", valueName: "count"))
  var jobs: Int?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Actions of the safety phase of each seed.", valueName: "count"))
  var actions = SimulationOptions.actionCountDefault

  @Option(
    name: .customLong("skip"),
    help: ArgumentHelp("Leave these actions out, such as 10-20.", valueName: "range"))
  var skips: [SkippedActions] = []

  @Option(help: ArgumentHelp("Leave this fault out.", valueName: "fault"))
  var without: [Fault] = []

  @Option(
    help: ArgumentHelp(
      "Plant a defect, which must be found; 'all' is one after the other.", valueName: "defect"))
  var canary: CanaryChoice?

  @Flag(help: "Print every event and effect.")
  var trace = false

  @Option(help: .hidden)
  var worker: WorkerShare?

  func validate() throws {
    if replay, seeds != nil { throw ValidationError("give --replay or --seeds, not both") }
    if file == nil, seeds == nil, !replay {
      throw ValidationError("name a scenario's file, or give --seeds or --replay")
    }
    if file != nil, seeds != nil { throw ValidationError("give a file or --seeds, not both") }
    if let seeds, seeds < 1 { throw ValidationError("--seeds must be at least 1") }
    if let seeds, first.addingReportingOverflow(UInt64(seeds)).overflow {
      throw ValidationError("--first and --seeds together reach beyond the last seed")
    }
    if let jobs, jobs < 1 { throw ValidationError("--jobs must be at least 1") }
    if actions < 0 { throw ValidationError("--actions must be at least 0") }
  }

  func run() throws {
    if replay {
      let path = file ?? ReleaseCommand.folder(ofSocket: options.path.path)
      return try JournalRun(path: path, isJSON: options.json).run()
    }
    if let file { return try ScenarioRun(path: file, isJSON: options.json).run() }
    guard let seeds else { return }
    let plan = SeedPlan(
      seeds: first..<(first + UInt64(seeds)), actionCount: actions, skipped: skips.map(\.range),
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

/// The exit codes of `taskctl simulate`, besides those of every command.
enum SimulationExitCode {
  static let violation: Int32 = 4
  static let canaryNotCaught: Int32 = 5
  static let notDeterministic: Int32 = 6
  static let trapped: Int32 = 7
}

/// `10-20`, or `7`.
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

/// Which defect is planted.
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

/// `2/4`: the third of four shares of the seeds.
struct WorkerShare: ExpressibleByArgument {
  let index: UInt64
  let count: UInt64

  init(index: UInt64, count: UInt64) {
    self.index = index
    self.count = count
  }

  init?(argument: String) {
    let parts = argument.split(separator: "/").map { UInt64($0) }
    guard parts.count == 2, let index = parts[0], let count = parts[1], index < count else {
      return nil
    }
    self.init(index: index, count: count)
  }
}
