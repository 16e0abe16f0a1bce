import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@Suite("taskctl run manages an unmodified program at a terminal")
struct TaskctlRunTests {
  private let id = "org.test.ran"

  @Test("The exit code of taskctl run is 128 + the signal that ended the program")
  func signalled() throws {
    let daemon = try DaemonFixture()
    #expect(try daemon.taskctl("run", "--", "sh", "-c", "kill -USR1 $$").exit == .exited(code: 138))
    #expect(try daemon.taskctl("run", "--", "sh", "-c", "kill -KILL $$").exit == .exited(code: 137))
    #expect(try daemon.taskctl("run", "--", "/nowhere/program").exit == .exited(code: 127))
  }

  @Test("A program that is sent to the background is suspended, and continues where it stopped")
  func suspended() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let run = try daemon.startTaskctl([
      "run", "--id", id, "--", "sh", "-c", "echo $$; read x; echo $x; exit 5",
    ])
    let pid = try run.nextPID()
    #expect(try daemon.application(id).instance?.pid == Int(pid))
    #expect(try daemon.taskctl("background", id).exit == .exited(code: 0))
    try monitor.transition(id, to: .suspended)
    #expect(try daemon.state(of: pid) == .stopped)
    #expect(try daemon.state(of: run.pid) != .stopped, "taskctl does not belong to the instance")
    try run.writeLine("goes on")
    #expect(try daemon.taskctl("foreground", id).exit == .exited(code: 0))
    #expect(try run.remainingText() == "goes on\n")
    #expect(try run.waitForExit() == .exited(code: 5))
  }

  @Test("taskctl run does not execute a program that the daemon refuses")
  func refused() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("read line")
    try daemon.adopt(id, program)
    let proof = daemon.folder.file("ran")
    let second = try daemon.taskctl("run", "--id", id, "--", "touch", proof)
    #expect(second.exit == .exited(code: 1))
    #expect(second.text.contains("AlreadyRunning"), "\(second.text)")
    let invalid = try daemon.taskctl("run", "--id", "nodots", "--", "touch", proof)
    #expect(invalid.exit == .exited(code: 1))
    #expect(invalid.text.contains("InvalidApplicationID"), "\(invalid.text)")
    #expect(access(proof, F_OK) != 0)
  }
}
