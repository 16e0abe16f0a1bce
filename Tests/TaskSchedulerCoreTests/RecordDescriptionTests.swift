import Testing

@testable import TaskSchedulerCore

private func ended(
  _ reason: EndReason, _ detail: EndDetail? = nil, forced: ForcedEnd? = nil
) -> Record.Change {
  .ended(End(reason: reason, at: Instant(nanoseconds: 1), detail: detail, forced: forced))
}

/// Examples of changes, at least one of each kind. `text` is the part of the sentence after the
/// application's id.
private let examples: [(change: Record.Change, kind: Record.Kind, text: String)] = [
  (
    .transition(from: .notRunning, to: .active, cause: .launch), .transition,
    " is active: taskschedd launched it"
  ),
  (
    .transition(from: .background, to: .suspended, cause: .noEntitlement), .transition,
    " is suspended: nothing entitles it to run any longer"
  ),
  (
    .transition(from: .suspended, to: .background, cause: .event), .transition,
    " is in the background: an event woke it"
  ),
  (
    .transition(from: .active, to: .notRunning, cause: .leaderExited), .transition,
    " is no longer running: its main process has exited"
  ),
  (
    .transition(from: .active, to: .notRunning, cause: .schedulerStopped), .transition,
    " is no longer managed: taskschedd has stopped"
  ),
  (
    .transition(from: .suspended, to: .notRunning, cause: .released), .transition,
    " is no longer managed: it must not be suspended"
  ),
  (
    .transition(from: .inactive, to: .active, cause: .focused), .transition,
    " is active: its window has the focus"
  ),
  (
    .transition(from: .suspended, to: .inactive, cause: .shown), .transition,
    " is inactive: its window is visible, without the focus"
  ),
  (
    .transition(from: .active, to: .inactive, cause: .unfocused), .transition,
    " is inactive: its window lost the focus"
  ),
  (
    .transition(from: .inactive, to: .background, cause: .hidden), .transition,
    " is in the background: its windows are hidden"
  ),
  (
    .transition(from: .active, to: .inactive, cause: .locked), .transition,
    " is inactive: the screen was locked"
  ),
  (
    .transition(from: .inactive, to: .active, cause: .unlocked), .transition,
    " is active: the screen was unlocked"
  ),
  (.registered, .registered, " opened its event stream"),
  (
    .taskBegan(TaskID(1), name: "upload", remaining: .seconds(600)), .taskBegan,
    " began background task 1 'upload', with 10min of background time left"
  ),
  (
    .taskBegan(TaskID(1), name: nil, remaining: nil), .taskBegan,
    " began background task 1, with unlimited time"
  ),
  (.taskEnded(TaskID(2), name: nil), .taskEnded, " ended background task 2"),
  (.taskExpired(TaskID(3), name: "a"), .taskExpired, ": background task 3 'a' expires"),
  (ended(.exited(code: 3)), .ended, " exited with code 3"),
  (
    .refused(.invalidTransition(from: .notRunning, cause: .sendAway)), .refused,
    ": a request was refused because sendAway is not possible while the application is notRunning "
      + "(InvalidTransition)"
  ),
  (
    .suspensionFailed(reason: "it waits"), .suspensionFailed,
    " could not be suspended and keeps running: it waits"
  ),
  (
    .signalFailed(reason: "EPERM"), .signalFailed,
    ": an operation on its processes failed: EPERM"
  ),
  (
    .keepAliveSet(interval: .seconds(600)), .keepAliveSet,
    " set a keep-alive handler with an interval of 10min"
  ),
  (.keepAliveSet(interval: nil), .keepAliveSet, " cleared its keep-alive handler"),
  (.keepAliveCalled, .keepAliveCalled, ": its keep-alive handler is called"),
  (.socketManaged(SocketID(4)), .socketManaged, " handed over socket 4"),
  (.socketReleased(SocketID(4)), .socketReleased, ": socket 4 is no longer watched"),
  (
    .socketsReady([
      SocketReadiness(SocketID(4), [.data, .hangUp]), SocketReadiness(SocketID(5), .error),
    ]), .socketsReady, " was woken by socket 4 (data, hang-up), socket 5 (error)"
  ),
  (
    .notificationScheduled(NotificationID(6)), .notificationScheduled,
    ": notification 6 is scheduled"
  ),
  (
    .notificationsCancelled([NotificationID(6)]), .notificationsCancelled,
    " cancelled notification 6"
  ),
  (
    .notificationsCancelled([NotificationID(6), NotificationID(7)]), .notificationsCancelled,
    " cancelled notifications 6, 7"
  ),
  (.notificationFired(NotificationID(6)), .notificationFired, ": notification 6 fires"),
  (
    .notificationChosen(NotificationID(6)), .notificationChosen,
    ": the user chose notification 6"
  ),
  (.badgeSet(3), .badgeSet, " set its badge to 3"),
  (.badgeSet(0), .badgeSet, " cleared its badge"),
  (
    .relaunchPlanned(after: .seconds(1), awaitsMemory: false), .relaunchPlanned,
    " will be relaunched in 1s"
  ),
  (
    .relaunchPlanned(after: .seconds(1), awaitsMemory: true), .relaunchPlanned,
    " will be relaunched in 1s, but not before memory pressure ends"
  ),
  (.memoryWarned(isSimulated: false), .memoryWarned, " was sent a memory warning"),
  (.memoryWarned(isSimulated: true), .memoryWarned, " was sent a memory warning (simulated)"),
  (
    .memoryChosen(choice()), .memoryChosen,
    " was chosen for termination to free memory: 120 MiB dirty, the most of 3 suspended "
      + "applications, before org.example.own (80 MiB); 5% of the machine's memory is available; "
      + "the choice took 12ms"
  ),
  (.resources(.throttled(percent: 9)), .throttled, " is throttled to 9 % of one CPU"),
  (.resources(.throttled(percent: nil)), .throttled, " is no longer throttled"),
  (
    .resources(.listens(ListeningReport(["0.0.0.0:80"]))), .listening,
    " listens on 0.0.0.0:80 while it is suspended"
  ),
  (
    .resources(.usedProcessor(.seconds(9), within: .seconds(10))), .ruleBroken,
    " used 9s of CPU time within 10s in the background"
  ),
  (
    .resources(.usedGPU(.microseconds(2_000_900))), .ruleBroken,
    " used a GPU for 2s in the background"
  ),
  (
    .resources(.heldResource(path: "/srv/a\n")), .ruleBroken,
    " held a lock on \"/srv/a\\n\" when it was suspended"
  ),
  (.snapshotChanged(.picture(SnapshotID(8))), .snapshotChanged, " has a new snapshot"),
  (.snapshotChanged(.sensitive), .snapshotChanged, " hides its snapshot"),
  (.snapshotChanged(nil), .snapshotChanged, " has no snapshot any more"),
  (
    .removedFromSwitcher, .removedFromSwitcher, " was removed from the application switcher"
  ),
  (.audioChanged(isAudible: true, isRecording: false), .audioChanged, " plays audio"),
  (
    .audioChanged(isAudible: true, isRecording: true), .audioChanged, " plays and records audio"
  ),
  (.audioChanged(isAudible: false, isRecording: true), .audioChanged, " records audio"),
  (
    .audioChanged(isAudible: false, isRecording: false), .audioChanged,
    " neither plays nor records audio"
  ),
  (.audioMuted(true), .audioMuted, ": its audio is muted"),
  (.audioMuted(false), .audioMuted, ": its audio is no longer muted"),
  (.audioInterrupted(by: .phoneCall), .audioInterrupted, ": a phone call interrupts its audio"),
  (.audioInterrupted(by: nil), .audioInterrupted, ": nothing interrupts its audio any more"),
  (
    .audioInterrupted(by: .application(mail.id)), .audioInterrupted,
    ": org.example.mail interrupts its audio"
  ),
  (.audioDucked(true), .audioDucked, ": its volume is lowered"),
  (.audioDucked(false), .audioDucked, ": its volume is no longer lowered"),
  (.callChanged(.began), .callChanged, ": its phone call began"),
  (.callChanged(.held), .callChanged, ": its phone call is on hold because of a newer call"),
  (.remoteControlled(.playPause), .remoteControlled, " was sent the command play-pause"),
  (.remoteControlled(.seek(.seconds(-10))), .remoteControlled, " was sent the command seek -10s"),
  (
    .location(.started(.updates)), .locationStarted, " started continuous updates of the location"
  ),
  (
    .location(.stopped(.significantChanges)), .locationStopped,
    " stopped monitoring significant changes of the location"
  ),
  (.location(.regionMonitored(office)), .regionMonitored, " monitors the region 'office'"),
  (
    .location(.regionForgotten(office)), .regionForgotten,
    " no longer monitors the region 'office'"
  ),
  (
    .location(.regionCrossed(RegionCrossing(office, isInside: true))), .regionCrossed,
    ": the machine entered the region 'office'"
  ),
  (
    .location(.regionCrossed(RegionCrossing(office, isInside: false))), .regionCrossed,
    ": the machine left the region 'office'"
  ),
  (
    .location(.changedSignificantly), .significantChange,
    " was told that the location changed significantly"
  ),
  (.location(.authorized(.denied)), .locationAuthorized, " may not use the location"),
]

private let office = RegionID("office")!

/// Returns an example of the choice of an application to terminate for memory. The application
/// belongs to user 1. Of the next candidates, one belongs to user 2, and one to user 1.
private func choice() -> MemoryChoice {
  func candidate(_ name: String, owner: UInt32, dirty: UInt64) -> MemoryCandidate {
    MemoryCandidate(
      application: key(name, owner: owner), state: .suspended,
      size: MemorySize(InstanceID(1), dirty: dirty << 20, total: 200 << 20), activation: 1)
  }
  return MemoryChoice(
    chosen: candidate("org.example.mail", owner: 1, dirty: 120),
    runnersUp: [
      candidate("org.example.foreign", owner: 2, dirty: 100),
      candidate("org.example.own", owner: 1, dirty: 80),
    ], classCount: 3, memory: MemoryReading(available: 50, total: 1000),
    pressedSince: Instant(nanoseconds: 1), at: Instant(nanoseconds: 2),
    choosingTime: .microseconds(12_300))
}

private func key(_ name: String, owner: UInt32) -> ApplicationKey {
  guard let id = ApplicationID(name) else { preconditionFailure("\(name) is no id") }
  return ApplicationKey(id, owner: UserID(owner))
}

private func sentence(_ change: Record.Change) -> String {
  change.description().sentence(about: key("org.example.mail", owner: 1).id)
}

private func fields(_ change: Record.Change) -> [String: RecordValue] {
  Dictionary(uniqueKeysWithValues: change.description().fields.map { ($0.name, $0.value) })
}

@Suite("§14 A record describes a change of an application in a sentence and in fields")
struct RecordDescriptionTests {
  @Test("Each kind of change has an example in these tests")
  func kinds() {
    #expect(Set(examples.map(\.kind)) == Set(Record.Kind.allCases))
  }

  @Test("Each change has one kind, and a sentence that begins with the application's id")
  func sentences() {
    for example in examples {
      #expect(example.change.description().kind == example.kind)
      #expect(sentence(example.change) == "org.example.mail\(example.text)")
      let text = example.change.description().text
      #expect(text == String(example.text.drop { $0 == ":" || $0 == " " }))
    }
  }

  @Test("No two kinds have the same MESSAGE_ID")
  func messageIDs() {
    #expect(Set(Record.Kind.allCases.map(\.messageID)).count == Record.Kind.allCases.count)
  }

  @Test("The names of a record's fields have units, and a record omits unknown values")
  func fieldsOfRecords() {
    #expect(
      fields(.transition(from: .active, to: .inactive, cause: .interruption)) == [
        "from": .text("active"), "to": .text("inactive"), "cause": .text("interruption"),
      ])
    #expect(
      fields(.taskBegan(TaskID(1), name: "a", remaining: .milliseconds(3))) == [
        "task": .number(1), "taskName": .text("a"), "remainingUSec": .duration(.milliseconds(3)),
      ])
    #expect(fields(.taskEnded(TaskID(2), name: nil)) == ["task": .number(2)])
    #expect(fields(ended(.exited(code: 3))) == ["reason": .text("exited"), "code": .number(3)])
    #expect(
      fields(ended(.crashed(signal: 11)))
        == ["reason": .text("crashed"), "signal": .text("SIGSEGV")])
    #expect(fields(ended(.optedOut)) == ["reason": .text("optedOut")])
    #expect(
      fields(.memoryChosen(choice())) == [
        "dirtyBytes": .bytes(120 << 20), "totalBytes": .bytes(200 << 20),
        "availableBytes": .bytes(50), "choosingUSec": .duration(.microseconds(12_300)),
      ])
    #expect(RecordValue.duration(.milliseconds(3)).texts == ["3000"])
    #expect(RecordValue.texts(["a", "b"]).texts == ["a", "b"])
  }

  @Test("The log may omit a record, but not that of an action of the daemon on an application")
  func indispensable() {
    let kept = examples.filter { $0.change.description().isIndispensable }.map(\.kind)
    #expect(
      Set(kept) == [.suspensionFailed, .signalFailed, .memoryChosen, .throttled, .ruleBroken])
    #expect(ended(.callbackTimeout).description().isIndispensable)
    #expect(ended(.terminatedByUser).description().isIndispensable)
    #expect(!ended(.crashed(signal: 11)).description().isIndispensable)
  }

  @Test(
    "The sentence of each end names the cause",
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
  func ends(_ change: Record.Change, _ text: String) {
    #expect(sentence(change) == "org.example.mail \(text)")
  }

  @Test("§15 A record does not name another user's application that displaced this one")
  func privacy() throws {
    let id = key("org.example.mail", owner: 1).id
    let change = Record.Change.transition(
      from: .active, to: .background,
      cause: .otherActivated(by: key("org.example.game", owner: 2)))
    let all = change.description()
    #expect(
      all.sentence(about: id)
        == "org.example.mail is in the background: org.example.game was activated at its seat")
    #expect(all.fields.contains { $0.name == "by" && $0.value == .text("org.example.game") })
    let some = change.description { $0 == UserID(1) }
    #expect(
      some.sentence(about: id)
        == "org.example.mail is in the background: another application was activated at its seat")
    #expect(!some.fields.contains { $0.name == "by" })
  }

  @Test(
    "The level of an end by a limit or a crash is warning; the level of a requested end is notice")
  func levels() {
    for reason: EndReason in [
      .callbackTimeout, .backgroundTimeExpired, .keepAliveTimeout, .memoryPressure,
      .gpuInBackground, .sharedResourceHeld, .excessiveUse, .crashed(signal: 11),
    ] {
      #expect(ended(reason).level == .warning, "\(reason)")
    }
    for reason: EndReason in [
      .exited(code: 0), .exited(code: 1), .crashed(signal: 2), .crashed(signal: 15),
      .terminatedByOperator, .terminatedByUser, .optedOut, .schedulerStopped,
    ] {
      #expect(ended(reason).level == .notice, "\(reason)")
    }
  }
}
