import ArgumentParser
import TaskSchedulerWire

/// `taskctl run PROGRAM …`.
struct RunCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run a program under management.",
    usage: "taskctl run [<options>] [--] <program> [<argument> ...]",
    discussion: """
      The program is a child of taskctl, with your user, environment, directory and terminal; \
      taskschedd manages it from before its first instruction. It need not know of taskschedd. \
      The options of taskctl end before the program's name: what follows is the program's.

      Your terminal is its seat: another program that you run there sends this one to the \
      background. Without a terminal the program has a seat of its own, and displaces no other.

      Its exit code is returned, 128 + the signal where one ended it, 127 where it is not found \
      and 126 where it cannot be executed. Where taskschedd ended it, standard error says why. \
      Ctrl-C and Ctrl-Z reach the program as always; SIGTERM and SIGHUP are passed on to it. When \
      taskctl is killed, the program lives on under management. If taskschedd refuses, the \
      program never runs. It starts with no signal ignored: to outlive your terminal, write \
      'taskctl run nohup PROGRAM'.

      While the program is suspended, Ctrl-C and Ctrl-\\ end it (exit codes 130 and 131), as \
      SIGTERM does (143); Ctrl-Z returns to the shell, and the shell's 'fg' brings the application \
      to the foreground. At a terminal, taskctl says when and why the program is suspended, and \
      when it goes on.

      Without --id the id is run.NAME.pPID: the program's name and taskctl's process id.

      Examples:
        taskctl run make -j8
        taskctl run --id org.example.player --mode audio mpv song.ogg
      """)

  @OptionGroup var options: ConnectionOptions

  @Option(help: ArgumentHelp("The application's id.", valueName: "id"))
  var id: String?

  @Flag(help: "Start it in the background.")
  var background = false

  @Option(
    name: .customLong("mode"),
    help: ArgumentHelp(
      "A background mode that it has: audio, location or voip. May be given several times.",
      valueName: "mode"),
    completion: .list(BackgroundMode.allCases.map(\.rawValue)), transform: BackgroundMode.init)
  var modes: [BackgroundMode] = []

  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp("The program and its arguments.", valueName: "program"),
    completion: ProgramCompletion.kind)
  var program: [String] = []

  func validate() throws { try ManagedProgram.validate(program, of: "run") }

  func run() throws {
    let program = ManagedProgram(
      application: id ?? ManagedProgram.defaultID(prefix: "run", program: program[0]),
      arguments: program, isBackground: background, modes: modes.map(\.rawValue))
    try program.run(options)
  }
}

/// What a manifest may declare, too.
enum BackgroundMode: String, CaseIterable {
  case audio, location, voip

  init(_ text: String) throws {
    guard let mode = BackgroundMode(rawValue: text) else {
      let names = BackgroundMode.allCases.map(\.rawValue)
      throw ValidationError(noSuchName("mode", text, among: names))
    }
    self = mode
  }
}
