import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@Suite("taskctl shows the state of the real daemon")
struct TaskctlShowTests {
  private let id = "org.test.shown"

  @Test("The monitor command shows the snapshot, then each change, until the requested state")
  func monitor() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("read line")
    try daemon.adopt(id, program)
    let monitor = try daemon.startTaskctl(["monitor", id, "--until", "suspended", "--json"])
    let first = try JSONParser.parse(Array(try monitor.nextLine().utf8))
    #expect(first["application"]?["application"] == .string(id))
    #expect(try monitor.nextLine() == #"{"ready":true}"#)
    try daemon.sendToBackground(id)
    let changes = try monitor.remainingText().split(separator: "\n").map {
      try JSONParser.parse(Array($0.utf8))["change"]
    }
    #expect(changes.map { $0?["to"] } == ["background", "suspended"])
    #expect(changes.allSatisfy { $0?["kind"] == "transition" && $0?["application"] == .string(id) })
    #expect(try monitor.waitForExit() == .exited(code: 0))
  }

  @Test("The log command shows the daemon's records to users without access to the journal")
  func log() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("read line")
    try daemon.adopt(id, program, task: "render")
    try daemon.terminate(id)
    let shown = try daemon.taskctl("log", id, "--socket", daemon.socketPath)
    #expect(shown.exit == .exited(code: 0))
    let lines = shown.text.split(separator: "\n")
    #expect(lines.first?.contains(" \(id) is active: taskschedd began to manage") == true)
    #expect(lines.contains { $0.contains("\(id) began background task 1 'render'") })
    #expect(lines.last?.hasSuffix("\(id) was terminated by an operator") == true, "\(shown.text)")
    #expect(try daemon.taskctl("log", id).text == shown.text, "the variable names the socket")
    let last = try daemon.taskctlJSON("log", id, "-n", "1", "--socket", daemon.socketPath)
    #expect(last["message"] == .string("\(id) was terminated by an operator"))
    #expect(last["level"] == "notice")
    let other = try daemon.taskctl("log", "org.test.other", "--socket", daemon.socketPath)
    #expect(other.text.isEmpty)
    let follow = try daemon.taskctl("log", "-f", "--socket", daemon.socketPath)
    #expect(follow.exit == .exited(code: 1))
    #expect(follow.text.contains("--follow needs the system journal"), "\(follow.text)")
  }

  @Test("The log command shows all records, although one reply has at most 100")
  func longLog() throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication(daemon, id)
    try application.registered()
    for number in 1...130 {
      let task = try application.begin("part \(number)")
      _ = try application.call("EndBackgroundTask", ["task": .integer(Int64(task))])
    }
    let shown = try daemon.taskctl("log", "--socket", daemon.socketPath).text
    for number in [1, 64, 130] {
      #expect(shown.contains("began background task \(number) 'part \(number)'"), "\(number)")
    }
    let some = try daemon.taskctl("log", "-n", "150", "--socket", daemon.socketPath).text
    #expect(some.split(separator: "\n").count == 150)
    #expect(shown.hasSuffix(some), "the newest")
  }

  @Test("The monitor command exits with 3 when the daemon ends")
  func monitorEnd() throws {
    let daemon = try DaemonFixture()
    let monitor = try daemon.startTaskctl(["monitor", "--json"])
    #expect(try monitor.nextLine() == #"{"ready":true}"#)
    _ = try daemon.process.send(signal: SIGTERM)
    #expect(try monitor.remainingText().contains("closed the connection"))
    #expect(try monitor.waitForExit() == .exited(code: 3))
  }

  @Test("The why and status commands say how a launch failed, until the application runs")
  func launchFailure() throws {
    let program = TemporaryDirectory().file("program")
    let daemon = try DaemonFixture(.init(manifests: [(id, "command = [\"\(program)\"]")]))
    #expect(try daemon.taskctl("launch", id).exit == .exited(code: 1))
    let why = try daemon.taskctl("why", id).text
    #expect(why.hasPrefix("\(id) is not running.\n  Its last launch failed, "), "\(why)")
    #expect(why.contains("No such file or directory"), "\(why)")
    #expect(!why.contains("never run"))
    #expect(try daemon.taskctl("status", id).text.contains("Last launch: failed, "))
    let next = try daemon.killed()
    #expect(try next.application(id).launchFailure?.reason.contains(program) == true)
    try next.adopt(id, next.shell("read line"))
    #expect(try next.application(id).launchFailure == nil)
  }

  @Test(
    "After a stop of the daemon, taskctl shows a process that runs on as unmanaged")
  func unmanaged() throws {
    let first = try DaemonFixture()
    let program = try first.shell("read line")
    try first.adopt(id, program)
    try first.stop()
    let daemon = try DaemonFixture(after: first)
    #expect(try daemon.application(id).unmanagedPID == Int(program.pid))
    let why = try daemon.taskctl("why", id).text
    #expect(why.hasPrefix("\(id) has been unmanaged since "), "\(why)")
    #expect(why.contains("left process \(program.pid) running"), "\(why)")
    #expect(!why.contains("not running") && !why.contains("was terminated"), "\(why)")
    #expect(try daemon.taskctl("status", id).text.contains("Unmanaged: process \(program.pid)"))
    try program.writeLine("go")
    _ = try program.waitForExit()
    #expect(try daemon.taskctl("why", id).text.hasPrefix("\(id) has not run since "))
  }

  @Test("The why command names the task that entitles an application, and the last task")
  func why() throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication(daemon, id)
    try application.registered()
    _ = try application.callbackKinds(2)
    let task = try application.begin("render")
    try daemon.sendToBackground(id)
    #expect(try daemon.taskctl("why", id).text.contains("background task \(task) 'render'"))
    #expect(try daemon.taskctlJSON("why", id)["explanation"]?["cause"] == "sendAway")
    // After the last callback, only the task entitles the application to run, so the end of the
    // task suspends it.
    #expect(try application.callbackKinds(2).last == "didEnterBackground")
    _ = try application.call("GetStatus")
    // The application may be suspended before it can print the answer, so the test does not wait
    // for the answer.
    try application.send("EndBackgroundTask", ["task": .integer(Int64(task))])
    #expect(try daemon.taskctl("monitor", id, "--until", "suspended").exit == .exited(code: 0))
    let told = try daemon.taskctl("why", id).text
    #expect(told.contains("it ended its last task, background task \(task) 'render'"), "\(told)")
    let unknown = try daemon.taskctl("why", "org.test.show")
    #expect(unknown.exit == .exited(code: 1))
    #expect(unknown.text.contains(id), "\(unknown.text)")
  }

  @Test("The why command names the callback that an application was killed for")
  func whyKilled() throws {
    let daemon = try DaemonFixture(.init(policy: [("CallbackTimeout", "500ms")]))
    let application = try TestApplication(daemon, id, "manual")
    #expect(try application.process.waitForExit() == .signaled(signal: SIGKILL))
    #expect(try daemon.taskctl("monitor", id, "--until", "notRunning").exit == .exited(code: 0))
    let told = try daemon.taskctl("why", id).text
    #expect(told.contains("It did not acknowledge didFinishLaunching in time."), "\(told)")
  }

  @Test("The commands tasks, config and reload print tables and JSON")
  func shapes() throws {
    let daemon = try DaemonFixture(.init(policy: [("MaxTasksPerApplication", "7")]))
    let program = try daemon.shell("read line")
    let instance = try daemon.adopt(id, program, background: true, task: "render")
    let tasks = try daemon.taskctlJSON("tasks")
    guard case .array(let entries)? = tasks["tasks"] else { throw Unexpected(value: tasks) }
    #expect(entries.map { $0["application"] } == [.string(id)])
    #expect(entries.first?["instance"] == .integer(Int64(instance)))
    #expect(entries.first?["task"]?["name"] == "render")
    #expect(try daemon.taskctl("tasks").text.contains("render"))
    let config = try daemon.taskctlJSON("config", "--changed")
    guard case .array(let settings)? = config["settings"] else { throw Unexpected(value: config) }
    let tasksMax = settings.first { $0["value"] == "7" }
    #expect(tasksMax?["name"] == "policy.MaxTasksPerApplication", "\(settings)")
    #expect(tasksMax?["default"] == "1024")
    #expect(tasksMax?["source"] == .string("\(daemon.folder.file("taskschedd.toml")):2"))
    daemon.folder.write("taskschedd.toml", "[policy]\nMaxTasksPerApplication = 0\n")
    let refused = try daemon.taskctl("reload")
    #expect(refused.exit == .exited(code: 1))
    #expect(refused.text.contains("taskschedd.toml:2: policy.MaxTasksPerApplication"))
    daemon.folder.write("taskschedd.toml", "[policy]\nMaxTasksPerApplication = 9\n")
    let accepted = try daemon.taskctl("reload")
    #expect(accepted.exit == .exited(code: 0))
    #expect(accepted.text == "")
    #expect(try daemon.taskctlJSON("reload") == [:])
    #expect(try daemon.taskctl("config", "--changed").text.contains("MaxTasksPerApplication  9"))
  }

  @Test("The commands list and monitor print a reply about 3,000 applications completely")
  func many() throws {
    // A long display name makes the answer long.
    let name = String(repeating: "long ", count: 50)
    let manifests = (0..<3000).map { number in
      ("org.test.n\(number)", "name = \"\(name)\"\ncommand = [\"/bin/true\"]")
    }
    let daemon = try DaemonFixture(.init(manifests: manifests))
    let count = """
      import json, subprocess, sys
      text = subprocess.run([sys.argv[1], "list", "--all", "--json"], stdout=subprocess.PIPE).stdout
      listed = {a["application"] for a in json.loads(text)["applications"]}
      print(len(listed), len(text) > 1 << 20, flush=True)
      monitor = subprocess.Popen([sys.argv[1], "monitor", "--json"], stdout=subprocess.PIPE)
      seen = set()
      for line in monitor.stdout:
          reply = json.loads(line)
          if reply.get("ready"): break
          seen.add(reply["application"]["application"])
      monitor.kill(); monitor.wait()
      print(len(seen), flush=True)
      status = subprocess.run([sys.argv[1], "status"], stdout=subprocess.PIPE)
      print(status.returncode, b"3000" in status.stdout, flush=True)
      """
    let counter = try daemon.python(count, [Programs.path(of: "taskctl")])
    #expect(try counter.nextLine() == "3000 True")
    #expect(try counter.nextLine() == "3000")
    #expect(try counter.nextLine() == "0 True")
  }

  @Test("A change directly after a long snapshot does not disconnect the monitor")
  func longSnapshot() throws {
    // The snapshot is much larger than a socket buffer.
    let name = String(repeating: "long ", count: 50)
    let manifests = (0..<2000).map { ("org.test.n\($0)", "name = \"\(name)\"") }
    let daemon = try DaemonFixture(
      .init(policy: [("MaxQueuedBytesPerConnection", "4096")], manifests: manifests))
    let client = try RawClient(daemon)
    try client.send(#"{"method":"org.taskschedd.Control.Monitor","more":true}"#)
    // Waits for a reply, so that the daemon handles the monitor's call before the adoption, which
    // comes on another connection.
    #expect(try client.receive()?["parameters"]?["application"] != nil)
    let program = try daemon.shell("read line")
    try daemon.adopt(id, program)
    var changes = 0
    while changes == 0, let reply = try client.receive() {
      if reply["parameters"]?["change"] != nil { changes += 1 }
    }
    #expect(changes == 1)
  }

  private struct Unexpected: Error {
    let value: JSONValue
  }
}
