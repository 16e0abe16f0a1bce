import ArgumentParser
import TaskSchedulerWire

/// `taskctl task PROGRAM …`.
struct TaskCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "task",
    abstract: "Run a command as one background task.",
    usage: "taskctl task [<options>] [--] <program> [<argument> ...]",
    discussion: """
      The command starts in the background as an application of its own, with one background task \
      that lasts until the command exits. If BackgroundTime expires first, the daemon kills the \
      command, and taskctl prints the reason on standard error. In all other respects, 'taskctl \
      task' is the same as 'taskctl run'.

      The default id is task.NAME.pPID, from the program's name and taskctl's process id.

      Example: taskctl task --name 'nightly backup' rsync -a ~/ backup:home/
      """)

  @OptionGroup var options: ConnectionOptions

  @Option(help: ArgumentHelp("The application's id.", valueName: "id"))
  var id: String?

  @Option(
    help: ArgumentHelp(
      "The task's name; the default is the command line.", valueName: "name"))
  var name: String?

  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp("The program and its arguments.", valueName: "program"),
    completion: ProgramCompletion.kind)
  var program: [String] = []

  func validate() throws { try ManagedProgram.validate(program, of: "task") }

  func run() throws {
    let task = ManagedProgram.taskName(name ?? program.joined(separator: " "))
    let program = ManagedProgram(
      application: id ?? ManagedProgram.defaultID(prefix: "task", program: program[0]),
      arguments: program, isBackground: true, backgroundTask: task)
    try program.run(options)
  }
}
