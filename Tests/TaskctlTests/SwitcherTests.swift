import TaskSchedulerWire
import TestSupport
import Testing

@testable import taskctl

@Suite("The application switcher of taskctl")
struct SwitcherTests {
  private typealias Control = ControlInterface

  private func list(
    _ ids: String..., seat: String? = "user-1000"
  ) -> Control.ListSwitcher.Output {
    .init(seat: seat, applications: ids.map { named($0) })
  }

  private func named(
    _ id: String, _ state: Control.State = .suspended, name: String? = nil, owner: Int = 1000
  ) -> Control.Application {
    var application = sample(id, owner: owner, state: state)
    application.displayName = name
    return application
  }

  private func lines(
    _ screen: SwitcherScreen, _ columns: Int = 60, _ lines: Int = 10
  ) -> [String] {
    screen.lines(.init(columns: columns, lines: lines), context)
  }

  // MARK: Keys

  @Test("Arrow keys, letters and Enter are keys, in both forms that terminals send")
  func keys() {
    var keys = SwitcherKeys()
    #expect(keys.take("jk\r\nxqgG\u{3}\u{4}\u{1a}".utf8) == [
      .down, .up, .activate, .activate, .remove, .leave, .first, .last, .leave, .leave, .suspend,
    ])
    #expect(keys.take("\u{1b}[A\u{1b}OB\u{1b}[H\u{1b}[4~\u{1b}[3~".utf8) == [
      .up, .down, .first, .last, .remove,
    ])
    #expect(!keys.isWaiting)
  }

  @Test("Esc alone leaves; Esc in a sequence does not, even if the bytes arrive one by one")
  func escape() {
    var keys = SwitcherKeys()
    #expect(keys.take([0x1B]) == [])
    #expect(keys.isWaiting)
    #expect(keys.finish() == .leave)
    #expect(keys.take([0x1B]) == [])
    #expect(keys.take([0x5B]) == [])
    #expect(keys.take([0x42]) == [.down])
    #expect(keys.finish() == nil)
    #expect(keys.take([0x1B, 0x1B]) == [.leave])
  }

  @Test("Unknown keys and sequences have no effect, and do not swallow the next key")
  func unknownKeys() {
    var keys = SwitcherKeys()
    #expect(keys.take("\u{1b}[1;5C\u{1b}OP\u{1b}zj".utf8) == [.down])
    #expect(keys.take("éy\u{7f}\0j".utf8) == [.down])
    #expect(keys.take([0x1B, 0x5B] + [UInt8](repeating: 0x30, count: 40)) == [])
    #expect(keys.take("j".utf8).last == .down, "a sequence has an end")
  }

  // MARK: The screen

  @Test("The screen has a title, a line for each application, and a line about the keys")
  func screen() {
    let screen = SwitcherScreen(
      .init(
        seat: "user-1000",
        applications: [named("org.example.mail", .active, name: "Mail"), named("org.example.b")]))
    #expect(
      lines(screen) == [
        "Application switcher of user-1000",
        "> Mail (org.example.mail)                             active",
        "  org.example.b                                    suspended",
        "Enter activates, x removes, q leaves",
      ])
  }

  @Test("The selection moves within the list, and stays with its application when the list changes")
  func selection() {
    var screen = SwitcherScreen(list("org.a.a", "org.b.b", "org.c.c"))
    #expect(screen.selected?.application == "org.a.a")
    screen.move(.up)
    #expect(screen.selected?.application == "org.a.a")
    screen.move(.down)
    #expect(screen.selected?.application == "org.b.b")
    screen.update(list("org.c.c", "org.b.b", "org.a.a"))
    screen.update(list("org.b.b", "org.c.c", "org.a.a"))
    #expect(screen.selected?.application == "org.b.b")
    screen.move(.last)
    screen.move(.down)
    #expect(screen.selected?.application == "org.a.a")
    screen.update(list("org.b.b", "org.c.c"))
    #expect(screen.selected?.application == "org.c.c", "the next one takes the place")
    screen.update(list())
    #expect(screen.selected == nil)
    #expect(lines(screen)[1] == "The application switcher of user-1000 is empty.")
    screen.update(list("org.b.b"))
    #expect(screen.selected?.application == "org.b.b")
  }

  @Test(
    "The screen is never wider or higher than the terminal", arguments: [1, 2, 5, 12, 20, 40])
  func narrow(columns: Int) {
    var screen = SwitcherScreen(
      .init(
        applications: [
          named("org.example.mail", name: "郵便 and more"), named("org.example.\u{1F4F1}"),
          named("org.example.c", .notRunning), named("org.example.d", .background),
        ]))
    for count in 1...6 {
      for _ in 0..<4 {
        let shown = lines(screen, columns, count)
        #expect(shown.count <= count)
        #expect(shown.allSatisfy { PrintableText.columns($0) <= columns }, "\(shown)")
        if columns >= 2 { #expect(shown.contains { $0.hasPrefix("> ") || $0 == ">" }) }
        screen.move(.down)
      }
      screen.show("taskctl: Terminating: 'org.example.mail' is being terminated")
      #expect(lines(screen, columns, count).count <= count)
      screen.move(.first)
      #expect(screen.message == nil, "a key removes the message")
    }
  }

  @Test("A long list scrolls with the selection")
  func scrolls() {
    var screen = SwitcherScreen(
      .init(applications: (0..<100).map { named("org.example.a\($0)") }))
    for place in 0..<100 {
      let shown = lines(screen, 60, 7)
      #expect(shown.count == 7)
      #expect(shown.contains { $0.hasPrefix("> org.example.a\(place) ") }, "\(shown)")
      screen.move(.down)
    }
  }

  @Test("Control characters of names and seats are escaped")
  func escaped() {
    let screen = SwitcherScreen(
      .init(seat: "seat\u{1b}[2J", applications: [named("org.a.a", name: "a\u{1b}]0;x\u{7}\nb")]))
    #expect(!lines(screen).joined().unicodeScalars.contains { $0.value < 32 })
    let output = Control.ListSwitcher.Output(
      applications: [named("org.a.a", name: "a\u{1b}]0;x\u{7}\nb")])
    let text = SwitcherTable.text(output, context)
    #expect(text.split(separator: "\n").count == 2)
    #expect(!text.contains("\u{1b}"))
  }

  @Test("The screen has colours only if colours are enabled")
  func colours() {
    var coloured = context
    coloured.painter = Painter(isColoured: true)
    let screen = SwitcherScreen(list("org.a.a"))
    #expect(screen.lines(.init(columns: 40, lines: 5), coloured).joined().contains("\u{1b}[1m"))
    #expect(!lines(screen).joined().contains("\u{1b}"))
  }

  // MARK: Without a terminal

  @Test("The table names owners and seats only if there are several")
  func table() {
    var (one, two) = (named("org.a.a", .active, name: "A"), named("org.b.b"))
    (one.snapshot, two.snapshot) = (.picture, .sensitive)
    #expect(
      SwitcherTable.text(.init(seat: "seat0", applications: [one, two]), context) == """
        APPLICATION  NAME  STATE      SNAPSHOT
        org.a.a      A     active     yes
        org.b.b      -     suspended  hidden

        """)
    (two.owner, two.seat) = (1001, "user-1001")
    let titles = SwitcherTable.text(.init(applications: [one, two]), context)
      .split(separator: "\n")[0].split(separator: " ")
    #expect(titles == ["APPLICATION", "OWNER", "SEAT", "NAME", "STATE", "SNAPSHOT"])
  }

  @Test("Without a terminal, the command prints the list of the seat that the options select")
  func plainList() throws {
    let daemon = try FakeDaemon()
    for (arguments, expected) in [
      ([], Control.ListSwitcher.Input()), (["--seat", "seat0"], .init(seat: "seat0")),
      (["--all"], .init(all: true)), (["--owner", "0", "--plain"], .init(owner: 0)),
    ] {
      let taskctl = try TaskctlProcess(["switcher"] + arguments, socket: daemon.socket)
      let (connection, input) = try daemon.accept(Control.ListSwitcher.self)
      #expect(input == expected)
      try connection.reply(list("org.example.mail"))
      let outcome = try taskctl.outcome()
      #expect(outcome.code == 0)
      #expect(outcome.output.contains("org.example.mail  -     suspended  -"))
    }
  }

  @Test("The option --json prints the daemon's reply, and an empty list is a sentence")
  func json() throws {
    let daemon = try FakeDaemon()
    let printed = try TaskctlProcess(["switcher", "--json"], socket: daemon.socket)
    try daemon.accept(Control.ListSwitcher.self).connection.reply(list("org.example.mail"))
    let outcome = try printed.outcome()
    let document = try JSONParser.parse(Array(outcome.output.utf8.dropLast()))
    #expect(document["seat"] == "user-1000")
    #expect(try document["applications"]?.decode([JSONValue].self).count == 1)
    let empty = try TaskctlProcess(["switcher"], socket: daemon.socket)
    try daemon.accept(Control.ListSwitcher.self).connection.reply(list())
    #expect(
      try empty.outcome().output == "The application switcher of user-1000 is empty.\n")
    let both = try TaskctlProcess(["switcher", "--all", "--seat", "x"], socket: daemon.socket)
    #expect(try both.outcome().code == 2)
  }
}
