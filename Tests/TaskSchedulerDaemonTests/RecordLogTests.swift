import TaskSchedulerCore
import TaskSchedulerWire
import Testing

@testable import TaskSchedulerDaemon

@Suite("The records for operators, monitors and the journal")
struct RecordLogTests {
  @Test("The kinds of changes are those of org.taskschedd.Control")
  func kinds() {
    #expect(
      Record.Kind.allCases.map(\.rawValue) == ControlInterface.ChangeKind.allCases.map(\.rawValue))
  }

  @Test("A field's name in the journal has capital letters, with the unit as its last word")
  func journalNames() {
    #expect(Record.journalName("from") == "FROM")
    #expect(Record.journalName("taskName") == "TASK_NAME")
    #expect(Record.journalName("remainingUSec") == "REMAINING_USEC")
    #expect(Record.journalName("dirtyBytes") == "DIRTY_BYTES")
  }

  @Test(
    """
    A monitor receives a transition with its states and cause, and the other application if \
    visible
    """)
  func transition() throws {
    let id = try #require(ApplicationID("org.example.mail"))
    let game = try #require(ApplicationID("org.example.game"))
    let record = Record(
      application: ApplicationKey(id, owner: UserID(1)), leader: Leader(pid: 7, startTime: 1),
      change: .transition(
        from: .active, to: .background,
        cause: .otherActivated(by: ApplicationKey(game, owner: UserID(2)))))
    let sentence = "org.example.mail is in the background:"
    #expect(
      ControlInterface.Change(record, at: Instant(nanoseconds: 5000))
        == .init(
          kind: .transition, atUSec: 5, application: "org.example.mail", owner: 1, pid: 7,
          from: .active, to: .background, cause: "otherActivated", by: "org.example.game",
          message: "\(sentence) org.example.game was activated at its seat"))
    let limited = ControlInterface.Change(record, at: Instant(nanoseconds: 0)) { $0 == UserID(1) }
    #expect(limited.by == nil)
    #expect(limited.message == "\(sentence) another application was activated at its seat")
  }

  @Test("A monitor receives a task with its number and name, and an end with its reason")
  func members() throws {
    let id = try #require(ApplicationID("org.example.mail"))
    func change(_ change: Record.Change) -> ControlInterface.Change {
      let key = ApplicationKey(id, owner: UserID(1))
      return .init(
        Record(application: key, leader: nil, change: change), at: Instant(nanoseconds: 0))
    }
    let began = change(.taskBegan(TaskID(3), name: "upload", remaining: .seconds(1)))
    #expect(began.kind == .taskBegan && began.task == 3 && began.taskName == "upload")
    let end = change(.ended(End(reason: .exited(code: 3), at: Instant(nanoseconds: 0))))
    #expect(end.kind == .ended && end.reason == "exited")
    #expect(change(.refused(.terminating)).reason == "Terminating")
    #expect(change(.suspensionFailed(reason: "it waits")).reason == "it waits")
  }

  @Test("Control characters in a reason are escaped for operators and applications")
  func errorTexts() {
    let refusal = Refusal.notStored(reason: "no room\n\u{1b}[2J\u{e0041}")
    let shown = #"no room\n\x1b[2J\U000e0041"#
    #expect(refusal.failure(toApplication: "a.b") == .notStored(reason: shown))
    #expect(refusal.failure(toOperator: "a.b") == .notStored(reason: shown))
    #expect(
      Refusal.launchFailed(reason: "\u{9b}").failure(toOperator: "a.b")
        == .launchFailed(application: "a.b", reason: #"\x9b"#))
  }

  @Test("The status text for systemctl counts the running and the suspended applications")
  func status() {
    #expect(ServiceStatus.text((all: 0, suspended: 0)) == "0 applications")
    #expect(ServiceStatus.text((all: 1, suspended: 1)) == "1 application, 1 suspended")
    #expect(ServiceStatus.text((all: 3, suspended: 1)) == "3 applications, 1 suspended")
  }
}
