import TaskSchedulerCore
import Testing

@testable import TaskSchedulerDaemon

private func ended(
  _ reason: EndReason, _ detail: EndDetail? = nil, forced: ForcedEnd? = nil
) -> Record.Change {
  .ended(End(reason: reason, at: Instant(nanoseconds: 1), detail: detail, forced: forced))
}

@Suite("§14 The log describes the end of an application in a sentence")
struct RecordSentenceTests {
  private func message(_ change: Record.Change) throws -> String {
    let id = try #require(ApplicationID("org.example.mail"))
    return Record(
      application: ApplicationKey(id, owner: UserID(1)), leader: nil, change: change
    ).message
  }

  @Test(
    "Each end names what brought it about",
    arguments: [
      (ended(.exited(code: 3)), "exited with code 3"),
      (ended(.crashed(signal: 11)), "crashed with SIGSEGV"),
      (ended(.crashed(signal: 15)), "was terminated by SIGTERM"),
      (ended(.crashed(signal: 2)), "was terminated by SIGINT"),
      (ended(.crashed(signal: 40)), "was terminated by signal 40"),
      (ended(.terminatedByOperator), "was terminated by an operator"),
      (
        ended(.terminatedByUser, forced: ForcedEnd(signal: Signal(2), limit: .seconds(5))),
        "was terminated by the user; it did not exit within 5s of SIGINT, so SIGKILL was sent"
      ),
      (
        ended(.callbackTimeout, .callback(.didEnterBackground)),
        "was killed: it did not acknowledge didEnterBackground in time"
      ),
      (
        ended(.keepAliveTimeout, .callback(.keepAlive)),
        "was killed: it did not acknowledge its keep-alive handler in time"
      ),
      (
        ended(.backgroundTimeExpired, .task(TaskID(1), name: "upload", outstanding: 1)),
        "was killed: its background time expired with task 1 'upload' outstanding"
      ),
      (
        ended(.backgroundTimeExpired, .task(TaskID(4), name: nil, outstanding: 3)),
        "was killed: its background time expired with task 4 and 2 more outstanding"
      ),
      (ended(.memoryPressure), "was terminated: the machine is short of memory"),
      (
        ended(.sharedResourceHeld, .sharedResource(path: "/srv/a.db")),
        "was killed: it held a lock on \"/srv/a.db\" when it was suspended"
      ),
      (
        ended(.gpuInBackground, .gpu(.seconds(2))),
        "was killed: it used a GPU in the background, for 2s"
      ),
      (
        ended(
          .excessiveUse,
          .processor(.seconds(9), within: .seconds(10), share: .usual(percent: 80))),
        "was killed: it used too much CPU time in the background, 9s within 10s"
      ),
      (ended(.schedulerStopped), "is no longer managed: taskschedd has stopped"),
    ] as [(Record.Change, String)])
  func ends(_ change: Record.Change, _ sentence: String) throws {
    #expect(try message(change) == "org.example.mail \(sentence)")
  }

  @Test(
    "Each change of state names its cause",
    arguments: [
      (
        .transition(from: .notRunning, to: .active, cause: .launch),
        "is active: taskschedd launched it"
      ),
      (
        .transition(from: .background, to: .suspended, cause: .noEntitlement),
        "is suspended: nothing entitles it to run any longer"
      ),
      (
        .transition(from: .suspended, to: .background, cause: .event),
        "is in the background: an event woke it"
      ),
      (
        .transition(from: .active, to: .notRunning, cause: .leaderExited),
        "is no longer running: its leader has exited"
      ),
      (.registered, "opened its event stream"),
      (
        .taskBegan(TaskID(1), name: "upload", remaining: .seconds(600)),
        "began background task 1 'upload', with 10min of background time left"
      ),
      (.taskEnded(TaskID(2), name: nil), "ended background task 2"),
      (.resources(.throttled(percent: 9)), "is throttled to 9 % of one CPU"),
    ] as [(Record.Change, String)])
  func changes(_ change: Record.Change, _ sentence: String) throws {
    #expect(try message(change) == "org.example.mail \(sentence)")
  }

  @Test("§15 An application's user is told of no other user's application that took its place")
  func privacy() throws {
    let id = try #require(ApplicationID("org.example.mail"))
    let game = try #require(ApplicationID("org.example.game"))
    func record(by owner: UInt32) -> Record {
      let cause = TransitionCause.otherActivated(by: ApplicationKey(game, owner: UserID(owner)))
      return Record(
        application: ApplicationKey(id, owner: UserID(1)), leader: nil,
        change: .transition(from: .active, to: .background, cause: cause))
    }
    let named = "org.example.mail is in the background: org.example.game was activated at its seat"
    #expect(record(by: 1).messageForOwner == named)
    #expect(record(by: 2).message == named, "the event log is the operators'")
    #expect(
      record(by: 2).messageForOwner
        == "org.example.mail is in the background: another application was activated at its seat")
  }

  @Test("A refusal says what was wrong, with the error's name")
  func refusals() throws {
    #expect(
      try message(.refused(.invalidTransition(from: .notRunning, cause: .sendAway)))
        == "org.example.mail: a request was refused because sendAway is not possible while it is "
        + "notRunning (InvalidTransition)")
  }

  @Test("An end by policy and a crash are warnings, an end that a person chose is not")
  func levels() {
    for reason: EndReason in [
      .callbackTimeout, .backgroundTimeExpired, .keepAliveTimeout, .memoryPressure,
      .gpuInBackground, .sharedResourceHeld, .excessiveUse, .crashed(signal: 11),
    ] {
      #expect(reason.level == .warning, "\(reason)")
    }
    for reason: EndReason in [
      .exited(code: 0), .exited(code: 1), .crashed(signal: 2), .crashed(signal: 15),
      .terminatedByOperator, .terminatedByUser, .optedOut, .schedulerStopped,
    ] {
      #expect(reason.level == .notice, "\(reason)")
    }
  }

  @Test("A reason from outside is escaped in what an operator and an application are told")
  func errorTexts() {
    let refusal = Refusal.notStored(reason: "no room\n\u{1b}[2J\u{e0041}")
    let shown = #"no room\n\x1b[2J\U000e0041"#
    #expect(refusal.failure(toApplication: "a.b") == .notStored(reason: shown))
    #expect(refusal.failure(toOperator: "a.b") == .notStored(reason: shown))
    #expect(
      Refusal.launchFailed(reason: "\u{9b}").failure(toOperator: "a.b")
        == .launchFailed(application: "a.b", reason: #"\x9b"#))
  }

  @Test("What systemctl shows counts the applications that run, and the suspended among them")
  func status() {
    #expect(ServiceStatus.text((all: 0, suspended: 0)) == "0 applications")
    #expect(ServiceStatus.text((all: 1, suspended: 1)) == "1 application, 1 suspended")
    #expect(ServiceStatus.text((all: 3, suspended: 1)) == "3 applications, 1 suspended")
  }
}
