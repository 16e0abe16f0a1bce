import Glibc
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire
import TestSupport
import Testing

/// The real daemon in a directory of its own, with the settings of a test.
///
/// The deinitializer ends the daemon, and kills every process with the daemon's socket in its
/// environment (`TASKSCHEDD_SOCKET`), even after a failed test.
final class DaemonFixture: Sendable {
  /// The contents of the configuration files, and the options of the start.
  struct Settings {
    /// Keys at the top of the file, with their values in TOML syntax.
    var options: [(String, String)] = []
    /// Settings of the policy by name: durations, numbers and flags.
    var policy: [(String, String)] = []
    /// The application ids and texts of the manifests. The fixture adds the key `id` to each text.
    var manifests: [(String, String)] = []
    /// The setting `SharedResources`.
    var resources: [String] = []
    /// The settings of `[focus]`, with their values in TOML syntax.
    var focus: [(String, String)] = []
    /// The settings of `[location]`, with their values in TOML syntax.
    var location: [(String, String)] = []
    /// Additional arguments of the command line.
    var arguments: [String] = []
    /// Whether the test receives the daemon's sd_notify messages. If so, the test must read all of
    /// them.
    var hearsNotifications = false

    /// Settings with which the daemon ignores short memory pressure of the machine. Tests that are
    /// not about memory use these settings, because other tests may cause pressure.
    private static let unheard = [
      ("MemoryPressureStall", "10s"), ("MemoryPressureWindow", "10s"), ("MemoryQuietTime", "11s"),
    ]

    var text: String {
      let isAboutMemory = policy.contains { $0.0.hasPrefix("Memory") }
      let limits = (policy + (isAboutMemory ? [] : Self.unheard)).map { name, value in
        "\(name) = \(Int(value) == nil && Bool(value) == nil ? "\"\(value)\"" : value)"
      }
      let lines = options.map { "\($0.0) = \($0.1)" } + ["[policy]"] + limits
      let shared = resources.isEmpty ? [] : ["SharedResources = \(resources)"]
      let focus = focus.isEmpty ? [] : ["[focus]"] + focus.map { "\($0.0) = \($0.1)" }
      let location = location.isEmpty
        ? [] : ["[location]"] + location.map { "\($0.0) = \($0.1)" }
      return (lines + shared + focus + location).joined(separator: "\n") + "\n"
    }
  }

  let folder: TemporaryDirectory
  let process: PIDFD
  let proc: ProcFS
  let socketPath: String
  private let group: TestControlGroup?
  private let settings: Settings
  /// The socket of the daemon's sd_notify messages, if the test receives them.
  let notifications: NotifySocket?
  /// The fixture of the previous daemon. This reference keeps that fixture alive. Otherwise, its
  /// deinitializer would kill the processes that still run.
  private let earlier: DaemonFixture?

  /// Starts the daemon and waits for READY=1.
  ///
  /// - Parameters:
  /// - ownGroup: whether the daemon gets its own cgroup, as under a service manager.
  /// - uid: the user that runs the daemon; nil for the user of the tests.
  /// - earlier: a daemon that has ended. The new daemon uses its directory.
  /// - dies: whether one of the programs that the daemon launches at the start kills the daemon.
  ///   The initializer then waits for the daemon's end instead of READY=1.
  init(
    _ settings: Settings = Settings(), ownGroup: Bool = false, uid: UInt32? = nil,
    after earlier: DaemonFixture? = nil, dies: Bool = false
  ) throws {
    // Programs of other users must be able to reach the socket.
    folder = earlier?.folder ?? TemporaryDirectory(mode: 0o755)
    self.earlier = earlier
    self.settings = settings
    proc = try ProcFS()
    socketPath = folder.file("socket")
    group = ownGroup ? try TestControlGroup() : nil
    mkdir(folder.file("manifests"), 0o755)
    folder.write("taskschedd.toml", settings.text)
    for (id, text) in settings.manifests {
      folder.write("manifests/\(id).toml", "id = \"\(id)\"\n\(text)\n")
    }
    unlink(folder.file("notify"))
    let readiness = try NotifySocket(path: folder.file("notify"))
    notifications = settings.hearsNotifications ? readiness : nil
    if let uid {
      for path in [folder.path, folder.file("notify")] { chown(path, uid, uid) }
    }
    let log = FileDescriptor(
      taking: open(folder.file("log"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644))
    let input = try FileDescriptor.open(reading: "/dev/null")
    var request = SpawnRequest(
      path: Programs.path(of: "taskschedd"),
      arguments: [
        "taskschedd", "--socket", socketPath, "--config", folder.file("taskschedd.toml"),
        "--state", folder.file("state"),
        "--manifests", folder.file("manifests"), "--log-target", "stderr",
      ],
      environment: ["PATH=/usr/bin:/bin", "NOTIFY_SOCKET=\(folder.file("notify"))"])
    request.arguments += settings.arguments.map { SystemString($0) }
    request.stdio = (input.rawValue, log.rawValue, log.rawValue)
    request.processGroup = 0
    if let uid { request.identity = .init(uid: uid, gid: uid, groups: []) }
    let child = try HeldChild.spawn(request)
    if let group {
      do {
        try group.group.add(child.pid)
      } catch {
        child.abandon()
        throw error
      }
    }
    process = try child.releaseAndWaitForExec()
    if dies {
      _ = try process.wait()
      return
    }
    do {
      try readiness.wait(for: "READY=1", orEndOf: process.rawValue)
    } catch {
      end()
      Issue.record("the daemon is not ready; its log:\n\(logged)")
      throw error
    }
  }

  deinit { end() }

  /// Kills the daemon with SIGKILL. All connections to the daemon end, because no service manager
  /// keeps them.
  func die() throws {
    _ = try process.send(signal: SIGKILL)
    _ = try process.wait()
  }

  /// Stops the daemon cleanly. The applications continue to run.
  func stop() throws {
    _ = try process.send(signal: SIGTERM)
    _ = try process.wait()
  }

  /// Kills the daemon with SIGKILL, and starts another with the same settings.
  ///
  /// - Parameters:
  /// - rebooting: whether to simulate a reboot: all programs end, and the event log disappears.
  /// - body: runs while there is no daemon.
  func killed(rebooting: Bool = false, _ body: () throws -> Void = {}) throws -> DaemonFixture {
    try die()
    if rebooting {
      endPrograms()
      let eventLog = folder.file("event-log")
      for name in try Directory.names(path: eventLog) {
        try Directory.remove(path: "\(eventLog)/\(name)")
      }
    }
    try body()
    return try DaemonFixture(settings, after: self)
  }

  /// Stops the daemon cleanly, and starts another with the same settings.
  ///
  /// - Parameter body: runs while there is no daemon.
  func restarted(_ body: () throws -> Void = {}) throws -> DaemonFixture {
    try stop()
    try body()
    return try DaemonFixture(settings, after: self)
  }

  /// Ends the daemon, and then every process with the daemon's socket in its environment.
  private func end() {
    _ = try? process.send(signal: SIGTERM)
    if (try? process.waitForEnd(timeout: .seconds(5))) != true {
      _ = try? process.send(signal: SIGKILL)
    }
    _ = try? process.wait()
    endPrograms()
  }

  /// Kills every process with the daemon's socket in its environment.
  private func endPrograms() {
    for pid in (try? proc.pids()) ?? [] where pid != getpid() {
      guard (try? proc.environmentValue(pid, of: "TASKSCHEDD_SOCKET")) == socketPath,
        let pidfd = (try? PIDFD.open(pid)) ?? nil,
        (try? proc.environmentValue(pid, of: "TASKSCHEDD_SOCKET")) == socketPath
      else { continue }
      _ = try? pidfd.send(signal: SIGKILL)
    }
  }

  /// The log of the daemon so far, with the output of the programs that it launched.
  var logged: String {
    (try? FileDescriptor.open(reading: folder.file("log")).readToEnd())
      .map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  // MARK: Calls

  func connect() throws -> Connection { try Connection.connect(to: SocketPath(socketPath)) }

  /// Calls a method of the control interface on a new connection.
  @discardableResult
  func call<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input
  ) throws -> Method.Output {
    try connect().call(method, input, timeout: deadline)
  }

  func application(_ id: String, owner: Int? = nil) throws -> ControlInterface.Application {
    try call(ControlInterface.GetApplication.self, .init(application: id, owner: owner)).application
  }

  func applications() throws -> [ControlInterface.Application] {
    try call(ControlInterface.ListApplications.self, .init()).applications
  }

  func sendToBackground(_ id: String) throws {
    try call(ControlInterface.SendToBackground.self, .init(application: id))
  }

  func activate(_ id: String) throws {
    try call(ControlInterface.Activate.self, .init(application: id))
  }

  @discardableResult
  func terminate(_ id: String) throws -> ControlInterface.End {
    try unwrap(call(ControlInterface.Terminate.self, .init(application: id)).end)
  }

  @discardableResult
  func launch(_ id: String, background: Bool? = nil) throws -> Int32 {
    Int32(
      try call(
        ControlInterface.Launch.self, .init(application: id, background: background)
      ).pid)
  }

  /// Adopts a process, as `taskctl run` does.
  @discardableResult
  func adopt(
    _ id: String, _ process: TestProcess, background: Bool? = nil, task: String? = nil,
    modes: [String]? = nil, marker: String? = nil
  ) throws -> Int {
    try connect().call(
      ControlInterface.Adopt.self,
      .init(
        application: id, processFileDescriptor: FileDescriptorIndex(0), background: background,
        backgroundTask: task, backgroundModes: modes, marker: marker),
      fileDescriptors: [process.pidfd.rawValue], timeout: deadline
    ).instance
  }

  // MARK: Programs

  /// Returns an environment with the daemon's socket. With TASKSCHEDD_SOCKET, a program finds the
  /// daemon, and the fixture finds the program.
  func environment(marker: String? = nil) -> [String] {
    ["PATH=/usr/bin:/bin", "TASKSCHEDD_SOCKET=\(socketPath)"]
      + (marker.map { ["TASKSCHEDD_INSTANCE=\($0)"] } ?? [])
  }

  func shell(_ script: String, uid: UInt32? = nil) throws -> TestProcess {
    try TestProcess.shell(script) { configure(&$0, uid: uid) }
  }

  /// Starts a Python program with the daemon's socket in its environment.
  ///
  /// - Parameters:
  /// - gid: the primary group of the user `uid`; nil for the group whose id equals `uid`.
  /// - groups: the supplementary groups of the user `uid`.
  func python(
    _ program: String, _ arguments: [String] = [], uid: UInt32? = nil, gid: UInt32? = nil,
    groups: [UInt32] = [], marker: String? = nil
  ) throws -> TestProcess {
    try TestProcess.python(program, arguments) {
      configure(&$0, uid: uid, gid: gid, groups: groups, marker: marker)
    }
  }

  private func configure(
    _ request: inout SpawnRequest, uid: UInt32?, gid: UInt32? = nil, groups: [UInt32] = [],
    marker: String? = nil
  ) {
    request.environment = environment(marker: marker).map { SystemString($0) }
    if let uid { request.identity = .init(uid: uid, gid: gid ?? uid, groups: groups) }
  }

  // MARK: Processes

  /// Returns the leaders of the running programs that the daemon or the test has started. A leader
  /// has the daemon's socket in its environment, and its parent does not.
  func programs() throws -> [Int32] {
    let all = try proc.pids().filter { pid in
      guard pid != getpid(), pid != process.pid,
        (try? proc.environmentValue(pid, of: "TASKSCHEDD_SOCKET")) == socketPath,
        let state = try? proc.stat(pid)?.state
      else { return false }
      return !state.hasEnded
    }
    return try all.filter { pid in try proc.stat(pid).map { !all.contains($0.parent) } ?? false }
  }

  func state(of pid: Int32) throws -> ProcessState? { try proc.stat(pid)?.state }

  /// Returns the number of the daemon's open file descriptors.
  func descriptorCount() throws -> Int {
    guard let folder = opendir("/proc/\(process.pid)/fd") else {
      throw SystemError(call: "opendir", errno: errno)
    }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    // Without the entries `.` and `..`.
    return count - 2
  }
}
