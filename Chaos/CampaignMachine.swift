import Glibc
import LinuxSystem
import TestSupport

/// An isolated machine with the installed project, the program of the campaign, and the users of
/// the clients.
struct CampaignMachine {
  private static let repository =
    "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/")

  let machine: Machine

  /// Unit settings that make a daemon forget everything: the next daemon gets neither the event log
  /// nor descriptors.
  private static let forgetting = """
    [Service]
    FileDescriptorStoreMax=0
    ExecStartPre=/usr/bin/find /run/taskschedd -mindepth 1 -not -type s -delete

    """

  /// - Parameters:
  ///   - previous: The source tree of the version that runs first, with its program in
  ///     `.build/release`; nil to run this version from the start. An upgrade installs the program
  ///     and the units of this version later.
  ///   - settings: The contents of taskschedd.toml.
  init(clients: Int, forgets: Bool = false, previous: String? = nil, settings: String) throws {
    if let missing = Machine.missing { throw Failure(sentence: missing) }
    let tree = TemporaryDirectory(mode: 0o755)
    defer { withExtendedLifetime(tree) {} }
    try Self.install(in: tree.path, previous: previous)
    let users = Settings.users.map { "u chaos\($0) \($0) \"A user\" / /bin/sh" }
    mkdir(tree.file("usr/lib/systemd/system/taskschedd.service.d"), 0o755)
    tree.write("usr/lib/sysusers.d/chaos.conf", users.joined(separator: "\n") + "\n")
    tree.write(
      "usr/lib/tmpfiles.d/chaos.conf",
      """
      d \(Settings.folder) 0777 root root -
      d \(Settings.session) 0700 \(Settings.users[0]) \(Settings.users[0]) -

      """)
    tree.write("etc/taskschedd/taskschedd.toml", settings)
    if forgets {
      tree.write("usr/lib/systemd/system/taskschedd.service.d/forget.conf", Self.forgetting)
    }
    for client in 0..<clients where Settings.Kind(client).isLaunched {
      let id = Settings.application(client)
      let user = Settings.user(of: client)
      tree.write(
        "etc/taskschedd/applications/\(id).toml",
        """
        id = "\(id)"
        command = ["/usr/bin/chaos", "client", "\(client)", "1"]
        user = "chaos\(user)"
        seat = "seat\(user)"

        """)
    }
    machine = try Machine(tree: tree.path)
    try machine.must("systemd-sysusers")
    try machine.must("systemd-tmpfiles", "--create", "taskschedd.conf", "chaos.conf")
    try machine.must("systemctl", "daemon-reload")
    try machine.must("systemctl", "start", "taskschedd.service")
  }

  /// Installs the programs of this build with `make install`, and also the program of the campaign.
  /// With `previous`, installs the daemon and the units of that version instead, and keeps the
  /// daemon and the units of this build for an upgrade.
  private static func install(in tree: String, previous: String?) throws {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    let program = String(
      decoding: path[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let folder = "/" + program.split(separator: "/").dropLast().joined(separator: "/")
    let script = """
      make --no-print-directory -C "$REPOSITORY" install BUILT="$BUILT" DESTDIR="$TREE" \
        PREFIX=/usr </dev/null 2>&1 && install -m 0755 "$BUILT/chaos" "$TREE/usr/bin/chaos" &&
      if [ -n "$PREVIOUS" ]; then
        mv "$TREE\(Settings.program)" "$TREE\(Settings.nextProgram)" &&
        mv "$TREE\(Settings.units)" "$TREE\(Settings.nextUnits)" &&
        install -d "$TREE\(Settings.units)" &&
        install -m 0755 "$PREVIOUS/.build/release/taskschedd" "$TREE\(Settings.program)" &&
        install -m 0644 "$PREVIOUS"/systemd/*.{service,socket} "$TREE\(Settings.units)"
      fi 2>&1
      """
    let make = try TestProcess.shell(script) { request in
      request.environment += [
        SystemString("REPOSITORY=\(repository)"), SystemString("BUILT=\(folder)"),
        SystemString("TREE=\(tree)"), SystemString("PREVIOUS=\(previous ?? "")"),
      ]
    }
    var text = ""
    while let line = try make.readLine(within: .seconds(60)) { text += line + "\n" }
    guard try make.waitForExit() == .exited(code: 0) else { throw Failure(sentence: text) }
  }

  /// Runs a command of this program as a service of the machine, and prints its output.
  ///
  /// - Returns: The exit code of the command.
  func run(_ command: [String]) throws -> Int32 {
    let campaign = try machine.start(
      [
        "systemd-run", "--wait", "--pipe", "--quiet", "--unit=chaos", "-p", "TasksMax=infinity",
        "-p", "LimitNOFILE=65536", "/usr/bin/chaos",
      ] + command)
    while let line = try campaign.readLine(within: .seconds(600)) {
      print(line)
      fflush(nil)
    }
    return try campaign.waitForExit()?.shellCode ?? 1
  }

  /// Writes the log of the machine. Each line begins with the time since boot.
  func writeLog(to file: LogFile) throws {
    let eventLog = try machine.start(["journalctl", "--no-pager", "-o", "short-monotonic"])
    while let line = try eventLog.readLine(within: .seconds(60)) { file.write(line) }
    _ = try eventLog.waitForExit()
  }
}
