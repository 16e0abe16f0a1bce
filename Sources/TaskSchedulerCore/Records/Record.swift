// The records of changes for the journal, monitors and timelines. A new record needs a case, a
// kind, a description and a stored form in this file; the code that prints records does not change.
// The descriptions of some records are in other files: `EndRecord`, `LocationRecord`,
// `MemoryRecord` and `ResourceRecord`.

/// One change, for the log and the monitors.
public struct Record: Equatable, Sendable {
  public var application: ApplicationKey
  /// The leader of the running instance; nil if the application does not run.
  public var leader: Leader?
  public var change: Change

  /// Creates a record.
  public init(application: ApplicationKey, leader: Leader?, change: Change) {
    self.application = application
    self.leader = leader
    self.change = change
  }

  /// The kinds of changes, with their details.
  public enum Change: Equatable, Sendable {
    case transition(from: ApplicationState, to: ApplicationState, cause: TransitionCause)
    case registered
    case taskBegan(TaskID, name: String?, remaining: Duration?)
    case taskEnded(TaskID, name: String?)
    case taskExpired(TaskID, name: String?)
    case ended(End)
    case refused(Refusal)
    case suspensionFailed(reason: String)
    case signalFailed(reason: String)
    /// The interval of the new handler; nil if the application cleared its handler.
    case keepAliveSet(interval: Duration?)
    case keepAliveCalled
    case socketManaged(SocketID)
    case socketReleased(SocketID)
    case socketsReady([SocketReadiness])
    case notificationScheduled(NotificationID)
    case notificationsCancelled([NotificationID])
    case notificationFired(NotificationID)
    case notificationChosen(NotificationID)
    case badgeSet(Int)
    /// The scheduler will relaunch the application after this delay. With `awaitsMemory`, it also
    /// waits for the end of memory pressure.
    case relaunchPlanned(after: Duration, awaitsMemory: Bool)
    /// The scheduler sent a memory warning. With `isSimulated`, an operator requested the warning.
    case memoryWarned(isSimulated: Bool)
    /// The scheduler terminates the application to free its memory.
    case memoryChosen(MemoryChoice)
    case resources(ResourceRecord)
    /// The snapshot of the application changed; with nil, the application has no snapshot any more.
    case snapshotChanged(Snapshot?)
    /// A person removed the application from the application switcher.
    case removedFromSwitcher
    /// The application became audible, began to record, or ceased to be audible or to record.
    case audioChanged(isAudible: Bool, isRecording: Bool)
    /// The daemon mutes the streams of the application, or ends the mute.
    case audioMuted(Bool)
    /// The application receives a command, for example of `taskctl remote`.
    case remoteControlled(RemoteCommand)
    /// The daemon lowers or restores the volume of the application.
    case audioDucked(Bool)
    /// The audio of the application is interrupted; with nil, it is no longer interrupted.
    case audioInterrupted(by: AudioInterrupter?)
    /// The application's phone call began, ended, was put on hold, or is no longer on hold.
    case callChanged(CallChange)
    case location(LocationRecord)
  }
}

extension Record {
  /// The kind of a change. Monitors receive the name of the kind, as a `ChangeKind` of
  /// org.taskschedd.Control.
  package enum Kind: String, CaseIterable, Sendable {
    case transition, registered
    case taskBegan, taskEnded, taskExpired
    case ended, refused, suspensionFailed, signalFailed
    case keepAliveSet, keepAliveCalled
    case socketManaged, socketReleased, socketsReady
    case notificationScheduled, notificationsCancelled, notificationFired, notificationChosen
    case badgeSet, relaunchPlanned, memoryWarned, memoryChosen
    case throttled, listening, ruleBroken
    case snapshotChanged, removedFromSwitcher
    case audioChanged, audioMuted, audioDucked, remoteControlled, audioInterrupted, callChanged
    case locationStarted, locationStopped, regionMonitored, regionForgotten, regionCrossed
    case significantChange, locationAuthorized

    /// The MESSAGE_ID in the journal, from `systemd-id128 new`.
    ///
    /// The meaning of an id never changes. Scripts search for the ids, and `journalctl -x` shows
    /// the explanation of each id from `systemd/catalog/taskschedd.catalog`.
    package var messageID: String {
      switch self {
      case .transition: "6c7e1cce513d42ab9485fe1243d1d400"
      case .registered: "8181f8723225470e959d4cff49953662"
      case .taskBegan: "2d895174c4204e45beb4669630cad3ea"
      case .taskEnded: "e49edfa6240e48c48353213253f283d4"
      case .taskExpired: "098c0699c0ae492da691b9406aeb04f9"
      case .ended: "a523f00aacb844d49ff63b2a964b9e16"
      case .refused: "1a9c58fe87624e68a0ad092ac64097f2"
      case .suspensionFailed: "1023cc4d46904b458c3c879fc972e7f6"
      case .signalFailed: "2d0f7f8e5eb04b5b9f47f3e9ab0413dd"
      case .keepAliveSet: "06de9ac3d5f84e818957b95b0428b0a0"
      case .keepAliveCalled: "195f4497d2134fe7a3ae85f470a884cc"
      case .socketManaged: "6bfb94c4f3ce40fdb41cadbdd763f6c3"
      case .socketReleased: "e19578ef9b8f4f2d8eb04184b6fbd438"
      case .socketsReady: "a0139f45464146e9a449951af2b4a1b3"
      case .notificationScheduled: "7bc0a25e505449f7b51b14ab41d1e3bf"
      case .notificationsCancelled: "7059c2f9cf3346e6bad97d83c2339f66"
      case .notificationFired: "c60ee909709348f3809df45eb35aee85"
      case .notificationChosen: "63682db7d74940738d0a0c63c1004a6b"
      case .badgeSet: "0022111c0eba46d58c72ec45e77f6904"
      case .relaunchPlanned: "ba5affcd44284d4b83f09e762f4731c1"
      case .memoryWarned: "fa18011195aa4510ab1e56d145c8ada2"
      case .memoryChosen: "d1b521a5b20d48159af2f65fadc71630"
      case .throttled: "5b7cbe7a7af8470890ee4dc2a7b05840"
      case .listening: "9681549e05d14637a5539e6276db2620"
      case .ruleBroken: "bddad48348434a9db7212a10d0a14697"
      case .snapshotChanged: "a7c59cc4e3ba490db1ba852c74573c22"
      case .removedFromSwitcher: "3a7c61c10d924f69a6ae8e097174e2bf"
      case .audioChanged: "2450a57e47044177bf7b6ce8d6dd52e2"
      case .audioMuted: "b13415de87e04ff8ba08e67ab0948153"
      case .remoteControlled: "78f36afb617c48eeb0254a3600ae52dc"
      case .audioDucked: "e71d0b6f3f1b4d6cb0f4b42a1c9be5d8"
      case .audioInterrupted: "9b1a69a58e5b405687f928f220d47086"
      case .callChanged: "209717c3864f46198761c2a134519d14"
      case .locationStarted: "403b6f0a25384742b9dab34631b74d78"
      case .locationStopped: "889b791eda11487ba869e7143ab9713b"
      case .regionMonitored: "148174cd7b944f928071c38bc3a5c6da"
      case .regionForgotten: "f9c10cb4e9fe415ab8c49efb70f4b2d4"
      case .regionCrossed: "597dd1d9e8a24bb499a409df7e4d84f8"
      case .significantChange: "24dd895c8bf347ed971655466d72f3ad"
      case .locationAuthorized: "c7d9416957ba4226a90e6b91d27d5b94"
      }
    }
  }
}

extension Record.Change {
  /// The level of the record. The level is not a part of the description, because the log creates a
  /// description only if the level shows that it must write the record.
  package var level: LogLevel {
    switch self {
    case .suspensionFailed, .signalFailed: .warning
    case .taskExpired, .refused, .relaunchPlanned, .memoryChosen: .notice
    case .transition, .registered, .taskBegan, .taskEnded, .keepAliveSet, .keepAliveCalled,
      .socketManaged, .socketReleased, .socketsReady, .notificationScheduled,
      .notificationsCancelled, .notificationFired, .notificationChosen, .memoryWarned,
      .removedFromSwitcher, .remoteControlled, .audioInterrupted, .callChanged:
      .info
    case .badgeSet, .snapshotChanged, .audioChanged, .audioMuted, .audioDucked:
      .debug
    case .ended(let end): end.reason.level
    case .resources(let record): record.level
    case .location(let record): record.level
    }
  }

  /// Returns the description of the change for one reader.
  ///
  /// - Parameter isVisible: Returns whether the reader may see the applications of a user.
  package func description(isVisible: (UserID) -> Bool = { _ in true }) -> RecordDescription {
    switch self {
    case .transition(let from, let to, let cause):
      .transition(from, to, cause, by: cause.activated.flatMap { isVisible($0.owner) ? $0 : nil })
    case .registered: .init(.registered, .predicate("opened its event stream"))
    case .taskBegan(let task, let name, let remaining):
      .task(
        task, name, .taskBegan,
        .predicate("began background \(task.words(name)), with \(left(remaining))"),
        remaining: remaining)
    case .taskEnded(let task, let name):
      .task(task, name, .taskEnded, .predicate("ended background \(task.words(name))"))
    case .taskExpired(let task, let name):
      .task(task, name, .taskExpired, .clause("background \(task.words(name)) expires"))
    case .ended(let end): end.recordDescription
    case .refused(let refusal):
      .init(
        .refused, .clause("a request was refused because \(refusal.words)"),
        ["reason": .text(refusal.name)])
    case .suspensionFailed(let reason):
      .init(
        .suspensionFailed,
        .predicate("could not be suspended and keeps running: \(reason)"),
        ["reason": .text(reason)], isIndispensable: true)
    case .signalFailed(let reason):
      .init(
        .signalFailed, .clause("an operation on its processes failed: \(reason)"),
        ["reason": .text(reason)], isIndispensable: true)
    case .keepAliveSet(let interval): .init(.keepAliveSet, .predicate(keepAlive(interval)))
    case .keepAliveCalled: .init(.keepAliveCalled, .clause("its keep-alive handler is called"))
    case .socketManaged(let id):
      .socket(id, .socketManaged, .predicate("handed over socket \(id.number)"))
    case .socketReleased(let id):
      .socket(id, .socketReleased, .clause("socket \(id.number) is no longer watched"))
    case .socketsReady(let sockets):
      .init(
        .socketsReady,
        .predicate("was woken by \(sockets.map(\.words).joined(separator: ", "))"))
    case .notificationScheduled(let id):
      .notification(id, .notificationScheduled, "notification \(id.number) is scheduled")
    case .notificationsCancelled(let ids):
      .init(.notificationsCancelled, .predicate(cancellation(of: ids)))
    case .notificationFired(let id):
      .notification(id, .notificationFired, "notification \(id.number) fires")
    case .notificationChosen(let id):
      .notification(id, .notificationChosen, "the user chose notification \(id.number)")
    case .badgeSet(let badge):
      .init(.badgeSet, .predicate(badge == 0 ? "cleared its badge" : "set its badge to \(badge)"))
    case .relaunchPlanned(let delay, let awaitsMemory):
      .init(.relaunchPlanned, .predicate(relaunch(delay, awaitsMemory)))
    case .memoryWarned(let isSimulated): .init(.memoryWarned, .predicate(warning(isSimulated)))
    case .memoryChosen(let choice): choice.recordDescription
    case .resources(let record): record.recordDescription
    case .snapshotChanged(let snapshot): .init(.snapshotChanged, .predicate(words(snapshot)))
    case .removedFromSwitcher:
      .init(.removedFromSwitcher, .predicate("was removed from the application switcher"))
    case .audioChanged(let isAudible, let isRecording):
      .init(.audioChanged, .predicate(audio(isAudible, isRecording)))
    case .audioMuted(let isMuted):
      .init(.audioMuted, .clause("its audio is \(isMuted ? "muted" : "no longer muted")"))
    case .remoteControlled(let command):
      .init(.remoteControlled, .predicate("was sent the command \(command.words)"))
    case .audioDucked(let isDucked):
      .init(.audioDucked, .clause("its volume is \(isDucked ? "lowered" : "no longer lowered")"))
    case .audioInterrupted(let interrupter):
      .init(.audioInterrupted, .clause(interruption(interrupter)))
    case .callChanged(let change): .init(.callChanged, .clause(change.words))
    case .location(let record): record.recordDescription
    }
  }

  private func warning(_ isSimulated: Bool) -> String {
    "was sent a memory warning\(isSimulated ? " (simulated)" : "")"
  }

  private func words(_ snapshot: Snapshot?) -> String {
    switch snapshot {
    case .picture: "has a new snapshot"
    case .sensitive: "hides its snapshot"
    case nil: "has no snapshot any more"
    }
  }

  private func audio(_ isAudible: Bool, _ isRecording: Bool) -> String {
    switch (isAudible, isRecording) {
    case (true, true): "plays and records audio"
    case (true, false): "plays audio"
    case (false, true): "records audio"
    case (false, false): "neither plays nor records audio"
    }
  }

  private func interruption(_ interrupter: AudioInterrupter?) -> String {
    switch interrupter {
    case .phoneCall: "a phone call interrupts its audio"
    case .application(let id): "\(id.name) interrupts its audio"
    case nil: "nothing interrupts its audio any more"
    }
  }

  private func left(_ remaining: Duration?) -> String {
    remaining.map { "\(TimeSpan.short($0)) of background time left" } ?? "unlimited time"
  }

  private func keepAlive(_ interval: Duration?) -> String {
    guard let interval else { return "cleared its keep-alive handler" }
    return "set a keep-alive handler with an interval of \(TimeSpan.format(interval))"
  }

  private func cancellation(of ids: [NotificationID]) -> String {
    "cancelled notification\(ids.count == 1 ? "" : "s") "
      + ids.map { "\($0.number)" }.joined(separator: ", ")
  }

  private func relaunch(_ delay: Duration, _ awaitsMemory: Bool) -> String {
    "will be relaunched in \(TimeSpan.short(delay))"
      + (awaitsMemory ? ", but not before memory pressure ends" : "")
  }
}

extension RecordDescription {
  fileprivate static func transition(
    _ from: ApplicationState, _ to: ApplicationState, _ cause: TransitionCause, by: ApplicationKey?
  ) -> Self {
    .init(
      .transition, .predicate(to.predicate(after: cause) + cause.clause(from: from, activated: by)),
      [
        "from": .text(from.rawValue), "to": .text(to.rawValue), "cause": .text(cause.name),
        "by": by.map { .text($0.id.name) },
      ])
  }

  fileprivate static func task(
    _ task: TaskID, _ name: String?, _ kind: Record.Kind,
    _ text: @escaping @autoclosure () -> RecordText, remaining: Duration? = nil
  ) -> Self {
    .init(
      kind, text(),
      [
        "task": .number(task.number), "taskName": name.map { .text($0) },
        "remaining": remaining.map { .duration($0) },
      ])
  }

  fileprivate static func socket(
    _ id: SocketID, _ kind: Record.Kind, _ text: @escaping @autoclosure () -> RecordText
  ) -> Self {
    .init(kind, text(), ["socket": .number(id.number)])
  }

  fileprivate static func notification(
    _ id: NotificationID, _ kind: Record.Kind, _ clause: @escaping @autoclosure () -> String
  ) -> Self {
    .init(kind, .clause(clause()), ["notification": .number(id.number)])
  }
}

// MARK: Stored form

extension Record: StoredByForm {
  package static let form = Form(
    Record.init(application:leader:change:), \.application, \.leader, \.change)
}

extension Record.Change: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("transition", Self.transition), Case("registered", Self.registered),
    Case("taskBegan", Self.taskBegan), Case("taskEnded", Self.taskEnded),
    Case("taskExpired", Self.taskExpired), Case("ended", Self.ended), Case("refused", Self.refused),
    Case("suspensionFailed", Self.suspensionFailed), Case("signalFailed", Self.signalFailed),
    Case("keepAliveSet", Self.keepAliveSet), Case("keepAliveCalled", Self.keepAliveCalled),
    Case("socketManaged", Self.socketManaged), Case("socketReleased", Self.socketReleased),
    Case("socketsReady", Self.socketsReady),
    Case("notificationScheduled", Self.notificationScheduled),
    Case("notificationsCancelled", Self.notificationsCancelled),
    Case("notificationFired", Self.notificationFired),
    Case("notificationChosen", Self.notificationChosen), Case("badgeSet", Self.badgeSet),
    Case("relaunchPlanned", Self.relaunchPlanned), Case("memoryWarned", Self.memoryWarned),
    Case("memoryChosen", Self.memoryChosen), Case("resources", Self.resources),
    Case("snapshotChanged", Self.snapshotChanged),
    Case("removedFromSwitcher", Self.removedFromSwitcher),
    Case("audioChanged", Self.audioChanged(isAudible:isRecording:)),
    Case("audioMuted", Self.audioMuted), Case("remoteControlled", Self.remoteControlled),
    Case("audioInterrupted", Self.audioInterrupted(by:)), Case("callChanged", Self.callChanged),
    Case("audioDucked", Self.audioDucked),
    Case("location", Self.location),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .transition(let a, let b, let c): writer.write(case: 0, a, b, c)
    case .registered: writer.write(case: 1)
    case .taskBegan(let a, let b, let c): writer.write(case: 2, a, b, c)
    case .taskEnded(let a, let b): writer.write(case: 3, a, b)
    case .taskExpired(let a, let b): writer.write(case: 4, a, b)
    case .ended(let a): writer.write(case: 5, a)
    case .refused(let a): writer.write(case: 6, a)
    case .suspensionFailed(let a): writer.write(case: 7, a)
    case .signalFailed(let a): writer.write(case: 8, a)
    case .keepAliveSet(let a): writer.write(case: 9, a)
    case .keepAliveCalled: writer.write(case: 10)
    case .socketManaged(let a): writer.write(case: 11, a)
    case .socketReleased(let a): writer.write(case: 12, a)
    case .socketsReady(let a): writer.write(case: 13, a)
    case .notificationScheduled(let a): writer.write(case: 14, a)
    case .notificationsCancelled(let a): writer.write(case: 15, a)
    case .notificationFired(let a): writer.write(case: 16, a)
    case .notificationChosen(let a): writer.write(case: 17, a)
    case .badgeSet(let a): writer.write(case: 18, a)
    case .relaunchPlanned(let a, let b): writer.write(case: 19, a, b)
    case .memoryWarned(let a): writer.write(case: 20, a)
    case .memoryChosen(let a): writer.write(case: 21, a)
    case .resources(let a): writer.write(case: 22, a)
    case .snapshotChanged(let a): writer.write(case: 23, a)
    case .removedFromSwitcher: writer.write(case: 24)
    case .audioChanged(let a, let b): writer.write(case: 25, a, b)
    case .audioMuted(let a): writer.write(case: 26, a)
    case .remoteControlled(let a): writer.write(case: 27, a)
    case .audioInterrupted(let a): writer.write(case: 28, a)
    case .callChanged(let a): writer.write(case: 29, a)
    case .audioDucked(let a): writer.write(case: 30, a)
    case .location(let a): writer.write(case: 31, a)
    }
  }
}

/// The description of a change for the journal, a monitor or a timeline.
package struct RecordDescription {
  package let kind: Record.Kind
  /// Whether the daemon logs the record even while it limits the rate of records. The value is true
  /// for actions of the daemon whose rate no client controls.
  package let isIndispensable: Bool
  // The text and the fields are closures, because most readers need only one of them. A record that
  // is not logged needs neither.
  private let makeText: () -> RecordText
  private let makeFields: () -> KeyValuePairs<String, RecordValue?>

  /// Creates the description of a record.
  ///
  /// - Parameter fields: The values for programs. Their names are in camel case, without a unit. A
  ///   field with the value nil is omitted.
  init(
    _ kind: Record.Kind, _ text: @escaping @autoclosure () -> RecordText,
    _ fields: @escaping @autoclosure () -> KeyValuePairs<String, RecordValue?> = [:],
    isIndispensable: Bool = false
  ) {
    self.kind = kind
    self.isIndispensable = isIndispensable
    makeText = text
    makeFields = fields
  }

  /// The text without the application's id, for lines that begin with the id.
  package var text: String {
    switch makeText() {
    case .predicate(let text), .clause(let text): text
    }
  }

  /// Returns one sentence, which begins with the application's id.
  package func sentence(about application: ApplicationID) -> String {
    switch makeText() {
    case .predicate(let text): "\(application.name) \(text)"
    case .clause(let text): "\(application.name): \(text)"
    }
  }

  /// The values for programs. A name ends with the unit of its value, if the value has one:
  /// `remainingUSec`, `dirtyBytes`.
  package var fields: [(name: String, value: RecordValue)] {
    makeFields().compactMap { name, value in value.map { (name + $0.unit, $0) } }
  }
}

/// The text of a record, without the application's id.
enum RecordText {
  /// Follows the application's id: `opened its event stream`.
  case predicate(String)
  /// Has a subject of its own: `notification 3 fires`.
  case clause(String)
}

/// A value of a record.
package enum RecordValue: Equatable, Sendable {
  case text(String)
  case texts([String])
  case number(UInt64)
  case duration(Duration)
  case bytes(UInt64)

  fileprivate var unit: String {
    switch self {
    case .text, .texts, .number: ""
    case .duration: "USec"
    case .bytes: "Bytes"
    }
  }

  /// The value as texts: one for each element of a list, otherwise a single text.
  package var texts: [String] {
    switch self {
    case .text(let text): [text]
    case .texts(let texts): texts
    case .number(let number), .bytes(let number): ["\(number)"]
    case .duration(let duration): ["\(duration.microseconds)"]
    }
  }
}

/// The importance of a record, as in syslog(3).
public enum LogLevel: String, CaseIterable, Equatable, Sendable {
  case error, warning, notice, info, debug
}
