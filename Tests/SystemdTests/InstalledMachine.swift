import FoundationEssentials
import Glibc
import LinuxSystem
import TestSupport
import Testing

/// The tests of the installed project under a real systemd. All tests share one machine, and run
/// one at a time.
@Suite(
  "Under a real systemd", .serialized,
  .enabled(if: Machine.missing == nil, Comment(rawValue: Machine.missing ?? "possible")))
struct SystemdTests {}

/// A machine with the installed project, whose daemon is not running.
struct InstalledMachine {
  /// Users of the machine with home directories and their own applications.
  static let tester: UInt32 = 3001
  static let other: UInt32 = 3002

  /// The id of a busy application of two processes. It runs as `tester`, and the freezer suspends
  /// it.
  static let frozen = "org.example.frozen"
  /// The id of another busy application of two processes. It runs as `other`, and signals suspend
  /// it.
  static let signalled = "org.example.signalled"

  private static let booted = Result { try boot() }

  let machine: Machine
  /// The journal's entries after this cursor belong to this test.
  let cursor: String

  /// Resets the machine to its first state: the socket listens, no daemon runs, and no settings or
  /// leftovers exist.
  init() throws {
    machine = try Self.booted.get()
    _ = try machine.run("systemctl", "stop", "taskschedd.service", "taskschedd.socket")
    // Applications of the previous test may still run without a daemon.
    let slice = machine.group.child("taskschedd.slice")
    if slice.exists {
      let watch = try slice.watchEvents()
      try slice.kill()
      while let events = try ControlGroup.events(of: watch.rawValue), events.isPopulated {
        try waitFor(POLLPRI, on: watch.rawValue)
      }
    }
    _ = try machine.run("systemctl", "stop", "taskschedd.slice")
    try machine.must(
      "rm", "-rf", "/run/systemd/system/taskschedd.service.d",
      "/run/systemd/system/app-.service.d", "/etc/taskschedd/taskschedd.toml",
      "/run/taskschedd/event-log")
    try machine.must("systemctl", "daemon-reload")
    try machine.must("systemctl", "reset-failed")
    // The cursor is at a message of systemd that no test searches for, because it names no unit.
    // Searches can therefore begin at the cursor with `--cursor`. They do not use `--after-cursor`,
    // which can skip one entry too many in systemd 252.
    try machine.must("journalctl", "--sync")
    let shown = try machine.must("journalctl", "--quiet", "-n", "0", "--show-cursor").text
    cursor = String(shown.split(separator: "-- cursor: ").last?.dropLast() ?? "")
    try machine.must("systemctl", "start", "taskschedd.socket")
  }

  /// Starts an application that never reconnects (Resources/client.py), with one background task.
  func startClient(_ id: String) throws -> TestProcess {
    // Passes the program as text: the repository may be below /tmp, and the machine has a separate
    // /tmp.
    let path = Self.repository + "/Tests/SystemdTests/Resources/client.py"
    let script = String(
      decoding: try FileDescriptor.open(reading: path).readToEnd(), as: UTF8.self)
    let client = try machine.start(["python3", "-I", "-u", "-c", script, id])
    #expect(try client.readLine()?.contains("registered") == true)
    #expect(try client.readLine()?.contains("\"task\":1") == true)
    return client
  }

  /// Sends a line to an application that `startClient` started, and returns its answer.
  func ask(_ client: TestProcess, _ line: String) throws -> String {
    try client.writeLine(line)
    return try client.readLine() ?? "it ended"
  }

  /// The cgroup of the unit of the system's daemon.
  var unit: ControlGroup { machine.group.child("system.slice").child("taskschedd.service") }

  /// The cgroup of the applications' units.
  var slice: ControlGroup { machine.group.child("taskschedd.slice") }

  /// Returns the cgroups of an application's units, including those that an earlier daemon started.
  func groups(of application: String) throws -> [ControlGroup] {
    try slice.children().filter { $0.name.hasPrefix("app-taskschedd-\(application)@") }
  }

  /// Waits until systemd has removed the cgroup of a unit.
  func waitForRemoval(of group: ControlGroup) throws {
    let watch = FileDescriptor(taking: inotify_init1(Int32(IN_CLOEXEC)))
    guard inotify_add_watch(watch.rawValue, slice.path, UInt32(IN_DELETE)) >= 0 else {
      throw SystemError(call: "inotify_add_watch \(slice.path)", errno: errno)
    }
    var events = [UInt8](repeating: 0, count: 4096)
    while group.exists {
      try waitFor(POLLIN, on: watch.rawValue)
      _ = try events.withUnsafeMutableBytes { try watch.read(into: $0) }
    }
  }

  /// Adds settings to the daemon's unit in a drop-in file.
  func change(_ settings: String) throws {
    try write("/run/systemd/system/taskschedd.service.d/test.conf", "[Service]\n\(settings)")
    try machine.must("systemctl", "daemon-reload")
  }

  func property(_ name: String) throws -> String {
    let text = try machine.must("systemctl", "show", "--value", "-p", name, "taskschedd.service")
    return text.lines.first ?? ""
  }

  func write(_ path: String, _ text: String) throws {
    try machine.must("sh", "-c", "mkdir -p \"${1%/*}\" && echo \"$2\" > \"$1\"", "sh", path, text)
  }

  /// Waits until the daemon's monitor reports that an application is in the given state.
  func wait(
    for application: String, toBe state: String, options: [String] = [], as user: UInt32? = nil
  ) throws {
    struct Line: Decodable {
      struct Application: Decodable {
        var application: String
        var state: String
      }
      struct Change: Decodable {
        var application: String
        var to: String?
      }
      var application: Application?
      var change: Change?
    }
    let monitor = try machine.start(["taskctl", "monitor", "--json"] + options, as: user)
    while let text = try monitor.readLine() {
      let line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
      if let it = line.application, it.application == application, it.state == state { return }
      if let it = line.change, it.application == application, it.to == state { return }
    }
    throw MachineError(sentence: "the monitor ended before \(application) was \(state)")
  }

  /// Launches an application, and waits until both of its processes run.
  func launch(_ application: String) throws {
    try machine.must("taskctl", "launch", application)
    let line = try output(of: application).readLine()
    guard line?.hasPrefix("working as") == true else {
      throw MachineError(sentence: "\(application) wrote '\(line ?? "nothing")'")
    }
  }

  /// Returns the lines that an application writes to the journal.
  func output(of application: String) throws -> TestProcess {
    try machine.start([
      "journalctl", "-q", "-f", "-n", "all", "-o", "cat", "--cursor=\(cursor)", "-t", application,
    ])
  }

  /// Launches an application and suspends it.
  func suspend(_ application: String) throws {
    try launch(application)
    try machine.must("taskctl", "background", application)
    try wait(for: application, toBe: "suspended")
  }

  /// Returns the daemon's journal records since the start of the test, by field.
  func journal(_ matches: String...) throws -> [[String: String]] {
    try machine.must("journalctl", "--sync")
    let fields = [
      "APP", "PID", "FROM", "TO", "CAUSE", "REASON", "SIGNAL", "TASK", "TASK_NAME", "OWNER",
    ].map { "TASKSCHEDD_" + $0 } + ["MESSAGE", "MESSAGE_ID", "PRIORITY", "_PID"]
    let output = try machine.start(
      [
        "journalctl", "--quiet", "-o", "json", "--cursor=\(cursor)",
        "--output-fields=\(fields.joined(separator: ","))",
      ] + matches)
    var records: [[String: String]] = []
    while let line = try output.readLine() {
      records.append(try JSONDecoder().decode([String: String].self, from: Data(line.utf8)))
    }
    return records
  }

  /// Waits until the journal has a line with each of the texts, in this order. Reads the daemon's
  /// messages, and systemd's messages about the daemon's unit.
  ///
  /// Does not use `-u`, because journald may not learn the unit of a process that ends immediately.
  /// The deadline applies to all lines together, because a unit that restarts repeatedly never
  /// stops writing lines.
  func waitForJournal(_ texts: String...) throws {
    let end = ContinuousClock.now + deadline
    let journal = try machine.start([
      "journalctl", "--quiet", "-f", "-n", "all", "-o", "cat", "--cursor=\(cursor)",
      "SYSLOG_IDENTIFIER=taskschedd", "+", "UNIT=taskschedd.service",
    ])
    var seen: [String] = []
    for text in texts {
      repeat {
        do {
          let left = max(.zero, end - ContinuousClock.now)
          guard let line = try journal.readLine(within: left) else {
            throw MachineError(sentence: "journalctl ended, after \(seen)")
          }
          seen.append(line)
        } catch let error as SystemError {
          throw MachineError(sentence: "no '\(text)' in the journal: \(error), after \(seen)")
        }
      } while seen.last?.contains(text) != true
    }
  }
}

extension InstalledMachine {
  static let repository =
    "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

  /// The directory of the test binaries and of the programs.
  static let built: String = {
    var path = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    let program = String(
      decoding: path[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return program.split(separator: "/").dropLast().map { "/" + $0 }.joined()
  }()

  /// Runs `make TARGET DESTDIR=… PREFIX=/usr`, and returns its output.
  static func make(_ target: String, destination: String) throws -> String {
    let make = try TestProcess.shell(
      "make --no-print-directory -C \"$REPOSITORY\" \"$TARGET\" </dev/null 2>&1"
        + " BUILT=\"$BUILT\" DESTDIR=\"$DESTINATION\" PREFIX=/usr"
    ) { request in
      request.environment += [
        "REPOSITORY=\(repository)", "BUILT=\(built)", "DESTINATION=\(destination)",
        "TARGET=\(target)",
      ].map { SystemString($0) }
    }
    var text = ""
    while let line = try make.readLine() { text += line + "\n" }
    guard try make.waitForExit() == .exited(code: 0) else { throw MachineError(sentence: text) }
    return text
  }

  /// The reason why the machine cannot open login sessions; nil if it can.
  static let missingForSessions: String? = {
    if access("/lib/systemd/systemd-logind", X_OK) != 0 { return "there is no systemd-logind" }
    let folder = "/etc/pam.d/common-session"
    let text = (try? FileDescriptor.open(reading: folder).readToEnd()).map {
      String(decoding: $0, as: UTF8.self)
    }
    return text?.contains("pam_systemd") == true
      ? nil : "PAM does not register sessions with logind (libpam-systemd)"
  }()

  private static func boot() throws -> Machine {
    let tree = TemporaryDirectory(mode: 0o755)
    defer { withExtendedLifetime(tree) {} }
    _ = try make("install", destination: tree.path)
    tree.write(
      "usr/lib/sysusers.d/tests.conf",
      """
      u tester \(tester) "A user" /home/\(tester) /bin/sh
      u other \(other) "Another" /home/\(other) /bin/sh

      """)
    tree.write(
      "usr/lib/tmpfiles.d/tests.conf",
      """
      d /home/\(tester) 0755 tester tester -
      d /home/\(other) 0755 other other -

      """)
    tree.write(
      "etc/taskschedd/applications/\(frozen).toml",
      """
      id = "\(frozen)"
      command = ["sh", "-c", "sleep 1000 & echo working as $(id -un); while :; do :; done"]
      user = "tester"

      """)
    tree.write(
      "etc/taskschedd/applications/\(signalled).toml",
      """
      id = "\(signalled)"
      command = ["sh", "-c", "sleep 1000 & echo working as $(id -un); while :; do :; done"]
      user = "other"
      suspend-mechanism = "signal"

      """)
    let machine = try Machine(tree: tree.path)
    // A package runs these commands at its installation.
    try machine.must("systemd-sysusers")
    try machine.must("systemd-tmpfiles", "--create", "taskschedd.conf", "tests.conf")
    try machine.must("journalctl", "--update-catalog")
    return machine
  }
}
