import Glibc
import struct TaskSchedulerCore.Signal
import TaskSchedulerWire
import Testing

@testable import taskctl

@Suite("Tables and texts for people")
struct RenderingTests {
  @Test("The columns of a list are as wide as their content, without an owner for a single user")
  func list() {
    #expect(
      ApplicationTable.text([sample(), endedSample()], context) == """
        APPLICATION       STATE       SINCE   PID  TASKS  REMAINING   ENTITLED BY
        org.example.mail  background  3 min  4711      1  9 min 54 s  a background task
        org.example.news  notRunning  1 min     -      -  -           -

        """)
  }

  @Test("An application that has never run has no time in its state")
  func neverRun() {
    var application = endedSample()
    application.lastEnd = nil
    application.stateSinceUSec = 0
    let cells = ApplicationTable.text([application], context).split(separator: "\n")[1]
      .split(separator: " ")
    #expect(cells == ["org.example.news", "notRunning", "-", "-", "-", "-", "-"])
    #expect(StatusText.text(application, context).contains("State: notRunning, never run\n"))
  }

  @Test("A list of several users' applications shows the owners")
  func owners() {
    let text = ApplicationTable.text([sample(), sample("org.example.mail", owner: 5)], context)
    let columns = text.split(separator: "\n").map { $0.split(separator: " ")[1] }
    #expect(columns == ["OWNER", "ada", "5"])
  }

  @Test("An empty list says so, and counts the applications that are not running")
  func emptyList() {
    #expect(ApplicationTable.list(ApplicationSelection([]), context) == "No applications.\n")
    #expect(
      ApplicationTable.list(ApplicationSelection([endedSample(), endedSample("a.b")]), context)
        == "No applications. 2 are not running; --all lists them.\n")
  }

  @Test("An application in the foreground has unlimited time and the entitlement of the foreground")
  func foreground() {
    let active = sample(state: .active, remainingUSec: nil, entitlements: [])
    #expect(ApplicationTable.remaining(active) == "unlimited")
    #expect(ApplicationTable.entitlement(active) == "the foreground")
  }

  @Test("Wide characters take two columns of a table")
  func wideLetters() {
    var table = Table(columns: [Table.Column(title: "A"), Table.Column(title: "B")])
    table.append(["日本", "x"])
    table.append(["abcd", "y"])
    #expect(table.text(.plain) == "A     B\n日本  x\nabcd  y\n")
  }

  @Test("Colour surrounds the text only, and only if colour is enabled")
  func colour() {
    var table = Table(columns: [Table.Column(title: "A"), Table.Column(title: "B")])
    table.append([Table.Cell("x", .green), "y"])
    #expect(
      table.text(Painter(isColoured: true))
        == "\u{1b}[1mA\u{1b}[0m  \u{1b}[1mB\u{1b}[0m\n\u{1b}[32mx\u{1b}[0m  y\n")
  }

  @Test("Control characters and changes of the writing direction do not reach the terminal")
  func controlCharacters() {
    let text = "a\u{1b}[2J\n\t\u{7f}\u{9b}\u{202e}\u{200b}\u{e0041}é"
    #expect(PrintableText.of(text) == #"a\x1b[2J\n\t\x7f\x9b\u202e\u200b\U000e0041é"#)
    var hostile = sample("org.\u{1b}]0;x\u{7}")
    hostile.displayName = "\u{9b}2J"
    hostile.seat = "\r"
    hostile.backgroundModes = ["\u{1b}"]
    hostile.instance?.tasks[0].name = "\u{1b}c\u{e0041}\u{200b}"
    hostile.instance?.unit = "\u{feff}.scope"
    let all =
      ApplicationTable.text([hostile], context) + TaskTable.text([hostile], context)
      + StatusText.text(hostile, context)
      + StatusText.summary(
        .init(applications: [hostile], sessionAgents: [1000]), [], path: "/x", context)
    let controls = all.unicodeScalars.filter { !PrintableText.isPrintable($0) && $0 != "\n" }
    #expect(controls.isEmpty)
    #expect(all.contains(#"\x1bc"#))
    let json = JSONOutput.line(["\u{9b}\u{200b}\u{e0041}"])
    #expect(json == #"["\u009b\u200b\udb40\udc41"]"# + "\n")
  }

  @Test("The list of tasks shows their age and whether they have expired")
  func tasks() {
    let tasks: [ControlInterface.BackgroundTask] = [
      .init(id: 3, name: "sync", beganAtUSec: 820_000_000, expired: false),
      .init(id: 12, beganAtUSec: 999_980_000, expired: true),
    ]
    #expect(
      TaskTable.text([sample(tasks: tasks), endedSample()], context) == """
        APPLICATION       TASK  NAME  AGE    REMAINING   EXPIRED
        org.example.mail     3  sync  3 min  9 min 54 s  no
        org.example.mail    12  -     20 ms  9 min 54 s  yes

        """)
  }

  @Test("The list of settings shows their source and marks changed ones")
  func settings() {
    let settings: [ControlInterface.Setting] = [
      .init(name: "BackgroundTime", value: "1min", default: "10min", source: "/etc/t.toml:3"),
      .init(name: "CallbackTimeout", value: "6s", default: "6s", source: "default"),
    ]
    #expect(
      SettingsTable.text(settings, .plain) == """
        NAME             VALUE     SOURCE
        BackgroundTime   1min   *  /etc/t.toml:3
        CallbackTimeout  6s        default

        * differs from the default

        """)
  }
}

@Suite("Status in words")
struct StatusTextTests {
  /// Returns the C library's text for the given time.
  private func expected(_ wallSeconds: Int, _ format: String) -> String {
    var seconds = time_t(wallSeconds)
    var fields = tm()
    localtime_r(&seconds, &fields)
    var buffer = [CChar](repeating: 0, count: 64)
    let count = strftime(&buffer, buffer.count, format, &fields)
    return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  @Test("The status of an application shows all its facts")
  func running() {
    let since = expected(1_700_000_000 - 180, "%Y-%m-%d %H:%M:%S %Z")
    let started = expected(1_700_000_000 - 300, "%Y-%m-%d %H:%M:%S %Z")
    #expect(
      StatusText.text(sample(), context) == """
        org.example.mail - Mail
                State: background since \(since) (3 min ago)
          Entitled by: a background task
            Remaining: 9 min 54 s of background time
              Process: pid 4711, has opened its event stream
              Started: by an operator, \(started) (5 min ago)
            Callbacks: 1 not acknowledged yet
                Tasks: 3 'sync', began 3 min ago
                Owner: ada (uid 1000)
                 Seat: seat0
                Modes: audio
           Launchable: yes, by its manifest
             Switcher: number 1

        """)
  }

  @Test("The list and the status name each use of audio")
  func audio() {
    var application = sample()
    application.instance?.audio = ControlInterface.AudioUse.allCases
    #expect(
      ApplicationTable.audio(application)
        == "plays, records, muted, ducked, interrupted, in a call, on hold")
    #expect(
      StatusText.text(application, context).contains(
        "Audio: plays, records, muted, ducked, interrupted by a phone call, in a call, on hold\n"))
    application.instance?.audio = [.ducked, .interrupted]
    application.instance?.duckedBy = "org.example.maps"
    application.instance?.interruptedBy = "org.example.music"
    #expect(
      StatusText.text(application, context).contains(
        "Audio: ducked by org.example.maps, interrupted by org.example.music\n"))
  }

  @Test("The list and the status name each location service, also of an ended application")
  func location() {
    var application = endedSample()
    application.location = ControlInterface.LocationService.allCases
    let words = "updates, significant changes, regions"
    #expect(StatusText.text(application, context).contains("Location: \(words)\n"))
    let rows = ApplicationTable.text([sample(), application], context).split(separator: "\n")
    #expect(rows[0].hasSuffix("ENTITLED BY        LOCATION"))
    #expect(rows[1].hasSuffix("a background task  -"))
    #expect(rows[2].hasSuffix("-                  \(words)"))
    #expect(!ApplicationTable.text([sample()], context).contains("LOCATION"))
  }

  @Test("The status of an ended application shows how it ended")
  func ended() {
    let since = expected(1_700_000_000 - 60, "%Y-%m-%d %H:%M:%S %Z")
    #expect(
      StatusText.text(endedSample(), context) == """
        org.example.news
                State: notRunning since \(since) (1 min ago)
                Owner: ada (uid 1000)
                 Seat: seat0
                Modes: none declared
         Multitasking: no, by its manifest: the daemon terminates the application \
        instead of sending it to the background
           Launchable: no manifest says how to launch it
             Switcher: not listed
             Last end: it exited with code 3, \(since) (1 min ago)

        """)
  }

  @Test("The status of a displaced application names the application that displaced it")
  func displaced() {
    var application = sample()
    application.instance?.displacedBy = "org.example.maps"
    #expect(
      StatusText.text(application, context).contains(
        "Seat: seat0\n Displaced by: org.example.maps, activated at the same seat\n"))
  }

  @Test("The summary counts states and tasks, and names the foreground applications and sessions")
  func summary() {
    let applications = [
      sample("org.example.a", state: .active), sample(), endedSample(),
      sample("org.example.b", state: .inactive),
    ]
    let sessions: [ControlInterface.LoginSession] = [
      .init(
        session: "2", user: 1000, seat: "user-1000", loginSeat: "seat0", type: "wayland",
        active: true, locked: true),
      .init(
        session: "c5", user: 1001, seat: "user-1001", type: "x11", active: false, locked: false),
    ]
    let answer = ControlInterface.ListApplications.Output(
      applications: applications, sessionAgents: [1000, 1001])
    #expect(
      StatusText.summary(answer, sessions, path: "/run/x", context) == """
        taskschedd - at /run/x
         Applications: 4 known: 1 background, 1 active, 1 inactive, 1 notRunning
                Tasks: 3 outstanding, of 3 applications
           Foreground: org.example.a at seat0
                       org.example.b at seat0, inactive
             Sessions: user-1000 is session 2 (wayland) at seat0, locked
                       user-1001 is session c5 (x11), not on the screen
        Session agent: attached for user 1000, user 1001

        """)
  }

  @Test(
    "Each reason for an end has a clause of its own",
    arguments: ControlInterface.EndKind.allCases)
  func ends(kind: ControlInterface.EndKind) {
    let others = ControlInterface.EndKind.allCases.filter { $0 != kind }
    #expect(!others.map { $0.words() }.contains(kind.words()))
    #expect(kind.words().hasPrefix("was ") || [.exited, .unknown].contains(kind))
  }

  @Test("An end by a signal names the signal for any number")
  func signals() {
    #expect(ControlInterface.EndKind.crashed.words(signal: 11) == "crashed with SIGSEGV")
    #expect(ControlInterface.EndKind.crashed.words(signal: 15) == "was terminated by SIGTERM")
    #expect(Signal(31).name == "SIGSYS")
    for number in [0, 32, Int32.min, Int32.max] {
      #expect(Signal(number).name == "signal \(number)")
    }
  }

  @Test(
    "A duration is shown in its two largest units",
    arguments: [
      (0, "0 ms"), (20_000, "20 ms"), (999_999, "999 ms"), (1_500_000, "1.5 s"),
      (12_900_000, "12 s"), (60_000_000, "1 min"), (594_000_000, "9 min 54 s"),
      (3_600_000_000, "1 h"), (90_061_000_000, "1 d 1 h"), (-5, "0 ms"),
    ])
  func spans(usec: Int, text: String) {
    #expect(TimeSpan.text(usec: usec) == text)
  }

  @Test("Times beyond the range of integers do not trap", arguments: [Int.min, 0, Int.max])
  func extremes(usec: Int) {
    var application = sample()
    application.stateSinceUSec = usec
    application.instance?.backgroundTimeRemainingUSec = usec
    #expect(StatusText.text(application, context).contains("State: background since"))
    #expect(ApplicationTable.text([application], context).contains("org.example.mail"))
  }
}
