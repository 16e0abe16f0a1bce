import TaskSchedulerCore
import TaskSchedulerSimulation
import TaskSchedulerWire

/// The JSON form of a timeline.
enum TimelineDocument {
  /// The event log that a timeline comes from.
  struct EventLogFacts {
    var path: String
    /// The version of the daemon that wrote the event log.
    var writer: String
    /// The start of the event log, since boot; the times of the entries are relative to it.
    var beganAtUSec: Int
    /// The number of events before the start of the event log.
    var eventsBefore: UInt64
    var events: Int
    /// The damage after which no record could be read.
    var damage: String?
    var violation: String?

    fileprivate var json: JSONValue {
      [
        "path": JSONValue(path), "writer": JSONValue(writer),
        "beganAtUSec": JSONValue(beganAtUSec), "eventsBefore": number(eventsBefore),
        "events": JSONValue(events), "damage": JSONOutput.optional(damage),
        "violation": JSONOutput.optional(violation),
      ]
    }
  }

  /// Returns the document; `isCut` says whether the timeline was cut at its limit.
  static func json(_ timeline: Timeline, of eventLog: EventLogFacts? = nil) -> JSONValue {
    [
      "entries": .array(timeline.entries.map(entry)), "isCut": .bool(timeline.isCut),
      "eventLog": eventLog?.json ?? .null,
    ]
  }

  private static func entry(_ entry: Timeline.Entry) -> JSONValue {
    let (kind, fields) = fields(entry.kind)
    let common: [String: JSONValue] = [
      "atUSec": microseconds(entry.at), "kind": JSONValue(kind),
      "application": JSONOutput.optional(entry.application?.name),
      "text": JSONValue(TimelineText.words(entry.kind, .plain)),
    ]
    let all = common.merging(fields) { _, field in field }
    return .object(all.map { JSONValue.Member(name: $0, value: $1) })
  }

  private static func microseconds(_ duration: Duration) -> JSONValue {
    let (seconds, attoseconds) = duration.components
    return .integer(seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
  }

  private static func number(_ number: UInt64) -> JSONValue { .integer(Int64(clamping: number)) }

  /// Returns the name of a kind, and the fields that only this kind has.
  private static func fields(_ kind: Timeline.Kind) -> (kind: String, fields: [String: JSONValue]) {
    switch kind {
    case .step(let step): ("step", ["step": JSONValue(step)])
    case .daemonReturned: ("daemonReturned", [:])
    case .stands(let state, _): ("stands", ["to": JSONValue(state.rawValue)])
    case .callback(let callback): ("callback", ["callback": JSONValue(callback.rawValue)])
    case .signal(let signal): ("signal", ["signal": JSONValue(signal.name)])
    case .expiration(let task, let remaining):
      (
        "expiration",
        [
          "task": number(task.number), "remainingUSec": remaining.map(microseconds) ?? .null,
        ]
      )
    case .notice: ("notice", [:])
    case .shown(let id): ("notificationShown", ["notification": number(id.number)])
    case .change(let change): fields(change)
    }
  }

  private static func fields(
    _ change: Record.Change
  ) -> (kind: String, fields: [String: JSONValue]) {
    switch change {
    case .transition(let from, let to, let cause):
      (
        "transition",
        [
          "from": JSONValue(from.rawValue), "to": JSONValue(to.rawValue),
          "cause": JSONValue(cause.name),
          "by": JSONOutput.optional(cause.activated?.id.name),
        ]
      )
    case .registered: ("registered", [:])
    case .taskBegan(let task, let name, let remaining):
      (
        "taskBegan",
        taskFields(task, name).merging(
          ["remainingUSec": remaining.map(microseconds) ?? .null]) { $1 }
      )
    case .taskEnded(let task, let name): ("taskEnded", taskFields(task, name))
    case .taskExpired(let task, let name): ("taskExpired", taskFields(task, name))
    case .ended(let end): ("ended", ["reason": JSONValue(end.reason.name)])
    case .refused(let refusal): ("refused", ["reason": JSONValue(refusal.name)])
    case .suspensionFailed(let reason): ("suspensionFailed", ["reason": JSONValue(reason)])
    case .signalFailed(let reason): ("signalFailed", ["reason": JSONValue(reason)])
    case .keepAliveSet: ("keepAliveSet", [:])
    case .keepAliveCalled: ("keepAliveCalled", [:])
    case .socketManaged(let socket): ("socketManaged", ["socket": number(socket.number)])
    case .socketReleased(let socket): ("socketReleased", ["socket": number(socket.number)])
    case .socketsReady: ("socketsReady", [:])
    case .notificationScheduled(let id):
      ("notificationScheduled", ["notification": number(id.number)])
    case .notificationsCancelled: ("notificationsCancelled", [:])
    case .notificationFired(let id): ("notificationFired", ["notification": number(id.number)])
    case .notificationChosen(let id): ("notificationChosen", ["notification": number(id.number)])
    case .badgeSet: ("badgeSet", [:])
    case .relaunchPlanned: ("relaunchPlanned", [:])
    case .memoryWarned: ("memoryWarned", [:])
    case .memoryChosen: ("memoryChosen", [:])
    case .resources: ("resources", [:])
    }
  }

  private static func taskFields(_ task: TaskID, _ name: String?) -> [String: JSONValue] {
    ["task": number(task.number), "taskName": JSONOutput.optional(name)]
  }
}
