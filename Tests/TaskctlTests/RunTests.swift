import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import taskctl

@Suite("Programs under management")
struct RunTests {
  private typealias Control = ControlInterface

  @Test("The run command returns the program's exit code and passes its output on")
  func exitCode() throws {
    let managed = try ManagedRun(
      ["run", "--id", "org.example.job", "--", "sh", "-c", "echo hi; exit 9"])
    #expect(managed.input.application == "org.example.job")
    #expect(managed.input.background == nil && managed.input.backgroundTask == nil)
    try managed.answer(.init(reason: .exited, code: 9, atUSec: 1))
    let outcome = try managed.taskctl.outcome()
    #expect(outcome.code == 9)
    #expect(outcome.output == "hi\n")
    #expect(outcome.errors == "")
  }

  @Test("The run command exits with 0 for a successful program, even if the daemon has gone")
  func daemonGone() throws {
    let managed = try ManagedRun(["run", "--", "sh", "-c", "read x"])
    #expect(unlink(managed.daemon.socket) == 0)
    try managed.stream.close()
    try managed.program.send(signal: SIGKILL)
    #expect(try managed.taskctl.outcome().code == 128 + SIGKILL)
  }

  @Test("The run command exits with 128 + N for a program that signal N ended")
  func signalled() throws {
    let managed = try ManagedRun(["run", "--", "sh", "-c", "kill -SEGV $$"])
    try managed.answer(.init(reason: .crashed, signal: Int(SIGSEGV), atUSec: 1))
    let outcome = try managed.taskctl.outcome()
    #expect(outcome.code == 128 + SIGSEGV)
    #expect(outcome.errors == "")
  }

  @Test("The run command prints why the daemon terminated the program")
  func endedByDaemon() throws {
    let managed = try ManagedRun(["run", "--id", "org.example.job", "--", "sh", "-c", "kill -9 $$"])
    try managed.answer(.init(reason: .backgroundTimeExpired, atUSec: 1))
    let outcome = try managed.taskctl.outcome()
    #expect(outcome.code == 128 + SIGKILL)
    #expect(
      outcome.errors.hasPrefix(
        "taskctl: backgroundTimeExpired: 'org.example.job' was killed because a background"))
  }

  @Test("The run command waits for the daemon to report the end, and --json prints it")
  func endedLater() throws {
    let managed = try ManagedRun(
      ["run", "--json", "--id", "org.example.job", "--", "sh", "-c", "exit 4"])
    let uid = Int(Users.effectiveUID)
    func end(owner: Int, pid: Int) throws {
      try managed.stream.reply(
        Control.Monitor.Output(
          change: .init(
            kind: .ended, atUSec: 5, application: "org.example.job", owner: owner, pid: pid,
            reason: "exited", message: "")),
        continues: true)
    }
    // taskctl must ignore the ends of another user's application and of another process.
    try end(owner: uid + 1, pid: Int(managed.program.pid))
    try end(owner: uid, pid: 1)
    try managed.stream.reply(Control.Monitor.Output(ready: true), continues: true)
    try end(owner: uid, pid: Int(managed.program.pid))
    let (second, _) = try managed.daemon.accept(Control.GetApplication.self)
    try second.reply(
      Control.GetApplication.Output(
        application: endedSample("org.example.job", owner: uid, code: 4)))
    let outcome = try managed.taskctl.outcome()
    #expect(outcome.code == 4)
    let value = try JSONParser.parse(Array(outcome.errors.utf8.dropLast()))
    #expect(value["application"] == "org.example.job" && value["instance"] == 7)
    #expect(value["end"]?["reason"] == "exited" && value["end"]?["code"] == 4)
    #expect(value["end"]?["atRealtimeUSec"] != nil)
  }

  @Test("A refused program is not executed, and the exit code is 1")
  func refused() throws {
    let daemon = try FakeDaemon()
    let file = daemon.file("ran")
    let taskctl = try TaskctlProcess(
      ["run", "--id", "bad", "--", "touch", file], socket: daemon.socket)
    let (connection, input) = try daemon.accept(Control.Adopt.self)
    let program = try connection.takeProcess(input.processFileDescriptor)
    try connection.fail(Control.Failure.invalidApplicationID(application: input.application))
    let outcome = try taskctl.outcome()
    #expect(outcome.code == 1)
    #expect(
      outcome.errors.hasPrefix("taskctl: InvalidApplicationID: 'bad' is not an application id"))
    #expect(try program.hasEnded())
    #expect(access(file, F_OK) != 0)
  }

  @Test("A program is not executed if the daemon closes the connection, and the exit code is 3")
  func cutAdoption() throws {
    let daemon = try FakeDaemon()
    let file = daemon.file("ran")
    let taskctl = try TaskctlProcess(["run", "--", "touch", file], socket: daemon.socket)
    let (connection, input) = try daemon.accept(Control.Adopt.self)
    let program = try connection.takeProcess(input.processFileDescriptor)
    try connection.close()
    #expect(try taskctl.outcome().code == 3)
    #expect(try program.hasEnded())
    #expect(access(file, F_OK) != 0)
  }

  @Test("A program is not executed before the daemon has replied")
  func held() throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(["run", "--", "true"], socket: daemon.socket)
    let (connection, input) = try daemon.accept(Control.Adopt.self)
    let program = try connection.takeProcess(input.processFileDescriptor)
    // The process still has taskctl's name, because it has not called exec.
    let name = try FileDescriptor.open(reading: "/proc/\(program.pid)/comm").readToEnd()
    #expect(String(decoding: name, as: UTF8.self) == "taskctl\n")
    // Killing taskctl also ends the child that waits to execute the program.
    try taskctl.process.pidfd.send(signal: SIGKILL)
    try waitFor(POLLIN, on: program.rawValue)
  }

  @Test("The program receives its marker, id, launch reason and socket in its environment")
  func variables() throws {
    let managed = try ManagedRun(["run", "--mode", "audio", "--mode", "voip", "--", "env"])
    let marker = try #require(managed.input.marker)
    #expect(managed.input.backgroundModes == ["audio", "voip"])
    #expect(marker.count == 32)
    #expect(marker.allSatisfy { $0.isHexDigit })
    let id = managed.input.application
    #expect(id == "run.env.p\(managed.taskctl.process.pid)")
    try managed.answer(.init(reason: .exited, code: 0, atUSec: 1))
    let lines = try managed.taskctl.outcome().output.split(separator: "\n").map(String.init)
    #expect(lines.contains("TASKSCHEDD_INSTANCE=\(marker)"))
    #expect(lines.contains("TASKSCHEDD_APPLICATION=\(id)"))
    #expect(lines.contains("TASKSCHEDD_LAUNCH_REASON=operator"))
    #expect(lines.filter { $0.hasPrefix("TASKSCHEDD_SOCKET=") }.count == 1)
    #expect(lines.contains("TZ=UTC"))
  }

  @Test(
    "The program needs no preceding --, and all words after its name are its arguments",
    arguments: [
      ["run", "--json", "echo", "--json", "-x"],
      ["run", "--id", "org.example.job", "echo", "--json", "-x"],
      ["run", "--background", "--mode=voip", "--", "echo", "--json", "-x"],
      ["task", "--name", "n", "echo", "--json", "-x"],
    ])
  func withoutTerminator(arguments: [String]) throws {
    let managed = try ManagedRun(arguments)
    try managed.answer(.init(reason: .exited, code: 0, atUSec: 1))
    #expect(try managed.taskctl.outcome().output == "--json -x\n")
  }

  @Test("The search for the program knows each option of run and task that takes a value")
  func optionsWithValue() throws {
    for help in [RunCommand._dumpHelp(), TaskCommand._dumpHelp()] {
      let arguments = try JSONParser.parse(Array(help.utf8))["command"]?["arguments"]
      guard case .array(let elements)? = arguments else {
        throw SystemError(call: "reading the help", errno: EBADMSG)
      }
      for element in elements where element["kind"] == "option" {
        guard case .array(let names)? = element["names"] else { continue }
        for case .string(let name)? in names.map({ $0["name"] }) {
          #expect(ProgramArguments.optionsWithValue.contains("--\(name)"))
        }
      }
    }
  }

  @Test("The task command starts in the background with one task named after the command line")
  func task() throws {
    let managed = try ManagedRun(["task", "--", "sh", "-c", "exit 0"])
    #expect(managed.input.background == true)
    #expect(managed.input.backgroundTask == "sh -c exit 0")
    #expect(managed.input.application == "task.sh.p\(managed.taskctl.process.pid)")
    try managed.answer(.init(reason: .exited, code: 0, atUSec: 1))
    #expect(try managed.taskctl.outcome().code == 0)
  }

  @Test(
    "A missing program exits with 127, and one that is not executable with 126",
    arguments: [("no-such-program", 127), ("/no/such", 127), ("/etc/passwd", 126), ("/", 126)])
  func notExecutable(program: String, code: Int32) throws {
    let daemon = try FakeDaemon()
    let taskctl = try TaskctlProcess(["run", "--", program], socket: daemon.socket)
    let connection = try daemon.accept()
    if program.hasPrefix("/") {
      _ = try connection.receive()
      try connection.reply(Control.Adopt.Output(instance: 7))
    }
    let outcome = try taskctl.outcome()
    #expect(outcome.code == code)
    #expect(outcome.errors.hasPrefix("taskctl: "))
  }
}
