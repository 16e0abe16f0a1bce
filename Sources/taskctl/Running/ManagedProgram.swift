import ArgumentParser
import Glibc
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire

/// A program that runs as our child and is managed by the daemon from before its first
/// instruction.
struct ManagedProgram {
  var application: String
  /// The program first.
  var arguments: [String]
  var isBackground: Bool
  var backgroundTask: String?
  var modes: [String] = []

  /// What a shell returns for a program that it does not find.
  static let notFound: Int32 = 127
  /// What a shell returns for a program that it cannot execute.
  static let notExecutable: Int32 = 126

  /// Runs it to its end and throws its exit code, unless that is 0.
  func run(_ options: ConnectionOptions) throws {
    let connection = try options.connect()
    let path = try ProgramPath.find(arguments[0])
    let marker = Self.marker()
    // The child's end must be ours to see, also where whoever started us ignores it.
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
    // From here on the terminal's signals are the program's.
    var supervision = try Supervision(
      ProgramMonitor(of: application, instance: instance, pid: pid, on: connection),
      notices: notices(options))
    let pidfd = try Self.release(child)
    let outcome = try supervision.waitForEnd(of: pidfd)
    // The child is not reaped before the daemon has seen how it ended.
    let end = supervision.end()
    _ = try pidfd.wait()
    if options.json || !outcome.isByUser { report(end, instance: instance, isJSON: options.json) }
    if outcome.code != 0 { throw ExitCode(outcome.code) }
  }

  /// At a terminal alone: a program that reads standard error gets what the program writes.
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
    // The program is the end of our own command line, where it stands as the caller gave it.
    return SpawnRequest(
      path: path, arguments: ProgramEnvironment.lastArguments(arguments.count),
      environment: environment)
  }

  /// Lets it execute; a failure is told and becomes the exit code that a shell would return.
  private static func release(_ child: consuming HeldChild) throws -> PIDFD {
    do throws(SpawnError) {
      return try child.releaseAndWaitForExec()
    } catch {
      Output.complain("taskctl: \(PrintableText.of(error.description))")
      throw ExitCode(error.errno == ENOENT ? notFound : notExecutable)
    }
  }

  /// Says why the daemon ended it; with `--json`, how it ended in any case.
  private func report(_ end: ControlInterface.End?, instance: Int, isJSON: Bool) {
    if isJSON {
      let report: JSONValue = [
        "application": JSONValue(application), "instance": JSONValue(instance),
        "end": end.map { JSONValue($0) } ?? .null,
      ]
      // Standard output is the program's.
      Output.complain(String(JSONOutput.line(report).dropLast()))
    } else if let end, end.reason.isByDaemon {
      let name = PrintableText.of(application)
      Output.complain("taskctl: \(end.reason.rawValue): '\(name)' \(end.words)")
    }
  }
}

extension ManagedProgram {
  /// Refuses a command line without a program.
  static func validate(_ program: [String], of command: String) throws {
    guard let name = program.first, !name.isEmpty else {
      throw ValidationError(
        "no program is named: taskctl \(command) [OPTIONS] PROGRAM [ARGUMENTS]")
    }
  }

  /// A valid id for a program that was given none: `run.make.p4711`.
  static func defaultID(prefix: String, program: String, pid: Int32 = getpid()) -> String {
    let file = program.split(separator: "/").last ?? "program"
    let letters = file.map { letter in
      letter.isASCII && (letter.isLetter || letter.isNumber || letter == "-" || letter == "_")
        ? letter : "-"
    }
    // An id has 250 bytes at most.
    return "\(prefix).\(String(letters.prefix(200))).p\(pid)"
  }

  /// The name as the daemon takes it: 256 bytes at most, no control characters.
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

  /// 32 hexadecimal digits that no other instance has.
  static func marker() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<4).map { _ in
      PrintableText.hexadecimal(UInt32.random(in: 0...UInt32.max, using: &generator), digits: 8)
    }.joined()
  }
}
