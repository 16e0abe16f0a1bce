import Glibc
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §1: a terminal is a seat, and a suspended application leaves its terminal usable.
@Suite("taskctl run at a terminal with a suspended program")
struct TaskctlTerminalTests {
  private let id = "org.test.typed"

  /// Types the command and waits until the program has begun.
  private func run(_ script: String, at terminal: TestTerminal, more: String = "") throws {
    // The quotes in `st""arted` distinguish the echo of the typed line from the program's output.
    let program = "sh -c 'echo st\"\"arted; \(script)'"
    try terminal.type("\(Programs.path(of: "taskctl")) run --id \(id) \(program)\(more)\n")
    try terminal.wait(for: "started")
  }

  @Test(
    "Ctrl-C and Ctrl-\\ terminate a suspended program by the user, with a shell's exit code",
    arguments: [("\u{3}", 130), ("\u{1c}", 131)])
  func ended(key: String, code: Int) throws {
    let daemon = try DaemonFixture()
    let terminal = try TestTerminal(daemon)
    try run("read x", at: terminal, more: "; echo code=$?")
    try daemon.sendToBackground(id)
    try terminal.wait(for: "taskctl: \(id) is suspended: it was sent to the background. Ctrl-C")
    try terminal.type(key)
    try terminal.wait(for: "code=\(code)")
    #expect(try daemon.application(id).lastEnd?.reason == .terminatedByUser)
  }

  @Test("Ctrl-Z returns to the shell, and fg brings the application to the foreground")
  func resumed() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let terminal = try TestTerminal(daemon)
    try run("read x; echo got-$x; exit 5", at: terminal)
    try daemon.sendToBackground(id)
    try terminal.wait(for: "is suspended")
    try monitor.transition(id, to: .suspended)
    try terminal.type("\u{1a}")
    try terminal.wait(for: "Stopped")
    #expect(try daemon.application(id).state == .suspended)
    try terminal.type("fg\n")
    try monitor.transition(id, to: .active)
    try terminal.wait(for: "\(id) is resumed")
    try terminal.type("it\n")
    try terminal.wait(for: "got-it")
    try terminal.wait(for: "$ ")
    try terminal.type("echo code=$?\n")
    try terminal.wait(for: "code=5")
  }

  @Test("A program that an operator resumes continues at its terminal, and taskctl prints a notice")
  func resumedFromElsewhere() throws {
    let daemon = try DaemonFixture()
    let terminal = try TestTerminal(daemon)
    try run("read x; echo got-$x", at: terminal)
    try daemon.sendToBackground(id)
    try terminal.wait(for: "is suspended")
    try daemon.activate(id)
    try terminal.wait(for: "\(id) is resumed")
    try terminal.type("it\n")
    try terminal.wait(for: "got-it")
  }

  @Test("The keys work even in raw mode, and the program gets its terminal mode back")
  func rawMode() throws {
    let daemon = try DaemonFixture()
    let terminal = try TestTerminal(daemon)
    try run("stty -icanon -isig -echo; echo ra\"\"w; head -c 1; stty -a; read x", at: terminal)
    try terminal.wait(for: "raw")
    try daemon.sendToBackground(id)
    try terminal.wait(for: "is suspended")
    try daemon.activate(id)
    try terminal.wait(for: "is resumed")
    // The program reads single keys: it has switched off the input of whole lines.
    try terminal.type("k")
    try terminal.wait(for: "-isig")
    try daemon.sendToBackground(id)
    try terminal.wait(for: "is suspended")
    try terminal.type("\u{3}")
    try terminal.wait(for: "$ ")
    #expect(try daemon.application(id).lastEnd?.reason == .terminatedByUser)
  }

  @Test("While the program runs, it gets Ctrl-C and Ctrl-Z itself")
  func running() throws {
    let daemon = try DaemonFixture()
    let terminal = try TestTerminal(daemon)
    // The trap may interrupt `read`, so the script repeats `read`.
    try run(
      "trap \"echo trap\"\"ped\" INT; echo re\"\"ady; until read x; do :; done; exit 6",
      at: terminal)
    try terminal.wait(for: "ready")
    try terminal.type("\u{3}")
    try terminal.wait(for: "trapped")
    try terminal.type("\u{1a}")
    try terminal.wait(for: "Stopped")
    try terminal.wait(for: "$ ")
    try terminal.type("fg\n")
    // The shell prints the command line that it resumes.
    try terminal.wait(for: "exit 6'")
    try terminal.type("one\n")
    try terminal.wait(for: "$ ")
    try terminal.type("echo code=$?\n")
    try terminal.wait(for: "code=6")
  }

  @Test("A monitor of one application shows no changes of other applications")
  func limited() throws {
    let daemon = try DaemonFixture()
    let (one, other) = (try daemon.shell("read line"), try daemon.shell("read line"))
    try daemon.adopt(id, one)
    let connection = try daemon.connect()
    let replies = try connection.callMore(
      ControlInterface.Monitor.self, .init(application: "org.test.other"))
    // A monitor may name an application that the daemon does not know yet.
    #expect(try replies.next(timeout: deadline)?.ready == true)
    try daemon.adopt("org.test.other", other)
    try daemon.activate(id)
    try daemon.terminate("org.test.other")
    var told: Set<String> = []
    while let change = try replies.next(timeout: deadline)?.change {
      told.insert(change.application)
      if change.kind == .ended { break }
    }
    #expect(told == ["org.test.other"])
    #expect(throws: ControlInterface.Failure.invalidApplicationID(application: "nodots")) {
      try daemon.connect().callMore(ControlInterface.Monitor.self, .init(application: "nodots"))
        .next(timeout: deadline)
    }
    let elsewhere = try daemon.connect().callMore(
      ControlInterface.Monitor.self, .init(application: id, owner: 4711))
    #expect(try elsewhere.next(timeout: deadline)?.ready == true)
  }
}
