import ArgumentParser
import Glibc
import TaskSchedulerClient
import TaskSchedulerWire

/// The command `taskctl`. Each subcommand has a file of its own.
@main
struct Taskctl: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "taskctl",
    abstract: "Operate taskschedd, the application lifecycle and background task manager.",
    discussion: """
      Exit codes: 0 success; 1 the daemon or the system refused the request, and standard error \
      names the error; 2 invalid command line; 3 no daemon answers. 'run' and 'task' return the \
      exit code of the program; the help of 'simulate' lists the exit codes of 'simulate'.

      Without a command, taskctl prints the status of the daemon.

      Examples:
        taskctl list
        taskctl run make -j8
        taskctl monitor org.example.mail
      """,
    version: "taskctl \(Version.current)",
    subcommands: [
      ListCommand.self, StatusCommand.self, WhyCommand.self, LaunchCommand.self,
      RunCommand.self,
      ForegroundCommand.self, InactiveCommand.self, BackgroundCommand.self, TerminateCommand.self,
      SwitcherCommand.self, RemoteCommand.self,
      TasksCommand.self, KeepAlivesCommand.self, NotificationsCommand.self, PostCommand.self,
      LocationCommand.self, PostLocationCommand.self,
      MemoryCommand.self, WarnMemoryCommand.self,
      MonitorCommand.self, LogCommand.self, ConfigCommand.self, TaskCommand.self,
      ReloadCommand.self, ReleaseCommand.self, SimulateCommand.self,
    ])

  @OptionGroup var options: ConnectionOptions

  /// Prints a summary of the daemon, for a command line without a subcommand.
  func run() throws { try StatusCommand.summarize(options) }

  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    var asked: SocketPath?
    do {
      if let word = command(in: arguments), let answer = VerbHints.answer(to: word) {
        throw ValidationError(answer)
      }
      let words = NegativeNumbers.terminated(ProgramArguments.terminated(arguments))
      var command = try parseAsRoot(words)
      asked = (command as? any DaemonCommand)?.options.path
      try command.run()
      Glibc.exit(ExitStatusCode.done)
    } catch {
      Glibc.exit(report(error, asked: asked, arguments: arguments))
    }
  }

  /// Prints an error, or the help that the user requested, and returns the exit code.
  ///
  /// - Parameter asked: The socket of the daemon that the command used; nil if it used none.
  private static func report(
    _ error: any Error, asked: SocketPath?, arguments: [String]
  ) -> Int32 {
    if let failure = UnknownApplication.failure(error, asked: asked) ?? CommandFailure(error) {
      Output.complain(failure.text)
      return failure.exitCode
    }
    switch error {
    case let code as ExitCode:
      return code.rawValue
    default:
      let text = fullMessage(for: error)
      if exitCode(for: error).isSuccess {
        do {
          let script = CompletionScript.completed(text, arguments)
          try Output.write(script.isEmpty ? "" : script + "\n")
        } catch {
          Output.complain(error.text)
          return error.exitCode
        }
        return ExitStatusCode.done
      }
      Output.complain(usageText(text) + suggestion(arguments))
      return ExitStatusCode.usage
    }
  }

  /// Returns the parser's error text in the form of taskctl's own errors.
  private static func usageText(_ text: String) -> String {
    let prefix = "Error: "
    let sentence = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    return "taskctl: " + PrintableLines.of(sentence)
  }

  /// Returns a line with the nearest subcommand if the first word is not a subcommand.
  static func suggestion(_ arguments: [String]) -> String {
    let names = CompletionScript.commands
    guard let word = command(in: arguments), !names.contains(word),
      let nearest = nearestName(to: word, among: names)
    else { return "" }
    return "\nDid you mean 'taskctl \(nearest)'?"
  }

  /// Returns the first word that is neither an option nor the value of an option.
  private static func command(in arguments: [String]) -> String? {
    var isValue = false
    for word in arguments {
      if isValue {
        isValue = false
      } else if word == "--socket" {
        isValue = true
      } else if !word.hasPrefix("-") {
        return word
      }
    }
    return nil
  }
}

/// Makes each line of an error text printable. The text quotes arguments, which may contain any
/// byte.
private enum PrintableLines {
  static func of(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { PrintableText.of(String($0)) }.joined(separator: "\n")
  }
}
