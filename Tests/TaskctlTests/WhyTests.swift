import TaskSchedulerWire
import Testing

@testable import taskctl

@Suite("taskctl why: in plain words")
struct WhyTests {
  private typealias Control = ControlInterface

  private func text(
    _ application: Control.Application, cause: String? = nil,
    last: Control.EndedEntitlement? = nil, traced: Bool = false, limits: [Control.Limit] = []
  ) -> String {
    WhyText.text(
      .init(
        application: application,
        explanation: .init(
          cause: cause, lastEntitlement: last, traced: traced, limits: limits)), context)
  }

  @Test("what state it is in, since when, what entitles it to run, which limit comes next")
  func background() {
    let shown = text(
      sample(), cause: "sendAway",
      limits: [
        .init(kind: .expiration, atUSec: 1_589_000_000),
        .init(kind: .backgroundTime, atUSec: 1_594_000_000),
      ])
    #expect(shown.hasPrefix("org.example.mail runs in the background, since 2023-11-14 "))
    #expect(
      shown.split(separator: "\n").dropFirst().joined(separator: "\n") == """
          A person or an operator sent it away.
          It may run for background task 3 'sync', begun 3 min ago.
          Next, in 9 min 49 s: the expiration handlers of its background tasks are called.
          Then, in 9 min 54 s: its background time is over, and it is killed if a background \
        task is outstanding.
        """)
  }

  @Test("why it was suspended, and what resumes it")
  func suspended() {
    let shown = text(
      reachableSample(), cause: "noEntitlement",
      last: .init(kind: .task, task: 2, taskName: "sync", atUSec: 940_000_000),
      limits: [.init(kind: .keepAlive, atUSec: 1_600_000_000)])
    #expect(
      shown.split(separator: "\n").dropFirst().joined(separator: "\n") == """
          Nothing entitled it to run any longer: it ended its last background task 2 'sync' \
        1 min ago.
          It is resumed by being brought to the foreground, by its keep-alive handler, by data \
        on its 2 managed sockets.
          It then hears of 3 changes of the machine.
          Next, in 10 min: its keep-alive handler is called.
        """)
  }

  @Test("why it was killed, with the callback or the task that it was for")
  func ended() {
    var killed = endedSample(reason: .callbackTimeout, code: nil)
    killed.lastEnd?.callback = .didEnterBackground
    #expect(
      text(killed).hasSuffix(
        """
          It was killed because it did not acknowledge a callback in time.
          It did not acknowledge didEnterBackground in time.
          Next: nothing happens by itself.

        """))
    killed = endedSample(reason: .backgroundTimeExpired, code: nil)
    killed.lastEnd?.tasks = 2
    killed.lastEnd?.task = 4
    killed.lastEnd?.taskName = "upload"
    #expect(
      text(killed).contains(
        "2 background tasks were outstanding, the first of them background task 4 'upload'.\n"))
  }

  @Test("a debugger, an end under way, one that never ran")
  func others() {
    #expect(text(sample(), traced: true).contains("no limit is enforced until that leaves"))
    var ending = sample()
    ending.instance?.ending = .terminatedByOperator
    #expect(text(ending).contains("It is being ended: it was ended by an operator."))
    var fresh = endedSample()
    fresh.lastEnd = nil
    fresh.stateSinceUSec = 0
    #expect(text(fresh).hasPrefix("org.example.news is not running, and has never run.\n"))
  }

  @Test("every last entitlement and limit of the interface has words of its own")
  func words() {
    let lasts = Control.EndedEntitlementKind.allCases.map {
      text(sample(state: .suspended), last: .init(kind: $0, atUSec: 1))
    }
    #expect(Set(lasts).count == lasts.count)
    let limits = Control.LimitKind.allCases.map {
      text(sample(), limits: [.init(kind: $0, atUSec: 1)])
    }
    #expect(Set(limits).count == limits.count)
  }

  @Test("what an application chose for a name never reaches the terminal as it is")
  func hostile() {
    var application = sample("org.\u{1b}]0;x\u{7}")
    application.instance?.tasks[0].name = "\u{1b}c"
    let shown = text(
      application, last: .init(kind: .task, task: 1, taskName: "\u{9b}2J", atUSec: 1))
    #expect(!shown.unicodeScalars.contains { PrintableText.isControl($0) && $0 != "\n" })
  }
}
