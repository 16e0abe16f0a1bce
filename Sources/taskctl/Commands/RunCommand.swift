import ArgumentParser
import TaskSchedulerWire

/// `taskctl run PROGRAM …`.
struct RunCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run a program under management.",
    usage: "taskctl run [<options>] [--] <program> [<argument> ...]",
    discussion: """
      The program runs as a child of taskctl, with your user, environment, directory and terminal. \
      taskschedd begins to manage it before its first instruction; the program need not know about \
      taskschedd. Options of taskctl precede the name of the program: all words after it are \
      arguments of the program.

      The terminal is the program's seat: another managed program that you start there sends this \
      one to the background. Without a terminal the program has a seat of its own and does not \
      displace others.

      The exit code is the exit code of the program: 128 + N if signal N ended it, 127 if it does \
      not exist, 126 if the system cannot execute it. If taskschedd terminates the program, \
      taskctl prints the reason on standard error. Ctrl-C and Ctrl-Z reach the program as usual; \
      taskctl forwards SIGTERM and SIGHUP to it. If something kills taskctl, the program continues \
      to run under management. If taskschedd refuses the program, taskctl does not execute it. \
      Before the program starts, taskctl resets all ignored signals to their default action; to \
      let the program outlive your terminal, use 'taskctl run nohup PROGRAM'.

      While the program is suspended, Ctrl-C and Ctrl-\\ terminate it (exit codes 130 and 131), as \
      does SIGTERM (143). Ctrl-Z returns to the shell, and the shell's 'fg' brings the application \
      to the foreground. On a terminal, taskctl reports when and why taskschedd suspends the \
      program, and when taskschedd resumes it.

      The default id is run.NAME.pPID, from the program's name and taskctl's process id.

      Examples:
        taskctl run make -j8
        taskctl run --id org.example.player --mode audio mpv song.ogg
      """)

  @OptionGroup var options: ConnectionOptions

  @Option(help: ArgumentHelp("The application's id.", valueName: "id"))
  var id: String?

  @Flag(help: "Start the program in the background.")
  var background = false

  @Option(
    name: .customLong("mode"),
    help: ArgumentHelp(
      "A background mode to declare: audio, location or voip. Repeat the option for several modes.",
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

/// A background mode, as a manifest declares it.
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
