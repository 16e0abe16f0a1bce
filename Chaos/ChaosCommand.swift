import ArgumentParser
import Glibc
import LinuxSystem

/// The command `chaos`, which kills the daemon at random moments while clients work, and reports
/// violated promises.
@main
struct ChaosCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chaos",
    abstract: "Kill the daemon at random moments while real clients work, and report violated "
      + "promises.",
    discussion: """
      Boots a machine with a real systemd in namespaces (needs root) and ends it afterwards. The \
      exit code is 0 if there are no findings, 1 if there are findings, and 2 if the campaign \
      could not run.
      """,
    subcommands: [
      RunCommand.self, DesktopCommand.self, CampaignCommand.self, DesktopCampaignCommand.self,
      ClientCommand.self, OperatorCommand.self,
    ],
    defaultSubcommand: RunCommand.self)
}

struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Boot a machine and run a campaign in it.")

  @Option(help: "The number of kills; 0 checks the campaign itself.")
  var kills = 1000
  @Option(help: "The number of clients.")
  var clients = 200
  @Option(
    help: "The seed of all random decisions. The times of the kills also depend on the machine.")
  var seed: UInt64?
  @Flag(help: "Pass no state to each new daemon. The campaign must report findings.")
  var forget = false
  @Option(
    help: ArgumentHelp(
      "The source tree of another version, with its program in .build/release. The campaign begins "
        + "with the daemon of that version, and upgrades it after half of the kills.",
      valueName: "directory"))
  var previous: String?
  @Option(
    help: ArgumentHelp(
      "Write the machine's log to this file at the end, with a more detailed log level.",
      valueName: "file"))
  var log: String?

  func validate() throws {
    guard kills >= 0 else { throw ValidationError("--kills is \(kills); the minimum is 0") }
    guard (1...10_000).contains(clients) else {
      throw ValidationError("--clients must be 1 to 10000")
    }
    if let previous, access(previous + "/.build/release/taskschedd", X_OK) != 0 {
      throw ValidationError(
        "--previous: '\(previous)/.build/release/taskschedd' is not an executable file")
    }
  }

  func run() throws {
    let seed = seed ?? BootClock.now() % 1_000_000
    try runInMachine(
      ["campaign", "\(kills)", "\(clients)", "\(seed)"]
        + (previous == nil ? [] : ["--upgrades"]), log: log
    ) { logLevel in
      try CampaignMachine(
        clients: clients, forgets: forget, previous: previous,
        settings: Settings.text(logLevel: logLevel))
    }
  }
}

struct DesktopCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "desktop",
    abstract: "Boot a machine with a desktop, and kill the session agent, the daemon, the audio "
      + "server and the compositor in turn while the focus changes.")

  @Option(help: "The number of kills.")
  var kills = 100
  @Flag(help: "Start no session agent. The campaign must report findings.")
  var noAgent = false
  @Option(help: "The seed of all random decisions. The moments also depend on the machine.")
  var seed: UInt64?
  @Option(
    help: ArgumentHelp(
      "Write the machine's log to this file at the end, with a more detailed log level.",
      valueName: "file"))
  var log: String?

  func validate() throws {
    guard kills >= 0 else { throw ValidationError("--kills is \(kills); the minimum is 0") }
  }

  func run() throws {
    let seed = seed ?? BootClock.now() % 1_000_000
    try runInMachine(
      ["desktop-campaign", "\(kills)", "\(seed)"] + (noAgent ? ["--no-agent"] : []), log: log
    ) { logLevel in
      try CampaignMachine(clients: 0, settings: Settings.desktop(logLevel: logLevel))
    }
  }
}

/// Boots a machine, and runs a command of this program in it.
///
/// - Parameters:
///   - log: The path of the file for the machine's log; nil to write no log.
///   - boot: Boots the machine with the given log level of the daemon.
private func runInMachine(
  _ command: [String], log: String?, boot: (String) throws -> CampaignMachine
) throws {
  do {
    // Opens the log first, so that a wrong path fails before the machine boots.
    let file = try log.map { try LogFile(path: $0) }
    let site = try boot(file == nil ? "notice" : "info")
    let code = Result { try site.run(command) }
    // Writes the log even if the campaign could not continue, because the log is then most useful.
    if let file { try site.writeLog(to: file) }
    throw ExitCode(try code.get())
  } catch let error as ExitCode {
    throw error
  } catch {
    print("chaos: \(error)")
    throw ExitCode(2)
  }
}

struct CampaignCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "campaign", shouldDisplay: false)

  @Argument var kills: Int
  @Argument var clients: Int
  @Argument var seed: UInt64
  @Flag var upgrades = false

  func run() throws {
    try finish {
      try Campaign(.init(kills: kills, clients: clients, seed: seed, upgrades: upgrades)).run()
    }
  }
}

struct DesktopCampaignCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "desktop-campaign", shouldDisplay: false)

  @Argument var kills: Int
  @Argument var seed: UInt64
  @Flag var noAgent = false

  func run() throws {
    try finish {
      try DesktopCampaign(.init(kills: kills, seed: seed, hasAgent: !noAgent)).run()
    }
  }
}

/// Runs a campaign, and throws the exit code of this program.
///
/// - Parameter campaign: A closure that returns true if there are no findings.
private func finish(after campaign: () throws -> Bool) throws {
  signal(SIGPIPE, SIG_IGN)
  do {
    throw ExitCode(try campaign() ? 0 : 1)
  } catch let error as ExitCode {
    throw error
  } catch {
    print("chaos: the campaign cannot continue: \(error)")
    throw ExitCode(2)
  }
}

struct ClientCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "client", shouldDisplay: false)

  @Argument var number: Int
  @Argument var seed: UInt64

  func run() {
    signal(SIGPIPE, SIG_IGN)
    let work = Workload(client: number, seed: seed)
    if Settings.Kind(number).usesLibrary {
      LibraryClient(work).run()
    } else {
      RawClient(work).run()
    }
  }
}

struct OperatorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "operator", shouldDisplay: false)

  @Argument var clients: Int
  @Argument var seed: UInt64

  func run() {
    signal(SIGPIPE, SIG_IGN)
    var theOperator = Operator(clients: clients, seed: seed)
    theOperator.run()
  }
}
