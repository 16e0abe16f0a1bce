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
    /// The time since boot at which the event log begins. The times of the entries are relative to
    /// it.
    var beganAtUSec: Int
    /// The number of events in earlier event logs.
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

  /// Returns the document. Its field `isCut` is true if the timeline was cut at its limit.
  static func json(_ timeline: Timeline, of eventLog: EventLogFacts? = nil) -> JSONValue {
    [
      "entries": .array(timeline.entries.map(entry)), "isCut": .bool(timeline.isCut),
      "eventLog": eventLog?.json ?? .null,
    ]
  }

  private static func entry(_ entry: Timeline.Entry) -> JSONValue {
    let (kind, fields) = fields(entry.kind)
    let common: [String: JSONValue] = [
      "atUSec": JSONValue(entry.at.microseconds), "kind": JSONValue(kind),
      "application": JSONOutput.optional(entry.application?.name),
      "text": JSONValue(TimelineText.words(entry.kind, .plain)),
    ]
    let all = common.merging(fields) { _, field in field }
    return .object(all.map { JSONValue.Member(name: $0, value: $1) })
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
          "task": number(task.number),
          "remainingUSec": JSONOutput.optional(remaining?.microseconds),
        ]
      )
    case .notice: ("notice", [:])
    case .shown(let id): ("notificationShown", ["notification": number(id.number)])
    case .change(let change): fields(change.description())
    }
  }

  private static func fields(
    _ description: RecordDescription
  ) -> (kind: String, fields: [String: JSONValue]) {
    let fields = description.fields.map { ($0.name, value($0.value)) }
    return (description.kind.rawValue, Dictionary(uniqueKeysWithValues: fields))
  }

  private static func value(_ value: RecordValue) -> JSONValue {
    switch value {
    case .text(let text): JSONValue(text)
    case .texts(let texts): .array(texts.map { JSONValue($0) })
    case .number(let count), .bytes(let count): number(count)
    case .duration(let duration): JSONValue(duration.microseconds)
    }
  }
}
