import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// A command and its output in a document. A line `...` of the output stands for any number of
/// lines.
private struct Sample {
  let document: String
  let command: String
  var lines: [Substring] = []

  /// Returns the samples of a Markdown document. They are indented by four spaces, and begin with
  /// `$ ` and the command.
  static func ofMarkdown(_ document: String) throws -> [Sample] {
    var samples: [Sample] = []
    var isOpen = false
    for line in try text(of: document) {
      if line.hasPrefix("    $ ") {
        samples.append(Sample(document: document, command: String(line.dropFirst(6))))
        isOpen = true
      } else if line.hasPrefix("    ") || line.isEmpty {
        if isOpen { samples[samples.count - 1].lines.append(line.dropFirst(4)) }
      } else {
        isOpen = false
      }
    }
    return samples
  }

  /// Returns the samples of a manual page. They are literal displays that begin with `$ ` and the
  /// command.
  static func ofManual(_ document: String) throws -> [Sample] {
    var samples: [Sample] = []
    var isOpen = false
    for line in try text(of: document) {
      if line.hasPrefix("$ ") {
        samples.append(Sample(document: document, command: String(line.dropFirst(2))))
        isOpen = true
      } else if line.hasPrefix(".Ed") {
        isOpen = false
      } else if isOpen {
        let isEscaped = line.hasPrefix("\\&")
        samples[samples.count - 1].lines.append(isEscaped ? line.dropFirst(2) : line)
      }
    }
    return samples
  }

  private static func text(of document: String) throws -> [Substring] {
    try Programs.text(of: document).split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// Returns whether an output matches the sample. A sample may break its lines at other places
  /// than the output.
  func matches(_ output: String) -> Bool {
    let skeleton = Self.skeleton(output)
    let shown = lines.map { Self.skeleton(String($0)) }
    guard shown.contains("...") else {
      return shown.filter { $0 != "" }.joined(separator: " ") == skeleton
    }
    var rest = skeleton[...]
    for line in shown where line != "..." && line != "" {
      guard let found = rest.firstRange(of: line) else { return false }
      rest = rest[found.upperBound...]
    }
    return true
  }

  /// Returns the text on one line, with placeholders for the parts that differ between runs or
  /// machines, such as times, sizes, process ids and the daemon's location.
  static func skeleton(_ text: String) -> String {
    var text = text
    text.replace(#/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [A-Z]+/#, with: "DATE")
    text.replace(#/\d\d:\d\d:\d\d\.\d{3}/#, with: "TIME")
    text.replace(#/\d+(\.\d+)? ?(us|ms|s|min|h)\b( \d+ ?(ms|s|min)\b)*/#, with: "SPAN")
    text.replace(#/\d+(\.\d+)? (B|KiB|MiB|GiB)\b/#, with: "SIZE")
    text.replace(#/\d+%/#, with: "PERCENT")
    text.replace(#/\S+\.toml:\d+/#, with: "FILE:LINE")
    text.replace(#/in the (system's daemon \(\S+\)|daemon at [^;]+)/#, with: "in DAEMON")
    text.replace(
      #/(not monitored; 'taskctl log' gives the reason|monitored: machine(, slice)?)/#,
      with: "monitored")
    text.replace(#/(pid |\.p|SPAN +)\d+\b/#, with: { "\($0.output.1)N" })
    return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}

@Suite("The outputs that documents show")
struct SampleOutputTests {
  private static let uploader = "org.example.uploader"
  private static let minimal = "org.example.minimal"

  /// The sample commands that this suite does not run.
  private static let others: Set<String> = [
    "taskctl run --id org.example.render render film.blend   # suspended in the background",
    "taskctl task --name backup rsync -a ~/ backup:home/     "
      + "# runs rsync in the background; the daemon kills it after BackgroundTime (10 min)",
    // These outputs need a machine that is short of memory, and a busy GPU.
    "taskctl why org.example.maps", "taskctl status org.example.sync",
    // The program of the example manifest is not installed.
    "taskctl launch org.example.mail",
    // This output needs the sessions of a desktop, which this test does not have.
    "taskctl status",
    // This command shows its list only on a terminal.
    "taskctl switcher",
    // These commands need a media player, which this test does not have.
    "taskctl remote play-pause", "taskctl remote seek -10",
    // These outputs need a GPS receiver, and applications of several users that use the location.
    "taskctl location", "taskctl location regions org.example.places",
  ]

  /// Runs each command in the state that the documents describe.
  private static func outputs() throws -> [String: String] {
    let daemon = try DaemonFixture(
      .init(
        policy: [("BackgroundTime", "2s"), ("ExpirationLead", "500ms")],
        manifests: [(minimal, "command = [\"/bin/sleep\", \"1000\"]")]))
    var outputs: [String: String] = [:]
    func run(_ command: String) throws {
      let arguments = command.split(separator: " ").dropFirst().map(String.init)
      outputs[command] = try daemon.startTaskctl(arguments).remainingText()
    }
    let monitor = try Monitor(daemon)
    let shown = try daemon.startTaskctl(["monitor"])
    let program = try TestProcess(
      Programs.path(of: "uploader-example"), ["uploader-example", daemon.folder.file("uploaded")]
    ) { $0.environment = daemon.environment().map { SystemString($0) } }
    try monitor.transition(uploader, to: .active)
    while try !program.nextLine().hasSuffix("] active") {}
    try run("taskctl memory")
    try run("taskctl background \(uploader)")
    try monitor.transition(uploader, to: .suspended)
    while outputs["taskctl background \(uploader)"]?.contains("task 1 ends") == false {
      outputs["taskctl background \(uploader)"]? += try program.nextLine() + "\n"
    }
    for command in ["list", "why \(uploader)", "status \(uploader)", "warn-memory --dry-run"] {
      try run("taskctl \(command)")
    }
    try run("taskctl launch \(minimal)")
    try run("taskctl terminate \(minimal)")
    try run("taskctl config --changed")
    // Removes the settings that only the tests change. Also removes `operator-group`, because the
    // test machine may not have that group.
    outputs["taskctl config --changed"] = outputs["taskctl config --changed"]?
      .split(separator: "\n")
      .filter { !$0.contains(#/^policy.(Memory|Expiration)|operator-group/#) }
      .joined(separator: "\n")
    try run("taskctl reload")
    try run("taskctl foreground org.example.uploadr")
    try run("taskctl task --name spin sleep 30")
    _ = try shown.pidfd.send(signal: SIGTERM)
    outputs["taskctl monitor"] = try shown.remainingText()
    outputs["taskschedd --check"] = try TestProcess(
      Programs.path(of: "taskschedd"),
      [
        "taskschedd", "--check", "--config", daemon.folder.file("taskschedd.toml"), "--manifests",
        daemon.folder.file("manifests"),
      ]
    ).remainingText()
    return outputs
  }

  @Test("A document shows what the command prints")
  func samples() throws {
    let pages = try Directory.names(path: Programs.root + "/docs").filter { $0.hasSuffix(".md") }
    let manuals = try Directory.names(path: Programs.root + "/man")
    let samples =
      try (["README.md"] + pages.map { "docs/\($0)" }).flatMap { try Sample.ofMarkdown($0) }
      + manuals.flatMap { try Sample.ofManual("man/\($0)") }
    let outputs = try Self.outputs().merging(Self.phoneOutputs()) { first, _ in first }
    var shown: Set<String> = []
    for sample in samples where !Self.others.contains(sample.command) {
      shown.insert(sample.command)
      let output = try #require(outputs[sample.command], "\(sample.document): \(sample.command)")
      #expect(
        sample.matches(output),
        "\(sample.document): $ \(sample.command)\n\(output)\(Sample.skeleton(output))")
    }
    #expect(shown.subtracting(outputs.keys).isEmpty && shown.count > 10)
  }

  /// Returns the outputs about the example phone: while it is suspended, and after its process was
  /// killed.
  private static func phoneOutputs() throws -> [String: String] {
    let id = "org.example.voip"
    let path = Programs.path(of: "voip-example")
    let server = try TestProcess(path, ["voip-example", "server", "0"])
    let port = String(try server.nextLine().split(separator: " ").last!)
    let daemon = try DaemonFixture(
      .init(
        policy: [("RelaunchDelay", "1h"), ("RelaunchDelayMax", "1h")],
        manifests: [
          (
            id,
            """
            name = "Phone"
            background-modes = ["voip"]
            command = ["\(path)", "phone", "\(port)", "ada"]
            """
          )
        ]))
    try waitUntil("the phone is suspended") { try daemon.application(id).state == .suspended }
    let status = try daemon.taskctl("status", id).text
    let monitor = try Monitor(daemon)
    kill(Int32(try #require(try daemon.application(id).instance).pid), SIGKILL)
    try monitor.next(.relaunchPlanned, of: id)
    return [
      "taskctl status \(id)": status,
      "kill -9 10344; taskctl status \(id)": try daemon.taskctl("status", id).text,
    ]
  }
}
