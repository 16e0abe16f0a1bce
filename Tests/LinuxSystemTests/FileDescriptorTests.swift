import Glibc
import LinuxSystem
import Testing

@Suite("A file descriptor")
struct FileDescriptorTests {
  @Test("A descriptor is closed when its value ends: the reader of a pipe sees the end")
  func closes() throws {
    let (reading, writing) = try FileDescriptor.pipe().ends()
    let reader = FileDescriptor(taking: reading)
    do {
      let writer = FileDescriptor(taking: writing)
      #expect(try [UInt8]("ab".utf8).withUnsafeBytes { try writer.write($0) } == 2)
    }
    #expect(try reader.readToEnd() == [UInt8]("ab".utf8))
  }

  @Test("A descriptor stays open after take()")
  func take() throws {
    let number = try FileDescriptor.event().take()
    #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
    FileDescriptor(taking: number).close()
  }

  @Test("A non-blocking descriptor returns nil instead of blocking")
  func nonblocking() throws {
    let pipe = try FileDescriptor.pipe()
    try pipe.reading.setNonblocking(true)
    var byte: UInt8 = 0
    #expect(try withUnsafeMutableBytes(of: &byte) { try pipe.reading.read(into: $0) } == nil)
  }

  @Test("A wait reports readiness within the timeout, and 0 after the timeout")
  func readiness() throws {
    let quiet = try FileDescriptor.event()
    let counting = try FileDescriptor.event(initialValue: 1)
    let before = BootClock.now()
    #expect(
      try Readiness.wait(for: Int16(POLLIN), on: quiet.rawValue, timeout: .milliseconds(20)) == 0)
    #expect(BootClock.now() - before >= 20_000_000)
    #expect(try Readiness.wait(for: Int16(POLLIN), on: counting.rawValue) == Int16(POLLIN))
  }

  @Test("The soft limit on open files is raised to the hard limit")
  func limit() throws {
    let raised = try ResourceLimits.raiseOpenFiles()
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    #expect(limit.rlim_cur == limit.rlim_max)
    #expect(raised.soft == UInt64(limit.rlim_max))
    #expect(raised.softBefore <= raised.soft)
  }
}
