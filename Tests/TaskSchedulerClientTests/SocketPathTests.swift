import Glibc
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct SocketPathTests {
  @Test("TASKSCHEDD_SOCKET comes before all else")
  func variable() {
    let variables = ["TASKSCHEDD_SOCKET": "/tmp/x", "XDG_RUNTIME_DIR": "/"]
    #expect(SocketPath.standard { variables[$0] } == SocketPath("/tmp/x"))
  }

  @Test("The user's socket is taken where it is there, else the system's")
  func userElseSystem() throws {
    let folder = TemporaryDirectory()
    let variables = ["XDG_RUNTIME_DIR": folder.path]
    #expect(SocketPath.standard { variables[$0] } == .system)
    try #require(mkdir(folder.file("taskschedd"), 0o700) == 0)
    folder.write("taskschedd/socket", "")
    #expect(SocketPath.standard { variables[$0] }.path == "\(folder.path)/taskschedd/socket")
    #expect(SocketPath.standard { _ in nil } == .system)
  }

  @Test("Without XDG_RUNTIME_DIR the user's socket is in /run/user")
  func user() {
    #expect(SocketPath.user { _ in nil }.path == "/run/user/\(getuid())/taskschedd/socket")
  }
}
