import Glibc
import TaskSchedulerCore
import TaskSchedulerDaemon
import Testing

@Suite("Manifests")
struct ManifestConfigurationTests {
  private static let etc = "/etc/taskschedd/applications"
  private static let share = "/usr/share/taskschedd/applications"
  private static let id = ApplicationID("org.example.mail")

  @Test("A manifest with every key is read completely")
  func whole() throws {
    let fixture = ConfigurationFixture()
    fixture.write(
      Self.etc + "/org.example.mail.toml",
      """
      id = "org.example.mail"
      name = "Mail"
      command = ["/usr/bin/mail", "", "--check"]
      working-directory = "/var/lib/mail"
      background-modes = ["voip", "audio"]
      location = ["regions", "updates", "significant-changes"]
      location-purpose = "Reminds you of mail “at the office”."
      multitasking = false
      user = "daemon"
      seat = "seat-1"
      suspend-mechanism = "signal"
      stop-signal = "SIGQUIT"
      [environment]
      LANG = "C.UTF-8"
      _EMPTY = ""
      """)
    let (configuration, problems) = Configuration.load(from: fixture.system)
    #expect(problems == [])
    let id = try #require(Self.id)
    let manifest = try #require(configuration.manifests[id])
    #expect(manifest.displayName == "Mail")
    #expect(manifest.command == ["/usr/bin/mail", "", "--check"])
    #expect(manifest.workingDirectory == "/var/lib/mail")
    #expect(manifest.backgroundModes == [.audio, .voip])
    #expect(manifest.locationServices == [.updates, .significantChanges, .regions])
    #expect(manifest.locationPurpose == "Reminds you of mail “at the office”.")
    #expect(!manifest.multitasking)
    #expect(manifest.account?.name == "daemon")
    #expect(manifest.seat == SeatID("seat-1"))
    #expect(manifest.suspendMechanism == .signal)
    #expect(manifest.stopSignal == Signal(3))
    #expect(manifest.environment == ["LANG": "C.UTF-8", "_EMPTY": ""])
    let daemonUID = try #require(getpwnam("daemon")).pointee.pw_uid
    #expect(
      manifest.manifest(daemonUser: UserID(0))
        == Manifest(
          id: id, displayName: "Mail", owner: UserID(daemonUID), namesUser: true,
          backgroundModes: [.audio, .voip],
          locationServices: [.updates, .significantChanges, .regions], multitasking: false,
          seat: SeatID("seat-1"), namesSeat: true, stopSignal: Signal(3)))
  }

  @Test("An application whose manifest has only the id cannot be launched")
  func shortest() throws {
    let fixture = ConfigurationFixture()
    fixture.write(Self.etc + "/org.example.mail.toml", "id = \"org.example.mail\"")
    let (configuration, problems) = Configuration.load(from: fixture.system)
    #expect(problems == [])
    let id = try #require(Self.id)
    #expect(
      configuration.manifests[id]?.manifest(daemonUser: UserID(7))
        == Manifest(id: id, owner: UserID(7), isLaunchable: false, seat: SeatID("user-7")))
  }

  private static let header = "id = \"org.example.mail\"\n"
  private static let mistakes: [Mistake] = [
    Mistake("name = \"Mail\"", ": id: is missing; write id = \"org.example.mail\""),
    Mistake(
      "id = \"org.example.other\"",
      ":1: id: \"org.example.other\" differs from the name of the file; "
        + "write \"org.example.mail\" or rename the file"),
    Mistake(
      "id = 1", ":1: id: is an integer, not a string; write it as \"org.example.mail\""),
    Mistake(
      header + "backround-modes = []",
      ":2: backround-modes: unknown key; did you mean background-modes?"),
    Mistake(
      header + "colour = \"red\"",
      ":2: colour: unknown key; a manifest may have id, name, command, environment, "
        + "multitasking, user, seat, location, working-directory, background-modes, "
        + "location-purpose, suspend-mechanism, stop-signal"),
    Mistake(
      header + "name = \"a\\nb\"",
      ":2: name: \"a\\nb\" is not a valid name; "
        + "write 1 to 256 bytes without newlines or other control characters"),
    Mistake(
      header + "command = \"/usr/bin/mail --check\"",
      ":2: command: is a string, not an array; write the program and each argument as separate "
        + "strings: [\"/usr/bin/program\", \"argument\"]"),
    Mistake(
      header + "command = [\n  \"/usr/bin/mail\",\n  3,\n  true,\n]",
      ":4: command[1]: is an integer, not a string; put it in quotes",
      ":5: command[2]: is true or false, not a string; put it in quotes"),
    Mistake(
      header + "command = []",
      ":2: command: is empty; write [\"/usr/bin/program\", \"argument\"], "
        + "or omit the key if the daemon need not launch the application"),
    Mistake(
      header + "command = [\"bin/mail\"]",
      ":2: command[0]: \"bin/mail\" is not a program; "
        + "write an absolute path, or a name to find in PATH"),
    Mistake(
      header + "environment = [\"A=b\"]",
      ":2: environment: is an array, not a table; write { NAME = \"value\" }, "
        + "or [environment] followed by one line for each variable"),
    Mistake(
      header + "[environment]\n\"A B\" = \"x\"\n1A = \"x\"\nTASKSCHEDD_ID = \"x\"\nN = 1",
      ":3: environment.\"A B\": is not the name of a variable; use letters, "
          + "digits and _, not starting with a digit",
      ":4: environment.1A: is not the name of a variable; use letters, "
          + "digits and _, not starting with a digit",
      ":5: environment.TASKSCHEDD_ID: the prefix TASKSCHEDD_ is reserved for the daemon",
      ":6: environment.N: is an integer, not a string; put it in quotes"),
    Mistake(
      header + "working-directory = \"mail\"",
      ":2: working-directory: \"mail\" is not an absolute path; "
        + "write one, such as \"/var/lib/mail\""),
    Mistake(
      header + "background-modes = [\"audio\", \"viop\", \"audio\"]",
      ":2: background-modes[1]: \"viop\" is not one of \"audio\", \"location\", \"voip\"; "
        + "did you mean \"voip\"?",
      ":2: background-modes[2]: \"audio\" is listed twice; remove one"),
    Mistake(
      header + "background-modes = \"audio\"",
      ":2: background-modes: is a string, not an array; "
        + "write some of audio, location, voip, such as [\"audio\"]"),
    Mistake(
      header + "location = [\"updates\", \"significantChanges\", \"updates\"]",
      ":2: location[1]: \"significantChanges\" is not one of \"updates\", "
        + "\"significant-changes\", \"regions\"; did you mean \"significant-changes\"?",
      ":2: location[2]: \"updates\" is listed twice; remove one"),
    Mistake(
      header + "location = true",
      ":2: location: is true or false, not an array; "
        + "write some of updates, significant-changes, regions, such as [\"updates\"]"),
    Mistake(
      header + "location-purpose = [\"Maps\"]",
      ":2: location-purpose: is an array, not a string; "
        + "write it as \"Finds the way to your destination.\""),
    Mistake(
      header + "location-purpose = \"\"",
      ":2: location-purpose: \"\" is not a valid purpose; write one line of 1 to 200 characters"),
    Mistake(
      header + "location-purpose = \"a\\nb\"",
      ":2: location-purpose: \"a\\nb\" is not a valid purpose; "
        + "write one line of 1 to 200 characters"),
    Mistake(
      header + "location-purpose = \"a\\u2028b\"",
      ":2: location-purpose: \"a\\u2028b\" is not a valid purpose; "
        + "write one line of 1 to 200 characters"),
    Mistake(
      header + "multitasking = \"no\"",
      ":2: multitasking: is a string; write true, or false to opt out, without quotes"),
    Mistake(
      header + "user = \"no-such-user-here\"",
      ":2: user: there is no user \"no-such-user-here\" on this machine; "
        + "create this user or name another"),
    Mistake(
      header + "seat = \"chair\"",
      ":2: seat: \"chair\" is not a seat; write \"seat\" followed by letters, digits, - or _, "
        + "such as \"seat0\" (loginctl list-seats)"),
    Mistake(
      header + "suspend-mechanism = \"stop\"",
      ":2: suspend-mechanism: \"stop\" is not one of \"auto\", \"signal\", \"freezer\""),
    Mistake(
      header + "name = \"a\"\nname = \"b\"",
      ":3: name: is a duplicate of line 2; remove one of the two"),
  ]

  @Test("A mistake is reported with file, line, key and what would be right", arguments: mistakes)
  func told(_ mistake: Mistake) {
    let fixture = ConfigurationFixture()
    let path = Self.etc + "/org.example.mail.toml"
    fixture.write(path, mistake.text)
    let (configuration, problems) = Configuration.load(from: fixture.system)
    #expect(problems.map(\.description) == mistake.expected.map { fixture.root + path + $0 })
    #expect(configuration == Configuration())
  }

  @Test(
    "A file with a name that is not an id is reported",
    arguments: ["mail", "org..mail", "org.example.ma il", "org.mail.", "a.ü"])
  func badName(_ name: String) {
    let fixture = ConfigurationFixture()
    fixture.write("\(Self.etc)/\(name).toml", "id = \"\(name)\"")
    let problems = Configuration.load(from: fixture.system).problems
    #expect(problems.count == 1)
    #expect(problems.first?.message.contains("use two or more labels of letters") == true)
  }

  @Test(
    """
    A manifest, an empty file or a link to /dev/null masks the manifest of the same name in a \
    directory of lower precedence
    """)
  func masks() throws {
    let fixture = ConfigurationFixture()
    for name in ["a", "b", "c", "d"] {
      fixture.write(
        "\(Self.share)/org.example.\(name).toml", "id = \"org.example.\(name)\"\nname = \"share\"")
    }
    fixture.write(Self.etc + "/org.example.a.toml", "id = \"org.example.a\"\nname = \"etc\"")
    fixture.write(Self.etc + "/org.example.b.toml", "")
    fixture.link(Self.etc + "/org.example.c.toml", to: "/dev/null")
    fixture.write(
      "/home/.local/share/taskschedd/applications/org.example.a.toml",
      "id = \"org.example.a\"\nname = \"data\"")
    fixture.write(
      "/home/.config/taskschedd/applications/org.example.d.toml",
      "id = \"org.example.d\"\nname = \"config\"")
    let (system, systemProblems) = Configuration.load(from: fixture.system)
    #expect(systemProblems == [])
    #expect(Self.names(system) == ["org.example.a etc", "org.example.d share"])
    let (user, userProblems) = Configuration.load(from: fixture.user)
    #expect(userProblems == [])
    #expect(Self.names(user) == ["org.example.a data", "org.example.d config"])
  }

  private static func names(_ configuration: Configuration) -> [String] {
    configuration.manifests.values.map { "\($0.id) \($0.displayName ?? "")" }.sorted()
  }

  @Test(
    """
    A user's daemon refuses manifests with `user` in the user's directories, and skips shared \
    ones
    """)
  func userKey() {
    let fixture = ConfigurationFixture()
    fixture.write(
      Self.etc + "/org.example.kiosk.toml", "id = \"org.example.kiosk\"\nuser = \"daemon\"")
    #expect(Configuration.load(from: fixture.user).configuration == Configuration())
    #expect(Configuration.load(from: fixture.user).problems == [])
    fixture.write(
      "/home/.config/taskschedd/applications/org.example.mail.toml",
      Self.header + "user = \"root\"")
    let (configuration, problems) = Configuration.load(from: fixture.user)
    #expect(configuration == Configuration())
    #expect(problems.map(\.line) == [2])
    #expect(problems.first?.message.hasPrefix("only the system's daemon runs") == true)
  }

  @Test("The key `location-purpose` takes 200 characters, and no more")
  func purpose() throws {
    let fixture = ConfigurationFixture()
    let path = Self.etc + "/org.example.mail.toml"
    let longest = String(repeating: "ü", count: 200)
    fixture.write(path, Self.header + "location-purpose = \"\(longest)\"")
    let (configuration, problems) = Configuration.load(from: fixture.system)
    #expect(problems == [])
    #expect(configuration.manifests[try #require(Self.id)]?.locationPurpose == longest)
    fixture.write(path, Self.header + "location-purpose = \"\(longest)x\"")
    #expect(fixture.systemProblems.count == 1)
  }

  @Test("The key `stop-signal` takes the name of a signal that asks a program to exit")
  func stopSignal() throws {
    let fixture = ConfigurationFixture()
    let path = Self.etc + "/org.example.mail.toml"
    fixture.write(path, Self.header + "stop-signal = \"SIGINT\"")
    let id = try #require(Self.id)
    let (configuration, problems) = Configuration.load(from: fixture.system)
    #expect(problems == [])
    #expect(configuration.manifests[id]?.stopSignal == Signal(name: "SIGINT"))
    let daemonUser = UserID(0)
    let manifest = configuration.manifests[id]?.manifest(daemonUser: daemonUser)
    #expect(manifest?.stopSignal == Signal(name: "SIGINT"))
  }

  @Test(
    "Any other value of `stop-signal` is refused with file, line and key",
    arguments: [
      ("\"SIGKILL\"", "\"SIGKILL\" is not a signal that asks a program to exit; write one of "),
      ("\"SIGSTOP\"", "\"SIGSTOP\" is not a signal that asks a program to exit; "),
      (
        "\"SIGTREM\"",
        "\"SIGTREM\" is not a signal that asks a program to exit; did you mean SIGTERM?"
      ),
      ("\"\"", "\"\" is not a signal"),
      ("15", "is an integer, not a string; write it as \"SIGINT\""),
    ])
  func otherStopSignal(_ value: String, _ message: String) {
    let fixture = ConfigurationFixture()
    let path = Self.etc + "/org.example.mail.toml"
    fixture.write(path, Self.header + "stop-signal = \(value)")
    #expect(fixture.systemProblems.count == 1)
    let problem = fixture.systemProblems.first ?? ""
    #expect(problem.hasPrefix("\(path):2: stop-signal: \(message)"), "\(problem)")
  }

  @Test("A manifest is refused if other users may write the file, its directory or a link's target")
  func writable() {
    let path = Self.etc + "/org.example.mail.toml"
    let reason =
      "who could run programs as other users; only root may have write access (chmod go-w)"
    let fixture = ConfigurationFixture()
    fixture.write(path, Self.header)
    fixture.chmod(path, 0o664)
    #expect(
      fixture.systemProblems == ["\(path): is writable by others (mode 664), \(reason)"])
    // The user's daemon allows write access of the user's group (umask 002), but not of other
    // users.
    #expect(Configuration.load(from: fixture.user).problems == [])
    fixture.chmod(path, 0o646)
    #expect(Configuration.load(from: fixture.user).problems.count == 1)
    fixture.chmod(path, 0o644)
    fixture.chmod(Self.etc, 0o777)
    #expect(
      fixture.systemProblems == ["\(Self.etc): is writable by others (mode 777), \(reason)"])
    fixture.chmod(Self.etc, 0o755)
    #expect(fixture.systemProblems == [])

    fixture.write("/open/target.toml", "id = \"org.example.linked\"")
    fixture.link(Self.etc + "/org.example.linked.toml", to: fixture.root + "/open/target.toml")
    fixture.chmod("/open", 0o757)
    let (configuration, problems) = Configuration.load(from: fixture.system)
    #expect(configuration.manifests.keys.map(\.name) == ["org.example.mail"])
    #expect(
      problems.map(\.message) == [
        "is a link to \(fixture.root)/open/target.toml, whose directory \(fixture.root)/open "
          + "is writable by others (mode 757), \(reason)"
      ])
  }

  @Test(
    "A manifest of another owner is refused",
    .enabled(if: getuid() == 0, "only root can change the owner of a file"))
  func foreignOwner() {
    let fixture = ConfigurationFixture()
    let path = Self.etc + "/org.example.mail.toml"
    fixture.write(path, Self.header)
    chown(fixture.root + path, 1234, 0)
    let (configuration, problems) = Configuration.load(from: fixture.system)
    #expect(configuration == Configuration())
    #expect(
      problems.map(\.message) == [
        "is owned by uid 1234, which could run programs as other users; "
          + "the owner must be root (chown)"
      ])
  }

  @Test(
    "A program's name is searched in the manifest's PATH, or else in the daemon's; a path is kept")
  func executable() throws {
    let fixture = ConfigurationFixture()
    fixture.write("/first/mail", "not executable")
    fixture.write("/second/mail", "#!/bin/sh")
    fixture.chmod("/second/mail", 0o755)
    fixture.makeFolder("/third/mail")
    var manifest = ApplicationManifest(id: try #require(Self.id), file: "f")
    #expect(manifest.executable(searchPath: "/bin") == nil)
    manifest.command = ["/no/such/program"]
    #expect(manifest.executable(searchPath: "/bin") == "/no/such/program")
    manifest.command = ["mail"]
    let root = fixture.root
    let searchPath = "relative::\(root)/third:\(root)/first:\(root)/second"
    #expect(manifest.executable(searchPath: searchPath) == "\(root)/second/mail")
    manifest.environment["PATH"] = "\(root)/first"
    #expect(manifest.executable(searchPath: searchPath) == nil)
  }
}

extension ConfigurationFixture {
  /// The problems of the system daemon's configuration, with paths below the root.
  fileprivate var systemProblems: [String] {
    Configuration.load(from: system).problems.map { String($0.description.dropFirst(root.count)) }
  }
}
