import Glibc
import LinuxSystem
import Testing

@Suite("Failures of system calls")
struct SystemErrorTests {
  @Test("A failure describes itself with the call, the sentence and the errno's name")
  func description() {
    let error = SystemError(call: "openat", errno: ENOENT)
    #expect(error.description == "openat: No such file or directory (ENOENT)")
    #expect(SystemError(call: "x", errno: 9999).description == "x: errno 9999")
  }

  @Test("A failure names the path that was opened")
  func path() {
    #expect(throws: SystemError(call: "open /nowhere/at/all", errno: ENOENT)) {
      _ = try FileDescriptor.open(reading: "/nowhere/at/all")
    }
  }

  #if DEBUG
    @Test("A test can force a failure for one task without making the call")
    func forced() throws {
      SyscallFaults.$errnoFor.withValue({ $0 == "pipe2" ? EMFILE : nil }) {
        #expect(throws: SystemError(call: "pipe2", errno: EMFILE)) {
          _ = try FileDescriptor.pipe()
        }
      }
      _ = try FileDescriptor.pipe()
    }
  #endif
}
