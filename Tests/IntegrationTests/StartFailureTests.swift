import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite("A daemon that cannot start names the reason and the remedy")
struct StartFailureTests {
  private let folder = TemporaryDirectory()

  /// Starts the daemon, and returns its exit code and its output.
  private func start(
    socket: String, eventLog: [String] = ["--no-event-log"]
  ) throws -> (exit: ProcessExit?, text: String) {
    let program = try TestProcess(
      "/bin/sh",
      [
        "sh", "-c", "exec \"$0\" \"$@\" 2>&1", Programs.path(of: "taskschedd"),
        "--config", "/dev/null", "--manifests", folder.path, "--state", folder.file("state"),
        "--log-target", "stderr", "--socket", socket,
      ] + eventLog)
    let text = try program.remainingText()
    return (try program.waitForExit(), text)
  }

  @Test("The daemon does not replace a file or a directory with its socket, and names it")
  func noSocket() throws {
    folder.write("file", "precious")
    mkdir(folder.file("directory"), 0o755)
    for (name, kind) in [("file", "a file"), ("directory", "a directory")] {
      let path = folder.file(name)
      let (exit, text) = try start(socket: path)
      #expect(exit == .exited(code: 1))
      #expect(text.contains("taskschedd: \(path) is \(kind), so taskschedd cannot create"))
    }
    let kept = try FileDescriptor.open(reading: folder.file("file")).readToEnd()
    #expect(kept == [UInt8]("precious".utf8))
  }

  @Test("The daemon does not replace the socket of a running program, and names it")
  func answered() throws {
    let path = folder.file("socket")
    let listener = try UnixSocket.listen(path: path, mode: 0o600)
    let (exit, text) = try start(socket: path)
    #expect(exit == .exited(code: 1))
    #expect(text.contains("taskschedd: \(path) is the socket of a running program"))
    _ = try UnixSocket.connect(path: path)
    listener.close()
  }

  @Test("A name with terminal control characters is escaped")
  func hostilePath() throws {
    let path = folder.file("a\u{1b}[2J\u{202e}")
    mkdir(path, 0o755)
    let (exit, text) = try start(socket: path)
    #expect(exit == .exited(code: 1))
    #expect(text.contains(#"/a\x1b[2J\u202e is a directory"#), "\(text)")
  }

  @Test("An empty path is a usage error")
  func empty() throws {
    let (exit, text) = try start(socket: "")
    #expect(exit == .exited(code: 2))
    #expect(text.contains("--socket is empty; give a path"))
  }

  @Test(
    "The event log's directory must belong to the daemon's user or root",
    .enabled(if: geteuid() == 0, "only root can change the owner of a directory"))
  func eventLogOfAnother() throws {
    let eventLog = folder.file("event-log")
    mkdir(eventLog, 0o700)
    chown(eventLog, 65534, 65534)
    let (exit, text) = try start(socket: folder.file("socket"), eventLog: ["--event-log", eventLog])
    #expect(exit == .exited(code: 1))
    #expect(
      text.contains(
        "the event log's directory \(eventLog) (--event-log) belongs to user 65534; it must belong "
          + "to root (chown)"))
    #expect(try Directory.names(path: eventLog).isEmpty)
  }

  @Test("The daemon refuses an event log's directory that other users may write")
  func eventLogWritableByOthers() throws {
    let eventLog = folder.file("event-log")
    mkdir(eventLog, 0o700)
    chmod(eventLog, 0o777)
    let (exit, text) = try start(socket: folder.file("socket"), eventLog: ["--event-log", eventLog])
    #expect(exit == .exited(code: 1))
    #expect(text.contains("(--event-log) may be written by others (mode 777)"))
    #expect(try Directory.names(path: eventLog).isEmpty)
  }

  @Test("The daemon does not follow a link at the path of the event log's lock")
  func linkedLock() throws {
    let eventLog = folder.file("event-log")
    mkdir(eventLog, 0o700)
    let target = folder.file("target")
    symlink(target, "\(eventLog)/lock")
    let (exit, text) = try start(socket: folder.file("socket"), eventLog: ["--event-log", eventLog])
    #expect(exit == .exited(code: 1))
    #expect(text.contains("\(eventLog)/lock: Too many levels of symbolic links (ELOOP)"))
    #expect(access(target, F_OK) != 0, "the daemon created no file at the target of the link")
  }
}
