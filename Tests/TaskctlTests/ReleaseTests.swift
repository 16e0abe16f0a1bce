import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TestSupport
import Testing

@testable import taskctl

@Suite("taskctl release, without a daemon")
struct ReleaseTests {
  @Test("Without an event log the command says so and exits with 0, and prints nothing in a unit")
  func nothing() throws {
    let folder = TemporaryDirectory()
    let socket = folder.file("socket")
    let outcome = try TaskctlProcess(["release"], socket: socket).outcome()
    #expect(outcome.code == 0)
    let path = folder.file("event-log")
    #expect(outcome.output == "there is no event log at \(path); nothing to resume\n")
    let unit = try TaskctlProcess(["release", "--unless-restarted"], socket: socket).outcome()
    #expect(unit.code == 0)
    #expect(unit.output + unit.errors == "")
  }

  @Test("A wrong path is an error that names the path")
  func wrongPath() throws {
    let folder = TemporaryDirectory()
    for (path, words) in [
      (folder.file("nowhere"), "there is no \(folder.file("nowhere"))"),
      (folder.path, "the directory \(folder.path) contains no event log"),
      ("/dev/null", "/dev/null is a device"),
    ] {
      let outcome = try TaskctlProcess(["release", "--event-log", path], socket: nil).outcome()
      #expect(outcome.code == 1)
      #expect(outcome.errors == "taskctl: UnreadableEventLog: \(words)\n")
    }
  }

  @Test("An empty path is an invalid command line")
  func emptyPath() throws {
    let outcome = try TaskctlProcess(["release", "--event-log", ""], socket: nil).outcome()
    #expect(outcome.code == 2)
    #expect(outcome.errors.hasPrefix("taskctl: --event-log needs a path\n"))
  }

  @Test("A file that is not an event log is refused, and no process is resumed")
  func notAnEventLog() throws {
    let folder = TemporaryDirectory()
    let path = folder.file("event-log.1")
    try FileDescriptor.createForTest(path).close()
    let stopped = try StoppedProgram(socket: folder.file("socket"))
    for file in [path, "/etc/passwd"] {
      let outcome = try TaskctlProcess(["release", "--event-log", file], socket: nil).outcome()
      #expect(outcome.code == 1)
      #expect(outcome.output == "")
      #expect(outcome.errors.hasPrefix("taskctl: UnreadableEventLog: \(file): "))
    }
    #expect(try stopped.isStopped)
  }

  @Test(
    """
    If a directory has no event log, release resumes only the processes whose environment names \
    the socket beside that directory
    """)
  func folder() throws {
    let folder = TemporaryDirectory()
    let path = folder.file("event-log")
    mkdir(path, 0o700)
    try FileDescriptor.createForTest("\(path)/event-log.1").close()
    let own = try StoppedProgram(socket: folder.file("socket"))
    let other = try StoppedProgram(socket: folder.file("elsewhere/socket"))
    let outcome = try TaskctlProcess(["release", "--event-log", path], socket: nil).outcome()
    #expect(outcome.code == 1)
    #expect(outcome.errors.hasPrefix("taskctl: not released: the event log \(path)/event-log.1: "))
    #expect(outcome.output == "resumed: process \(own.pid) (sleep)\n")
    #expect(try !own.isStopped)
    #expect(try other.isStopped)
  }

  @Test("The JSON output of release lists what was resumed, the priorities and the failures")
  func json() throws {
    let directory = TemporaryDirectory()
    let own = try StoppedProgram(socket: directory.file("socket"))
    let outcome = try TaskctlProcess(
      ["release", "--json"], socket: directory.file("socket")
    ).outcome()
    #expect(outcome.code == 0)
    let resumed = "process \(own.pid) (sleep)"
    let document = #"{"failures":[],"restoredPriorities":0,"resumed":["\#(resumed)"]}"#
    #expect(outcome.output == document + "\n")
    #expect(try !own.isStopped)
  }

  @Test(
    "The error for an unreadable event log names the users with permission",
    .enabled(if: geteuid() == 0))
  func otherUser() throws {
    let folder = TemporaryDirectory(mode: 0o755)
    let path = folder.file("event-log")
    mkdir(path, 0o700)
    let outcome = try TaskctlProcess(
      ["release"], socket: folder.file("socket"), uid: 65534
    ).outcome()
    #expect(outcome.code == 1)
    #expect(
      outcome.errors == "taskctl: UnreadableEventLog: permission to read \(path) denied: only root "
        + "and the daemon's user may read it\n")
  }
}

/// A stopped program with the environment of a managed application.
private struct StoppedProgram {
  private let process: TestProcess
  var pid: Int32 { process.pid }

  init(socket: String) throws {
    process = try TestProcess("/bin/sleep", ["sleep", "1000"]) {
      $0.environment = ["TASKSCHEDD_INSTANCE=0123"]
      $0.environment.append(SystemString("TASKSCHEDD_SOCKET=\(socket)"))
    }
    kill(process.pid, SIGSTOP)
    var seen = siginfo_t()
    waitid(P_PID, UInt32(process.pid), &seen, WSTOPPED | WNOWAIT)
  }

  var isStopped: Bool {
    get throws { try ProcFS().stat(pid)?.state == .stopped }
  }
}
