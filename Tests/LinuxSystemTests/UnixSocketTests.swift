import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite("A socket at a path")
struct UnixSocketTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.file("socket") }

  @Test("A socket has the requested mode, whatever the umask, and accepts connections")
  func connects() throws {
    let listener = try UnixSocket.listen(path: path, mode: 0o666)
    var status = stat()
    #expect(lstat(path, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o666)
    let client = try UnixSocket.connect(path: path)
    let accepted = try unwrap(UnixSocket.accept(listener.rawValue))
    if try UnixSocket.accept(listener.rawValue) != nil { Issue.record("a second connection") }
    #expect(fcntl(accepted.rawValue, F_GETFL) & O_NONBLOCK != 0)
    #expect(fcntl(accepted.rawValue, F_GETFD) & FD_CLOEXEC != 0)
    let expected = PeerCredentials(pid: getpid(), uid: geteuid(), gid: getegid())
    #expect(try UnixSocket.credentials(accepted.rawValue) == expected)
    #expect(try UnixSocket.credentials(client.rawValue) == expected)
  }

  @Test("A socket file without a listening process is replaced")
  func stale() throws {
    // The listener is in another process, because a child that another test forks from this process
    // could briefly keep the listener open.
    let listening = """
      import socket, sys
      s = socket.socket(socket.AF_UNIX)
      s.bind(sys.argv[1])
      s.listen()
      """
    let process = try TestProcess.python(listening, [path])
    #expect(try process.waitForExit() == .exited(code: 0))
    #expect(throws: SystemError(call: "connect \(path)", errno: ECONNREFUSED)) {
      _ = try UnixSocket.connect(path: path)
    }
    let listener = try UnixSocket.listen(path: path, mode: 0o600)
    _ = try UnixSocket.connect(path: path)
    try UnixSocket.unlink(path: path)
    try UnixSocket.unlink(path: path)
    #expect(access(path, F_OK) != 0)
    listener.close()
  }

  @Test("A check names a missing file, a file that is not a socket, and a missing permission")
  func checkFile() throws {
    #expect(throws: SystemError(call: "stat \(path)", errno: ENOENT)) {
      try UnixSocket.checkFile(path: path)
    }
    let file = directory.write("file", "")
    #expect(throws: SystemError(call: "connect \(file)", errno: ENOTSOCK)) {
      try UnixSocket.checkFile(path: file)
    }
    #expect(throws: SystemError(call: "stat \(file)/socket", errno: ENOTDIR)) {
      try UnixSocket.checkFile(path: "\(file)/socket")
    }
    let listener = try UnixSocket.listen(path: path, mode: 0o600)
    try UnixSocket.checkFile(path: path)
    listener.close()
    // The check succeeds without a listener, because it examines only the file.
    try UnixSocket.checkFile(path: path)
    chmod(path, 0)
    // Root needs no permission.
    if geteuid() != 0 {
      #expect(throws: SystemError(call: "connect \(path)", errno: EACCES)) {
        try UnixSocket.checkFile(path: path)
      }
    }
  }

  /// Runs a program that listens at the path and exits. A child of the program keeps a copy of the
  /// socket.
  ///
  /// - Parameter child: Python code that the child runs with the socket `s` before it exits.
  private func leaveListeningChild(_ child: String) throws {
    let listening = """
      import os, select, signal, socket, sys
      s = socket.socket(socket.AF_UNIX)
      s.bind(sys.argv[1])
      s.listen()
      child = os.fork()
      if child:
          # Moves the child to another group, because TestProcess kills the group of its process.
          os.setpgid(child, child)
      else:
          signal.alarm(30)
          os.close(1)
          os.close(2)
          \(child)
      os._exit(0)
      """
    let process = try TestProcess.python(listening, [path])
    #expect(try process.waitForExit() == .exited(code: 0))
  }

  @Test("A socket file of a dead listener is replaced when the last child has closed its copy")
  func leftBehind() throws {
    // The child exits when a client connects.
    try leaveListeningChild("select.select([s], [], [])")
    let listener = try UnixSocket.listen(path: path, mode: 0o600)
    let client = try UnixSocket.connect(path: path)
    #expect(try UnixSocket.credentials(client.rawValue).pid == getpid())
    listener.close()
  }

  @Test("A second listener is refused if a child of a dead listener answers at the path")
  func inherited() throws {
    // The child accepts a connection, and exits when the client disconnects.
    try leaveListeningChild("s.accept()[0].recv(1)")
    #expect(throws: SystemError(call: "bind \(path)", errno: EADDRINUSE)) {
      _ = try UnixSocket.listen(path: path, mode: 0o600)
    }
  }

  @Test("A second listener at a path is refused, and the first listener stays")
  func occupied() throws {
    let listener = try UnixSocket.listen(path: path, mode: 0o600)
    #expect(throws: SystemError(call: "bind \(path)", errno: EADDRINUSE)) {
      _ = try UnixSocket.listen(path: path, mode: 0o600)
    }
    _ = try UnixSocket.connect(path: path)
    listener.close()
  }

  @Test("A second listener is refused at once even if the backlog of the first listener is full")
  func full() throws {
    let listener = try UnixSocket.listen(path: path, mode: 0o600, backlog: 0)
    // A backlog of 0 holds one connection.
    let waiting = try UnixSocket.connect(path: path)
    #expect(throws: SystemError(call: "bind \(path)", errno: EADDRINUSE)) {
      _ = try UnixSocket.listen(path: path, mode: 0o600)
    }
    #expect(throws: SystemError(call: "connect \(path)", errno: EAGAIN)) {
      _ = try UnixSocket.connectAtOnce(path: path)
    }
    waiting.close()
    listener.close()
  }

  @Test("A file that is not a socket is never replaced")
  func noSocket() throws {
    directory.write("socket", "precious")
    #expect(throws: SystemError(call: "bind \(path)", errno: EADDRINUSE)) {
      _ = try UnixSocket.listen(path: path, mode: 0o600)
    }
    #expect(try FileDescriptor.open(reading: path).readToEnd() == [UInt8]("precious".utf8))
  }

  @Test("A path of more than 107 bytes is refused with ENAMETOOLONG, a NUL with EINVAL")
  func badPath() {
    let long = String(repeating: "x", count: 108)
    #expect(throws: SystemError(call: "bind or connect \(long)", errno: ENAMETOOLONG)) {
      _ = try UnixSocket.listen(path: long, mode: 0o600)
    }
    #expect(throws: SystemError(call: "bind or connect a\0b", errno: EINVAL)) {
      _ = try UnixSocket.connect(path: "a\0b")
    }
  }
}

@Suite("The peer of a socket")
struct SocketPeerTests {
  private static let connector = """
    import os, socket, sys
    os.setgroups([7, 8])
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    print("connected")
    sys.stdin.readline()
    """

  @Test(
    "The peer of a socket is known by pid, groups and a pidfd that outlives the process",
    .enabled(if: geteuid() == 0, "changing groups needs root"))
  func peer() throws {
    let directory = TemporaryDirectory()
    let path = directory.file("socket")
    let listener = try UnixSocket.listen(path: path, mode: 0o600)
    let process = try TestProcess.python(Self.connector, [path])
    #expect(try process.readLine() == "connected")
    let socket = try unwrap(UnixSocket.accept(listener.rawValue))
    #expect(try UnixSocket.credentials(socket.rawValue).pid == process.pid)
    #expect(try UnixSocket.peerGroups(socket.rawValue) == [7, 8])

    guard let received = try UnixSocket.peerPIDFD(socket.rawValue) else {
      // Before Linux 6.5 the option is missing, and the function returns nil.
      print("skipped: this kernel has no SO_PEERPIDFD")
      return
    }
    let peer = try PIDFD(adopting: received)
    #expect(peer.pid == process.pid)
    let identity = try peer.identity(in: ProcFS())
    #expect(try identity == ProcFS().identity(process.pid))
    #expect(try peer.send(signal: SIGKILL) == .delivered)
    #expect(try process.waitForExit() == .signaled(signal: SIGKILL))
    #expect(try peer.send(signal: SIGKILL) == .gone)
    #expect(try peer.identity(in: ProcFS()) == nil)

    // After the process has ended, a second request returns nil, or a pidfd that `PIDFD(adopting:)`
    // refuses.
    if let late = try UnixSocket.peerPIDFD(socket.rawValue) {
      do {
        _ = try PIDFD(adopting: late)
        Issue.record("a pidfd of a reaped process was adopted")
      } catch {
        #expect(error == SystemError(call: "pidfd", errno: ESRCH))
      }
    }
  }

  @Test("The peer of a socket pair is this process")
  func pair() throws {
    let pair = try UnixSocket.pair()
    #expect(try UnixSocket.credentials(pair.first.rawValue).pid == getpid())
  }
}
