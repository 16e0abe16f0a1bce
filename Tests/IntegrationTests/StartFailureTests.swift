import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite("A daemon that cannot start names what is in its way, and what would be right")
struct StartFailureTests {
  private let folder = TemporaryDirectory()

  /// Its exit code, and what it says.
  private func start(socket: String) throws -> (exit: ProcessExit?, text: String) {
    let program = try TestProcess(
      "/bin/sh",
      [
        "sh", "-c", "exec \"$0\" \"$@\" 2>&1", Programs.path(of: "taskschedd"), "--no-journal",
        "--config", "/dev/null", "--manifests", folder.path, "--state", folder.file("state"),
        "--log-target", "stderr", "--socket", socket,
      ])
    let text = try program.remainingText()
    return (try program.waitForExit(), text)
  }

  @Test("a file or folder where the socket is to be is named, and stays as it is")
  func noSocket() throws {
    folder.write("file", "precious")
    mkdir(folder.file("folder"), 0o755)
    for (name, kind) in [("file", "a file"), ("folder", "a folder")] {
      let path = folder.file(name)
      let (exit, text) = try start(socket: path)
      #expect(exit == .exited(code: 1))
      #expect(text.contains("taskschedd: \(path) is \(kind): --socket names where the socket"))
    }
    let kept = try FileDescriptor.open(reading: folder.file("file")).readToEnd()
    #expect(kept == [UInt8]("precious".utf8))
  }

  @Test("a socket at which somebody else answers is named, and goes on to answer")
  func answered() throws {
    let path = folder.file("socket")
    let listener = try UnixSocket.listen(path: path, mode: 0o600)
    let (exit, text) = try start(socket: path)
    #expect(exit == .exited(code: 1))
    #expect(text.contains("taskschedd: \(path) is a socket at which somebody answers"))
    _ = try UnixSocket.connect(path: path)
    listener.close()
  }

  @Test("an empty path is a mistake in the command line")
  func empty() throws {
    let (exit, text) = try start(socket: "")
    #expect(exit == .exited(code: 2))
    #expect(text.contains("--socket is empty; name a path"))
  }
}
