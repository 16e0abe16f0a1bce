import ArgumentParser
import Glibc
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire

/// A program that runs as a child of taskctl. The daemon begins to manage the program before its
/// first instruction.
struct ManagedProgram {
  var application: String
  /// The command line; the program is its first element.
  var arguments: [String]
  var isBackground: Bool
  var backgroundTask: String?
  var modes: [String] = []

  /// The exit code that shells return for a program that they do not find.
  static let notFound: Int32 = 127
  /// The exit code that shells return for a program that they cannot execute.
  static let notExecutable: Int32 = 126

  /// Runs the program until it exits. Throws the exit code of the program unless the code is 0.
  func run(_ options: ConnectionOptions) throws {
    let connection = try options.connect()
    let path = try ProgramPath.find(arguments[0])
    let marker = Self.marker()
    // The parent process may have set SIGCHLD to be ignored, which would discard the exit status.
    signal(SIGCHLD, SIG_DFL)
    let child = try HeldChild.spawn(request(path, marker: marker, socket: connection.path))
    let pid = child.pid
    let adoption = Result { try adopt(child.pidfd.rawValue, marker, on: connection) }
    let instance: Int
    switch adoption {
    case .success(let output): instance = output.instance
    case .failure(let error):
      child.abandon()
      throw error
    }
    // From here on, a signal from the terminal must reach the program and must not end taskctl.
    var supervision = try Supervision(
      ProgramMonitor(of: application, instance: instance, pid: pid, on: connection),
      notices: notices(options))
    let pidfd = try Self.release(child)
    let outcome = try supervision.waitForEnd(of: pidfd)
    // Reap the child only after the daemon has reported the end, because the daemon must be able to
    // read the exit status.
    let end = supervision.end()
    _ = try pidfd.wait()
    if options.json || !outcome.isByUser { report(end, instance: instance, isJSON: options.json) }
    if outcome.code != 0 { throw ExitCode(outcome.code) }
  }

  /// Returns the notices for a terminal; nil if a program reads standard error.
  private func notices(_ options: ConnectionOptions) -> SuspensionNotices? {
    guard isatty(STDERR_FILENO) == 1, !options.json else { return nil }
    return SuspensionNotices(application: application, command: "taskctl\(options.words)")
  }

  private func adopt(
    _ pidfd: Int32, _ marker: String, on connection: Connection
  ) throws -> ControlInterface.Adopt.Output {
    try connection.call(
      ControlInterface.Adopt.self,
      .init(
        application: application, processFileDescriptor: FileDescriptorIndex(0),
        background: isBackground ? true : nil, backgroundTask: backgroundTask,
        backgroundModes: modes.isEmpty ? nil : modes, marker: marker),
      fileDescriptors: [pidfd], timeout: answerTimeout)
  }

  private func request(_ path: String, marker: String, socket: String) -> SpawnRequest {
    let environment = ProgramEnvironment.ours(with: [
      ("TASKSCHEDD_INSTANCE", marker), ("TASKSCHEDD_APPLICATION", application),
      ("TASKSCHEDD_LAUNCH_REASON", ControlInterface.LaunchReason.operator.rawValue),
      ("TASKSCHEDD_SOCKET", ProgramPath.absolute(socket)),
    ])
    // The program's arguments are the last words of this command line. taskctl passes their bytes
    // unchanged.
    return SpawnRequest(
      path: path, arguments: ProgramEnvironment.lastArguments(arguments.count),
      environment: environment)
  }

  /// Lets the child execute the program. If that fails, prints the reason and throws the exit code
  /// that a shell would return.
  private static func release(_ child: consuming HeldChild) throws -> PIDFD {
    do throws(SpawnError) {
      return try child.releaseAndWaitForExec()
    } catch {
      Output.complain("taskctl: \(PrintableText.of(error.description))")
      throw ExitCode(error.errno == ENOENT ? notFound : notExecutable)
    }
  }

  /// Prints why the daemon ended the program. With `--json`, prints in every case how the program
  /// ended.
  private func report(_ end: ControlInterface.End?, instance: Int, isJSON: Bool) {
    if isJSON {
      let report: JSONValue = [
        "application": JSONValue(application), "instance": JSONValue(instance),
        "end": end.map { JSONValue($0) } ?? .null,
      ]
      // Standard output belongs to the program.
      Output.complain(String(JSONOutput.line(report).dropLast()))
    } else if let end, end.reason.isByDaemon {
      let name = PrintableText.of(application)
      Output.complain("taskctl: \(end.reason.rawValue): '\(name)' \(end.words)")
    }
  }
}

extension ManagedProgram {
  /// Throws for a command line without a program.
  static func validate(_ program: [String], of command: String) throws {
    guard let name = program.first, !name.isEmpty else {
      throw ValidationError(
        "no program given; use taskctl \(command) [OPTIONS] PROGRAM [ARGUMENTS]")
    }
  }

  /// Returns a valid id for a program for which the user gave no id: `run.make.p4711`.
  static func defaultID(prefix: String, program: String, pid: Int32 = getpid()) -> String {
    let file = program.split(separator: "/").last ?? "program"
    let letters = file.map { letter in
      letter.isASCII && (letter.isLetter || letter.isNumber || letter == "-" || letter == "_")
        ? letter : "-"
    }
    // An id has at most 250 bytes.
    return "\(prefix).\(String(letters.prefix(200))).p\(pid)"
  }

  /// Returns the text as a valid task name: at most 256 bytes, no control characters.
  static func taskName(_ text: String, bytesMax: Int = 256) -> String {
    var name = ""
    var bytes = 0
    for character in PrintableText.of(text) {
      bytes += character.utf8.count
      if bytes > bytesMax { break }
      name.append(character)
    }
    return name
  }

  /// Returns 32 random hexadecimal digits that identify an instance.
  static func marker() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<4).map { _ in
      PrintableText.hexadecimal(UInt32.random(in: 0...UInt32.max, using: &generator), digits: 8)
    }.joined()
  }
}
