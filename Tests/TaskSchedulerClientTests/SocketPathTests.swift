import Glibc
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct SocketPathTests {
  @Test("TASKSCHEDD_SOCKET has priority over the other sockets")
  func variable() {
    let variables = ["TASKSCHEDD_SOCKET": "/tmp/x", "XDG_RUNTIME_DIR": "/"]
    #expect(SocketPath.standard { variables[$0] } == SocketPath("/tmp/x"))
  }

  @Test("The default is the user's socket if it exists, and otherwise the system's")
  func userElseSystem() throws {
    let directory = TemporaryDirectory()
    let variables = ["XDG_RUNTIME_DIR": directory.path]
    #expect(SocketPath.standard { variables[$0] } == .system)
    try #require(mkdir(directory.file("taskschedd"), 0o700) == 0)
    directory.write("taskschedd/socket", "")
    #expect(SocketPath.standard { variables[$0] }.path == "\(directory.path)/taskschedd/socket")
    #expect(SocketPath.standard { _ in nil } == .system)
  }

  @Test("Without XDG_RUNTIME_DIR the user's socket is in /run/user")
  func user() {
    #expect(SocketPath.user { _ in nil }.path == "/run/user/\(getuid())/taskschedd/socket")
  }
}
