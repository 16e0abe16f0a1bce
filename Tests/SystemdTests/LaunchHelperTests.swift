import Glibc
import LinuxSystem
import TaskSchedulerDaemon
import TestSupport
import Testing

@Suite("A program that systemd starts for the daemon")
struct LaunchHelperTests {
  @Test("A held program exits without executing its command when the daemon has died")
  func daemonGone() throws {
    let (ours, theirs) = try UnixSocket.pair().ends()
    let end = FileDescriptor(taking: ours)
    let childs = FileDescriptor(taking: theirs)
    let held = try TestProcess(
      "\(InstalledMachine.built)/taskschedd", ["taskschedd", LaunchHelper.option]
    ) { request in
      request.stdio.input = childs.rawValue
      request.stdio.error = request.stdio.output
    }
    childs.close()
    var byte: UInt8 = 0
    try waitFor(POLLIN, on: end.rawValue)
    let count = try withUnsafeMutableBytes(of: &byte) { try end.read(into: $0) }
    #expect(count == 1, "the helper reports that it runs")
    #expect(try !held.pidfd.hasEnded(), "the helper waits")
    end.close()
    #expect(try held.waitForExit() == .exited(code: 127))
    #expect(try held.readLine()?.contains("not started: waiting for the daemon") == true)
  }
}
