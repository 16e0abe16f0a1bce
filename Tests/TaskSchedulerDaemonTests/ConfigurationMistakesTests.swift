import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerDaemon
import Testing

/// The text of a file with a mistake, and the problems that the daemon prints after the file's
/// path.
struct Mistake: Sendable, CustomTestStringConvertible {
  var text: String
  var expected: [String]

  init(_ text: String, _ expected: String...) {
    self.text = text
    self.expected = expected
  }

  var testDescription: String { text.split(separator: "\n").last.map(String.init) ?? text }
}

@Suite("Mistakes in taskschedd.toml")
struct ConfigurationMistakesTests {
  private static let mistakes: [Mistake] = [
    Mistake(
      "\n\n[policy]\nCallbackTimeout = \"6 parsecs\"",
      ":4: policy.CallbackTimeout: \"6 parsecs\" is not a time span; "
        + "write one such as \"6s\" or \"1min 30s\" (systemd.time(7))"),
    Mistake(
      "policy.BackgroundTime = \"infinity\"",
      ":1: policy.BackgroundTime: \"infinity\" is not allowed; use a time span from 50ms to 1d"),
    Mistake(
      "[policy]\nCallbackTimeout = \"2h\"",
      ":2: policy.CallbackTimeout: 2h is out of range; use a value from 10ms to 1h"),
    Mistake(
      "[policy]\nCallbackTimeout = -1",
      ":2: policy.CallbackTimeout: \"-1\" is not a time span; "
        + "write one such as \"6s\" or \"1min 30s\" (systemd.time(7))"),
    Mistake(
      "[policy]\nCallbackTimeout = nan",
      ":2: policy.CallbackTimeout: \"nan\" is not a time span; "
        + "write one such as \"6s\" or \"1min 30s\" (systemd.time(7))"),
    Mistake(
      "[policy]\nCallbackTimeout = [\"6s\"]",
      ":2: policy.CallbackTimeout: is an array, not a time span; "
        + "write one such as \"6s\" (systemd.time(7))"),
    Mistake(
      "[policy]\nCallbackTimeout = 2020-01-01",
      ":2: column 19: invalid TOML: expected a number, true or false, or text in quotes"),
    Mistake(
      "[policy]\nMaxTasksPerApplication = 0",
      ":2: policy.MaxTasksPerApplication: 0 is out of range; use a value from 1 to 1000000"),
    Mistake(
      "[policy]\nMaxTasksPerApplication = \"many\"",
      ":2: policy.MaxTasksPerApplication: is a string, not an integer; "
        + "use a number without quotes, from 1 to 1000000"),
    Mistake(
      "[policy]\nMaxTasksPerApplication = 1.5",
      ":2: policy.MaxTasksPerApplication: is a number with a fraction, not an integer; "
        + "use a number without quotes, from 1 to 1000000"),
    Mistake(
      "[policy]\nMaxQueuedBytesPerConnection = \"1MiB\"",
      ":2: policy.MaxQueuedBytesPerConnection: \"1MiB\" is not a number of bytes; "
        + "write one such as 65536, \"64K\" or \"1M\""),
    Mistake(
      "[policy]\nMaxQueuedBytesPerConnection = 1",
      ":2: policy.MaxQueuedBytesPerConnection: 1 is out of range; use a value from 4K to 1G"),
    Mistake(
      "multitasking-supported = \"yes\"",
      ":1: multitasking-supported: is a string; write true or false, without quotes"),
    Mistake(
      "suspend-mechanism = \"freezr\"",
      ":1: suspend-mechanism: \"freezr\" is not one of \"auto\", \"signal\", \"freezer\"; "
        + "did you mean \"freezer\"?"),
    Mistake(
      "suspend-mechanism = false",
      ":1: suspend-mechanism: is true or false, not a string; "
        + "write one of \"auto\", \"signal\", \"freezer\""),
    Mistake(
      "operator-group = \"two words\"",
      ":1: operator-group: \"two words\" is not the name of a group; use up to 31 letters, "
        + "digits, - and _, starting with a letter or _, or \"\" for none"),
    Mistake(
      "operator-group = 7",
      ":1: operator-group: is an integer, not a string; write the name of a group, "
        + "or \"\" for none"),
    Mistake(
      "[policy]\nCallApplication = \"phone\"",
      ":2: policy.CallApplication: \"phone\" is not the id of an application; "
        + "write one such as \"org.example.phone\", or \"\" for none"),
    Mistake(
      "[policy]\nCallApplication = true",
      ":2: policy.CallApplication: is true or false, not a string; "
        + "write one such as \"org.example.phone\", or \"\" for none"),
    Mistake(
      "[policy]\nCalbackTimeout = \"6s\"",
      ":2: policy.CalbackTimeout: unknown setting; did you mean CallbackTimeout?"),
    Mistake(
      "[policy]\ncallback-timeout = \"6s\"",
      ":2: policy.callback-timeout: unknown setting; did you mean CallbackTimeout?"),
    Mistake(
      "loglevel = \"info\"", ":1: loglevel: unknown setting; did you mean log-level?"),
    Mistake(
      "CallbackTimeout = \"6s\"",
      ":1: CallbackTimeout: unknown setting here; move it to [policy]"),
    Mistake(
      "[policy]\nlog-level = \"info\"",
      ":2: policy.log-level: unknown setting here; "
        + "move it to the top of the file, above any [table]"),
    Mistake(
      "[polcy]\nCallbackTimeout = \"6s\"",
      ":1: polcy: unknown setting; did you mean policy?"),
    Mistake(
      "CalbackTimeout = 6",
      ":1: CalbackTimeout: unknown setting; did you mean policy.CallbackTimeout?"),
    Mistake(
      "\"\\n\" = 6",
      ":1: \"\\n\": unknown setting; 'taskctl config' lists all settings"),
    Mistake(
      "policy = 3",
      ":1: policy: is an integer, not a table; "
        + "write [policy] on a line of its own, followed by its settings"),
    Mistake(
      "[[policy]]\nCallbackTimeout = 6",
      ":1: policy: is an array, not a table; "
        + "write [policy] on a line of its own, followed by its settings"),
    Mistake(
      "[policy]\nBackgroundTime = \"3s\"\n",
      ":2: policy.BackgroundTime: ExpirationLead must be shorter than BackgroundTime; "
        + "BackgroundTime is 3s, ExpirationLead is 5s"),
    Mistake(
      "[policy]\nLaunchTime = 3\n\nLaunchTime = 4",
      ":4: policy.LaunchTime: is a duplicate of line 2; remove one of the two"),
    Mistake(
      "[policy]\n[policy]",
      ":2: policy: is a duplicate of line 1; remove one of the two"),
    Mistake(
      "log-level = \"info\\u0000\"", ":1: the string contains an escaped NUL; remove it"),
    Mistake("a = 1\nb = \u{0}", ":2: contains a NUL byte; the file must be UTF-8 text"),
  ]

  @Test("A mistake is reported with file, line, key and what would be right", arguments: mistakes)
  func told(_ mistake: Mistake) {
    let fixture = ConfigurationFixture()
    let path = "/etc/taskschedd/taskschedd.toml"
    fixture.write(path, mistake.text)
    let (configuration, problems) = Configuration.load(from: fixture.system)
    #expect(problems.map(\.description) == mistake.expected.map { fixture.root + path + $0 })
    // A refused setting changes nothing. If two settings contradict each other, both stay in the
    // configuration, because the daemon compares them only after it has read all files.
    if !mistake.text.contains("BackgroundTime = \"3s\"") {
      #expect(configuration.options == DaemonOptions())
      #expect(configuration.policy == Policy())
      #expect(configuration.sources == [:])
    }
  }

  @Test("Invalid TOML is reported with line and column")
  func syntax() {
    let fixture = ConfigurationFixture()
    let text = "log-level = \"info\"\n[policy\nLaunchTime = 3"
    fixture.write("/etc/taskschedd/taskschedd.toml", text)
    let (configuration, problems) = Configuration.load(from: fixture.system)
    #expect(configuration == Configuration())
    #expect(problems.count == 1)
    #expect(problems.first?.file == fixture.root + "/etc/taskschedd/taskschedd.toml")
    #expect(problems.first?.line == 2)
    #expect(problems.first?.message.hasPrefix("column 8: invalid TOML: expected ]") == true)
  }

  @Test("All mistakes of all files are reported together, in the order of the files and lines")
  func allAtOnce() {
    let fixture = ConfigurationFixture()
    fixture.write("/usr/share/taskschedd/taskschedd.toml", "nonsense-key = 1\nlog-level = 3")
    fixture.write("/etc/taskschedd/taskschedd.toml", "a = ")
    fixture.write(
      "/etc/taskschedd/taskschedd.toml.d/10.toml",
      "[policy]\nLaunchTime = 0\nTerminateTimeout = []")
    fixture.write("/etc/taskschedd/applications/org.example.a.toml", "id = 3")
    let problems = Configuration.load(from: fixture.system).problems
    let places = problems.map {
      "\($0.file.dropFirst(fixture.root.count)):\($0.line ?? 0) \($0.key ?? "")"
    }
    #expect(
      places == [
        "/usr/share/taskschedd/taskschedd.toml:1 nonsense-key",
        "/usr/share/taskschedd/taskschedd.toml:2 log-level",
        "/etc/taskschedd/taskschedd.toml:1 ",
        "/etc/taskschedd/taskschedd.toml.d/10.toml:2 policy.LaunchTime",
        "/etc/taskschedd/taskschedd.toml.d/10.toml:3 policy.TerminateTimeout",
        "/etc/taskschedd/applications/org.example.a.toml:1 id",
      ])
  }

  @Test("A refused setting is not also reported as a contradiction of another setting")
  func refusedRelation() {
    let text = "[policy]\nExpirationLead = \"x\"\nBackgroundTime = \"1s\""
    let problems = Configuration.parse(Array(text.utf8), file: "f").problems
    #expect(problems.map(\.key) == ["policy.ExpirationLead"])
  }

  @Test("Bytes that are not UTF-8 are reported with their line")
  func encoding() {
    let bytes = Array("log-level = \"info\"\n# caf".utf8) + [0xE9, 0x0A]
    let (configuration, problems) = Configuration.parse(bytes, file: "f")
    #expect(problems.map(\.description) == ["f:2: is not UTF-8; save the file in that encoding"])
    #expect(configuration == Configuration())
  }

  @Test("A file of more than 1 MiB is not read")
  func huge() {
    let fixture = ConfigurationFixture()
    let path = "/etc/taskschedd/taskschedd.toml"
    fixture.write(path, bytes: Array(repeating: UInt8(ascii: "\n"), count: (1 << 20) + 1))
    #expect(
      Configuration.load(from: fixture.system).problems.map(\.description) == [
        "\(fixture.root)\(path): has more than 1M bytes, the maximum"
      ])
    fixture.write(path, bytes: Array(repeating: UInt8(ascii: "\n"), count: 1 << 20))
    #expect(Configuration.load(from: fixture.system).problems == [])
  }

  @Test(
    """
    Files of the wrong kind are reported: a directory, a dangling link, a file that should be a \
    directory
    """)
  func wrongKinds() {
    let fixture = ConfigurationFixture()
    fixture.makeFolder("/etc/taskschedd/taskschedd.toml")
    fixture.link("/usr/share/taskschedd/taskschedd.toml", to: "nowhere")
    fixture.write("/etc/taskschedd/taskschedd.toml.d", "x")
    let problems = Configuration.load(from: fixture.system).problems
    #expect(
      problems.map { String($0.description.dropFirst(fixture.root.count)) } == [
        "/usr/share/taskschedd/taskschedd.toml: is a dangling symbolic link; "
          + "repair or remove it, or link it to /dev/null to mask it",
        "/etc/taskschedd/taskschedd.toml: is a directory; it must be a regular file",
        "/etc/taskschedd/taskschedd.toml.d: is not a directory; "
          + "it must be a directory of .toml files",
      ])
  }

  @Test(
    "The report of a mistake escapes terminal control characters",
    arguments: [
      (0x1B, "\\x1b"), (0x9B, "\\x9b"), (0x85, "\\x85"), (0x2028, "\\u2028"),
      (0x202E, "\\u202e"), (0x200B, "\\u200b"), (0xE0041, "\\U000e0041"),
    ])
  func controlCharacters(_ code: UInt32, _ shown: String) {
    let digits = String(code, radix: 16)
    let escape = "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
    let (_, problems) = Configuration.parse(
      Array("\"k\(escape)\" = 1\nlog-level = \"x\(escape)\"\n".utf8), file: "f")
    #expect(problems.map(\.line) == [1, 2])
    #expect(problems[0].description.contains("\"k\(shown)\""))
    #expect(problems[1].description.contains("\"x\(shown)\""))
  }

  @Test("A message of the TOML parser is escaped, too")
  func parserMessages() {
    let (_, problems) = Configuration.parse(Array("a = \"\\\u{FEFF}\"\n".utf8), file: "f")
    #expect(problems.count == 1)
    #expect(problems[0].message.contains("\\ufeff"))
  }

  @Test("The name of a file with a mistake is escaped, too")
  func fileNames() {
    let fixture = ConfigurationFixture()
    fixture.write("/etc/taskschedd/taskschedd.toml.d/a\u{1b}[2J\u{202e}\n.toml", "x = 1")
    let shown = Configuration.load(from: fixture.system).problems.map(\.description)
    #expect(shown.count == 1)
    #expect(shown.first?.contains(#"/a\x1b[2J\u202e\n.toml:1: x"#) == true, "\(shown)")
  }

  @Test("A pipe in the place of a settings file is reported, and does not block the daemon")
  func pipe() {
    let fixture = ConfigurationFixture()
    fixture.makePipe("/etc/taskschedd/taskschedd.toml")
    #expect(
      Configuration.load(from: fixture.system).problems.map(\.message) == [
        "is a pipe; it must be a regular file"
      ])
  }

  @Test("An unreadable file is reported with the kernel's reason")
  func unreadable() {
    let fixture = ConfigurationFixture()
    fixture.write("/etc/taskschedd/taskschedd.toml", "log-level = \"debug\"")
    let (configuration, problems) = SyscallFaults.$errnoFor.withValue({ call in
      call == "open" ? EACCES : nil
    }) {
      var paths = fixture.system
      paths.explicitFile = fixture.root + "/etc/taskschedd/taskschedd.toml"
      return Configuration.load(from: paths)
    }
    #expect(configuration == Configuration())
    #expect(problems.map(\.message) == ["could not be read: open: Permission denied (EACCES)"])
  }

  @Test("The file of --config must exist")
  func explicitMissing() {
    let fixture = ConfigurationFixture()
    var paths = fixture.system
    paths.explicitFile = fixture.root + "/my.toml"
    #expect(
      Configuration.load(from: paths).problems.map(\.description) == [
        "\(fixture.root)/my.toml: no such file; --config must name an existing file"
      ])
  }

  @Test(
    "Of tens of thousands of mistakes, the first hundred are reported, and the others are counted",
    arguments: ["[t%]\n", "k% = 1\n", "log-level = \"info\" # %\n"])
  func thousands(pattern: String) {
    let count = 60_000
    let text = (0..<count).map { pattern.replacing("%", with: "\($0)") }.joined()
    let start = ThreadClock.now()
    let problems = Configuration.parse(Array(text.utf8), file: "f").problems
    let time = ThreadClock.now() - start
    #expect(problems.count == 101)
    #expect(problems.first?.line == (pattern.hasPrefix("log") ? 2 : 1))
    let rest = count - 100 - (pattern.hasPrefix("log") ? 1 : 0)
    #expect(problems.last?.description == "f: and \(rest) more problems")
    // A comparison of each key with every setting would take 25 s of CPU time.
    #expect(time < 5_000_000_000)
  }

  @Test("Of a manifest's tens of thousands of mistakes, the first hundred are reported")
  func thousandsInManifest() {
    let fixture = ConfigurationFixture()
    let keys = (0..<60_000).map { "k\($0) = 1\n" }.joined()
    fixture.write("/etc/taskschedd/applications/org.example.mail.toml", keys)
    let problems = Configuration.load(from: fixture.system).problems
    #expect(problems.count == 101)
    #expect(problems.last?.message == "and 59901 more problems")
  }
}
