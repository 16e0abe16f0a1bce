import Glibc
import TaskSchedulerWire
import Testing

@testable import taskctl

@Suite("The output of the monitor command")
struct MonitorTests {
  private func change(
    _ kind: ControlInterface.ChangeKind, _ id: String = "org.example.mail", owner: Int = 1000,
    to: ControlInterface.State? = nil, message: String = "org.example.mail: a sentence"
  ) -> ControlInterface.Monitor.Output {
    .init(
      change: .init(
        kind: kind, atUSec: 999_000_000 + 120_000, application: id, owner: owner, pid: 4711,
        from: to == nil ? nil : .active, to: to, cause: "sendAway", task: 3,
        taskName: "sync", message: message))
  }

  private func screen(
    isJSON: Bool = false, application: String? = nil, owner: Int? = nil,
    until: ControlInterface.State? = nil
  ) -> MonitorScreen {
    MonitorScreen(
      isJSON: isJSON, application: application, owner: owner, until: until,
      daemon: "the daemon of /s", context: { context })
  }

  /// Returns a line of output without the time at its start.
  private func words(_ text: String) -> String {
    text.split(separator: " ", maxSplits: 1).last.map(String.init) ?? ""
  }

  @Test("The snapshot is a table, printed once it is complete")
  func snapshot() {
    var screen = screen()
    #expect(screen.take(.init(application: sample())) == "")
    #expect(screen.take(.init(ready: true)) == ApplicationTable.text([sample()], context) + "\n")
  }

  @Test("A transition is printed with its wall-clock time, both states and the cause")
  func transition() {
    var screen = screen()
    let line = screen.take(change(.transition, to: .background))
    #expect(words(line) == "org.example.mail  active -> background (sendAway)\n")
    var away = change(.transition, to: .background)
    away.change?.cause = "otherActivated"
    away.change?.by = "org.example.maps"
    #expect(
      words(screen.take(away))
        == "org.example.mail  active -> background (otherActivated by org.example.maps)\n")
    var seconds = time_t(1_699_999_999)
    var fields = tm()
    localtime_r(&seconds, &fields)
    #expect(line.hasSuffix(words(line)))
    let second = fields.tm_sec < 10 ? "0\(fields.tm_sec)" : "\(fields.tm_sec)"
    #expect(line.split(separator: " ")[0].hasSuffix(":\(second).120"))
  }

  @Test(
    "A change other than a transition is printed as the daemon's sentence without the leading id",
    arguments: ControlInterface.ChangeKind.allCases.filter { $0 != .transition })
  func sentences(kind: ControlInterface.ChangeKind) {
    var screen = screen()
    let clause = screen.take(change(kind))
    #expect(words(clause) == "org.example.mail  a sentence\n")
    let predicate = screen.take(change(kind, message: "org.example.mail is a sentence"))
    #expect(words(predicate) == "org.example.mail  is a sentence\n")
  }

  @Test("Control characters in a change are escaped")
  func hostile() {
    var screen = screen()
    let line = screen.take(change(.ended, "org.\u{1b}c", message: "ended, \u{9b}\n"))
    #expect(words(line) == "org.\\x1bc  ended, \\x9b\\n\n")
  }

  @Test("Changes of other applications and other owners are filtered")
  func filters() {
    var screen = screen(application: "org.example.mail", owner: 1000)
    #expect(screen.take(change(.taskBegan, "org.example.news")) == "")
    #expect(screen.take(change(.taskBegan, owner: 5)) == "")
    #expect(screen.take(change(.taskBegan)) != "")
  }

  @Test("The option --until waits for the state of the selected application only")
  func until() {
    var screen = screen(application: "org.example.mail", until: .suspended)
    _ = screen.take(.init(application: sample()))
    _ = screen.take(.init(ready: true))
    _ = screen.take(change(.transition, to: .background))
    _ = screen.take(change(.transition, "org.example.news", to: .suspended))
    #expect(!screen.isDone)
    _ = screen.take(change(.transition, to: .suspended))
    #expect(screen.isDone)
  }

  @Test("The option --until is satisfied by a complete snapshot")
  func untilAtOnce() {
    var screen = screen(application: "org.example.mail", until: .background)
    _ = screen.take(.init(application: sample()))
    #expect(!screen.isDone)
    _ = screen.take(.init(ready: true))
    #expect(screen.isDone)
  }

  @Test("An unknown id prints the nearest id, and the command keeps waiting")
  func doubt() {
    var screen = screen(application: "org.example.mial")
    _ = screen.take(.init(application: sample()))
    _ = screen.take(.init(ready: true))
    #expect(
      screen.doubt == "taskctl: the daemon of /s does not know an application"
        + " 'org.example.mial' yet;"
        + " did you mean 'org.example.mail'?")
    #expect(screen.take(change(.taskBegan, "org.example.mial")) != "")
  }

  @Test("Each reply with --json is one line that decodes to the same reply")
  func json() throws {
    var screen = screen(isJSON: true)
    let replies: [ControlInterface.Monitor.Output] = [
      .init(application: sample()), .init(ready: true),
      change(.ended, message: "\u{1b}\u{9b}\n\u{2028}"),
    ]
    for reply in replies {
      let line = screen.take(reply)
      #expect(line.unicodeScalars.filter { !PrintableText.isPrintable($0) } == ["\n"])
      let value = try JSONParser.parse(Array(line.utf8.dropLast()))
      #expect(try value.decode(ControlInterface.Monitor.Output.self) == reply)
    }
  }
}
