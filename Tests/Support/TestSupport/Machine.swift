import Glibc
import LinuxSystem

/// An isolated machine: a real systemd as PID 1 in separate namespaces and a separate cgroup, on an
/// overlay of this machine's root. The machine ends when the value is destroyed, or when the test's
/// process ends in any way (see `Tests/Support/machine/guardian`).
public final class Machine: Sendable {
  /// The pid of the machine's PID 1 in the namespace of the test.
  public let pid: Int32
  /// The machine's cgroup in the namespace of the test.
  public let group: ControlGroup
  /// The process that boots the machine. It removes the machine when its standard input ends.
  private let guardian: PIDFD
  private let guardianInput: Int32

  /// The output of a program, and how it ended.
  public struct Output: Sendable {
    public let code: Int32
    public let text: String
    public var lines: [String] { text.split(separator: "\n").map(String.init) }
  }

  private static let scripts =
    "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/machine"
  /// The program that boots a machine and removes it afterwards.
  public static let guardianPath = scripts + "/guardian"

  /// The reason why this machine cannot run an isolated machine; nil if it can.
  public static let missing: String? = {
    if geteuid() != 0 { return "only root can boot a systemd in namespaces" }
    if let missing = TestControlGroup.missing { return missing }
    for path in ["/lib/systemd/systemd", "/usr/bin/python3", "/usr/bin/dbus-daemon"]
    where access(path, X_OK) != 0 {
      return "there is no \(path)"
    }
    for tool in ["unshare", "nsenter", "setpriv", "pivot_root"]
    where SpawnRequest.searchPath(tool, in: searchPath) == nil {
      return "there is no program \(tool)"
    }
    return namespaceRefusal()
  }()

  /// Boots the machine.
  ///
  /// - Parameter tree: the directory whose files are laid over this machine's root.
  /// - Throws: a ``MachineError`` with a sentence about the failure.
  public init(tree: String) throws {
    let (reading, writing) = try FileDescriptor.pipe().ends()
    let input = FileDescriptor(taking: writing)
    let childsInput = FileDescriptor(taking: reading)
    let (outputReading, outputWriting) = try FileDescriptor.pipe().ends()
    let output = FileDescriptor(taking: outputReading)
    let childsOutput = FileDescriptor(taking: outputWriting)
    var request = SpawnRequest(
      path: Self.guardianPath,
      arguments: ["guardian", SystemString(try Self.parent().path), SystemString(tree)],
      environment: [SystemString("PATH=\(searchPath)")])
    request.stdio = (childsInput.rawValue, childsOutput.rawValue, nil)
    // In a new session, the machine receives no signals from the terminal of the test.
    request.newSession = true
    guardian = try HeldChild.spawn(request).releaseAndWaitForExec()
    childsOutput.close()
    let words = try Self.line(output).split(separator: " ").map(String.init)
    guard words.count == 3, words[0] == "up", let pid = Int32(words[1]) else {
      throw MachineError(sentence: words.joined(separator: " "))
    }
    self.pid = pid
    group = ControlGroup(path: words[2])
    guardianInput = input.take()
  }

  deinit {
    close(guardianInput)
    _ = try? guardian.wait()
  }

  /// Returns the cgroup below which machines are created.
  public static func parent() throws -> ControlGroup {
    try unwrap(ControlGroup.own(in: ProcFS()))
  }

  /// Starts a program in the machine, as root or another user. `readLine` returns its output.
  public func start(_ arguments: [String], as user: UInt32? = nil) throws -> TestProcess {
    var command = ["nsenter", "-t", "\(pid)", "-a", "--"]
    if let user {
      command += [
        "setpriv", "--reuid=\(user)", "--regid=\(user)", "--init-groups", "env",
        "XDG_RUNTIME_DIR=/run/user/\(user)", "HOME=/home/\(user)",
      ]
    }
    command += arguments
    return try TestProcess("/usr/bin/nsenter", command) { request in
      request.environment = [
        SystemString("PATH=\(searchPath)"), "LANG=C.UTF-8", "SYSTEMD_PAGER=cat",
      ]
      request.stdio.error = request.stdio.output
    }
  }

  /// Runs a program in the machine to its end.
  @discardableResult
  public func run(_ arguments: String..., as user: UInt32? = nil) throws -> Output {
    try finish(start(arguments, as: user))
  }

  /// Runs a program that must succeed.
  ///
  /// - Throws: a ``MachineError`` with the output if the program fails.
  @discardableResult
  public func must(_ arguments: String..., as user: UInt32? = nil) throws -> Output {
    let output = try finish(start(arguments, as: user))
    if output.code == 0 { return output }
    throw MachineError(
      sentence: "\(arguments.joined(separator: " ")) ended with \(output.code): \(output.text)")
  }

  private func finish(_ process: TestProcess) throws -> Output {
    var text = ""
    while let line = try process.readLine() { text += line + "\n" }
    return Output(code: try process.waitForExit()?.shellCode ?? -1, text: text)
  }

  private static func line(_ output: borrowing FileDescriptor) throws -> String {
    var bytes: [UInt8] = []
    while true {
      try waitFor(POLLIN, on: output.rawValue)
      var byte: UInt8 = 0
      guard try withUnsafeMutableBytes(of: &byte, { try output.read(into: $0) }) == 1,
        byte != UInt8(ascii: "\n")
      else { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
  }

  /// Returns the reason why this machine cannot create the namespaces; nil if it can. Containers
  /// often forbid root to mount, so the function tries the first mounts of a boot.
  private static func namespaceRefusal() -> String? {
    let script = "mount -t tmpfs tmpfs /tmp && mkdir /tmp/u /tmp/w /tmp/m && "
      + "mount -t overlay overlay -o lowerdir=/,upperdir=/tmp/u,workdir=/tmp/w /tmp/m && "
      + "mount -t cgroup2 cgroup2 /tmp/m/mnt"
    guard
      let process = try? TestProcess.shell(
        "unshare --pid --fork --mount --cgroup --ipc --uts --net --propagation private "
          + "sh -c '\(script)' 2>&1")
    else { return "unshare cannot be run" }
    var said: [String] = []
    while let line = try? process.readLine() { said.append(line) }
    if (try? process.waitForExit()) == .exited(code: 0) { return nil }
    return "root may not create namespaces and mounts here: \(said.joined(separator: " "))"
  }
}

private let searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/// A failure in a machine, as a sentence.
public struct MachineError: Error, CustomStringConvertible {
  public let sentence: String
  public var description: String { sentence }
  public init(sentence: String) { self.sentence = sentence }
}
