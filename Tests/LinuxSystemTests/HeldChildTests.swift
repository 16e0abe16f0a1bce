import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite("A child that is held before it executes its program")
final class HeldChildTests {
  private let directory = TemporaryDirectory(mode: 0o755)
  private let proc: ProcFS

  init() throws { proc = try ProcFS() }

  private func request(_ script: String, environment: [String] = []) -> SpawnRequest {
    SpawnRequest(path: "/bin/sh", arguments: ["sh", "-c", script], environment: environment)
  }

  private func ended(_ pidfd: borrowing PIDFD) throws -> ProcessExit? {
    try waitFor(POLLIN, on: pidfd.rawValue)
    return try pidfd.exitStatus(in: proc)
  }

  @Test("A held child executes no instruction of its program before the release")
  func held() throws {
    let path = directory.file("ran")
    let child = try HeldChild.spawn(request("echo x > \(path)"))
    #expect(try proc.stat(child.pid)?.parent == getpid())
    #expect(child.pidfd.pid == child.pid)
    child.abandon()
    #expect(access(path, F_OK) != 0)

    let other = try HeldChild.spawn(request("echo x > \(path)"))
    #expect(try ended(other.releaseAndWaitForExec()) == .exited(code: 0))
    #expect(access(path, F_OK) == 0)
  }

  @Test(
    "A held child passes arguments and environment on byte for byte, even if they are not UTF-8")
  func bytes() throws {
    let path = directory.file("bytes")
    let script = "printf '%s%s' \"$1\" \"$X\" > \(path)"
    let argument = [UInt8(ascii: "a"), 0xFF].map { CChar(bitPattern: $0) } + [0]
    let entry = [UInt8](Array("X=".utf8) + [0xFE]).map { CChar(bitPattern: $0) } + [0]
    let request = SpawnRequest(
      path: "/bin/sh",
      arguments: ["sh", "-c", SystemString(script), "x", SystemString(cString: argument)],
      environment: [SystemString(cString: entry)])
    let child = try HeldChild.spawn(request)
    #expect(try ended(child.releaseAndWaitForExec()) == .exited(code: 0))
    let written = try FileDescriptor.open(reading: path).readToEnd()
    #expect(written == [UInt8(ascii: "a"), 0xFF, 0xFE])
  }

  @Test("A held child exits without running its program when its parent has died")
  func orphaned() throws {
    let path = directory.file("ran")
    let number: Int32
    do {
      let child = try HeldChild.spawn(request("echo x > \(path)"))
      number = try child.pidfd.duplicate().take().take()
    }
    let pidfd = try PIDFD(adopting: FileDescriptor(taking: number))
    #expect(try ended(pidfd) == .exited(code: 127))
    #expect(access(path, F_OK) != 0)
  }

  @Test(
    """
    The error of a start that fails with ENOMEM, EAGAIN or EMFILE names the call, and no child \
    is left
    """,
    arguments: ["socketpair", "pipe2", "fork", "pidfd_open"], [ENOMEM, EAGAIN, EMFILE])
  func shortage(_ call: String, _ code: Int32) throws {
    let path = directory.file("ran")
    let request = request("echo x > \(path)")
    let before = try childrenOfThread()
    SyscallFaults.$errnoFor.withValue({ $0 == call ? code : nil }) {
      #expect(throws: SystemError(call: call, errno: code)) {
        try HeldChild.spawn(request).abandon()
      }
    }
    #expect(try childrenOfThread().isSubset(of: before))
    #expect(access(path, F_OK) != 0)
  }

  /// Returns the children of this thread. Children of other tests belong to other threads.
  private func childrenOfThread() throws -> Set<Substring> {
    let bytes = try FileDescriptor.open(reading: "/proc/thread-self/children").readToEnd()
    return Set(String(decoding: bytes, as: UTF8.self).split(separator: " "))
  }

  @Test("A child that cannot execute its program reports the step, errno and path, and is reaped")
  func failures() throws {
    let nowhere = directory.file("nothing")
    let missing = SpawnRequest(path: nowhere, arguments: ["x"], environment: [])
    var noDirectory = request("exit 0")
    noDirectory.directory = directory.file("missing")
    let script = directory.write("script", "no #! line", mode: 0o755)
    let noFormat = SpawnRequest(path: script, arguments: ["x"], environment: [])
    let plain = directory.write("plain", "", mode: 0o644)
    let notExecutable = SpawnRequest(path: plain, arguments: ["x"], environment: [])
    for (request, step, code, path) in [
      (missing, SpawnError.Step.execute, ENOENT, nowhere),
      (noDirectory, .directory, ENOENT, directory.file("missing")),
      (noFormat, .execute, ENOEXEC, script),
      (notExecutable, .execute, EACCES, plain),
    ] {
      let child = try HeldChild.spawn(request)
      let pid = child.pid
      do {
        _ = try child.releaseAndWaitForExec()
        Issue.record("\(path) was executed")
      } catch {
        #expect(error.step == step)
        #expect(error.errno == code)
        #expect(error.path == path)
      }
      #expect(try proc.stat(pid) == nil)
    }
  }

  @Test("A NUL in a string is refused")
  func nul() {
    #expect(throws: SystemError(call: "execve", errno: EINVAL)) {
      _ = try HeldChild.spawn(request("a\0b"))
    }
  }

  @Test("A child has the requested environment, directory, standard output, session and limit")
  func setUp() throws {
    let script = "echo \"$A|$(env | wc -l)|$PWD|$(ulimit -Sn)\"; read x"
    let process = try TestProcess.shell(script) {
      $0.environment = ["A=b c", "PATH=/usr/bin:/bin"]
      $0.directory = self.directory.path
      $0.processGroup = nil
      $0.newSession = true
      $0.openFilesSoft = 123
    }
    // env prints three lines: A, PATH, and PWD, which the shell adds.
    #expect(try process.readLine() == "b c|3|\(directory.path)|123")
    let stat = try #require(try proc.stat(process.pid))
    #expect(stat.session == process.pid)
    #expect(stat.processGroup == process.pid)
  }

  @Test("A child has only the descriptors 0, 1 and 2, and has the default signal actions")
  func clean() throws {
    // A descriptor without CLOEXEC, which a careless library might leave open.
    let leaked = try FileDescriptor.event()
    _ = fcntl(leaked.rawValue, F_SETFD, 0)
    signal(SIGUSR2, SIG_IGN)
    defer { signal(SIGUSR2, SIG_DFL) }
    var blocked = sigset_t()
    var before = sigset_t()
    sigemptyset(&blocked)
    sigaddset(&blocked, SIGUSR1)
    pthread_sigmask(SIG_BLOCK, &blocked, &before)
    // Descriptor 3 is the directory that ls lists.
    let script = "ls -m /proc/self/fd; exec grep -E '^Sig(Blk|Ign)' /proc/self/status"
    let process = try TestProcess.shell(script)
    pthread_sigmask(SIG_SETMASK, &before, nil)
    #expect(try process.readLine() == "0, 1, 2, 3")
    let mask = try process.readLine()
    #expect(mask == "SigBlk:\t0000000000000000")
    let ignored = try process.readLine()
    #expect(ignored == "SigIgn:\t0000000000000000")
  }

  @Test("A held child can be killed by a signal")
  func killed() throws {
    let child = try HeldChild.spawn(request("exit 0"))
    // While the child waits for its release, signals are not blocked and have default actions.
    #expect(try child.pidfd.send(signal: SIGTERM) == .delivered)
    try waitFor(POLLIN, on: child.pidfd.rawValue)
    let pidfd = try child.releaseAndWaitForExec()
    #expect(try ended(pidfd) == .signaled(signal: SIGTERM))
  }

  @Test(
    "A child runs as another user, with only that user's groups",
    .enabled(if: geteuid() == 0, "changing user ids needs root"))
  func otherUser() throws {
    let process = try TestProcess.shell("id -u; id -g; id -G; read x") {
      $0.identity = SpawnRequest.Identity(uid: 65534, gid: 65533, groups: [65533, 4])
    }
    #expect(try process.readLine() == "65534")
    #expect(try process.readLine() == "65533")
    #expect(try process.readLine() == "65533 4")
    let details = try #require(try proc.details(process.pid))
    #expect((details.uids.real, details.uids.saved) == (65534, 65534))
    #expect(details.groups.sorted() == [4, 65533])
  }

  @Test(
    "A child that runs as another user enters its directory as that user",
    .enabled(if: geteuid() == 0, "changing user ids needs root"))
  func otherUsersDirectory() throws {
    let closed = TemporaryDirectory(mode: 0o700)
    var request = request("exit 0")
    request.directory = closed.path
    request.identity = SpawnRequest.Identity(uid: 65534, gid: 65534, groups: [])
    let child = try HeldChild.spawn(request)
    do {
      _ = try child.releaseAndWaitForExec()
      Issue.record("the child entered a directory that only root may enter")
    } catch {
      #expect(error.step == .directory)
      #expect(error.errno == EACCES)
      #expect(
        error.description == "changing to the working directory \(closed.path): "
          + "Permission denied (EACCES)")
    }
  }

  @Test("A search along PATH finds the first executable file")
  func searchPath() {
    directory.write("tool", "", mode: 0o644)
    let path = "/nowhere:\(directory.path):/usr/bin:/bin"
    #expect(SpawnRequest.searchPath("tool", in: path) == nil)
    directory.write("tool", "", mode: 0o755)
    #expect(SpawnRequest.searchPath("tool", in: path) == directory.file("tool"))
    #expect(SpawnRequest.searchPath("./x/y", in: path) == "./x/y")
    #expect(SpawnRequest.searchPath("", in: path) == nil)
    #expect(SpawnRequest.searchPath("bin", in: "/usr") == nil)
  }
}
