import TaskSchedulerWire

/// The `--json` form of the daemon's replies: the objects of the interface, on one line, with
/// sorted keys.
///
/// For each field with a time since boot, such as `stateSinceUSec`, the output has a second field
/// with the wall-clock time: `stateSinceRealtimeUSec`.
enum JSONOutput {
  /// The fields that are times since boot. The other fields that end in USec are durations, except
  /// `firesAtUSec` and `measuredAtUSec`, which are wall-clock times.
  static let instants: Set<String> = [
    "atUSec", "beganAtUSec", "chosenAtUSec", "deadlineUSec", "lastRunUSec", "lastUsedUSec",
    "nextLookUSec", "plannedUSec", "pressedAtUSec", "pressedSinceUSec", "simulatedUntilUSec",
    "startedAtUSec", "stateSinceUSec", "warnedAtUSec",
  ]

  /// Returns the value as one line of JSON, with a newline and without the fields that are null.
  ///
  /// - Parameter clock: The reading with which to convert times; nil to convert none, as for times
  ///   of a simulation or of an event log.
  static func line(_ value: some WireValue, _ clock: ClockReading? = .now()) -> String {
    escaped(ordered(JSONValue(value), clock).description) + "\n"
  }

  /// Returns the value of a field in a document that taskctl composes. For nil, returns null, which
  /// `line` omits.
  static func optional(_ value: (some WireValue)?) -> JSONValue {
    value.map { JSONValue($0) } ?? .null
  }

  /// Returns the value with the keys of each object sorted, and with wall-clock times added.
  private static func ordered(_ value: JSONValue, _ clock: ClockReading?) -> JSONValue {
    switch value {
    case .null, .bool, .integer, .number, .string: return value
    case .array(let elements): return .array(elements.map { ordered($0, clock) })
    case .object(let members):
      var all: [JSONValue.Member] = []
      for member in members where member.value != .null {
        all.append(.init(name: member.name, value: ordered(member.value, clock)))
        guard let clock, instants.contains(member.name), case .integer(let usec) = member.value
        else { continue }
        all.append(
          .init(
            name: "\(member.name.dropLast("USec".count))RealtimeUSec",
            value: .integer(Int64(clock.wallUSec(ofBoot: Int(usec))))))
      }
      return .object(all.sorted { $0.name < $1.name })
    }
  }

  /// Escapes DEL, C1 controls and invisible characters, because JSON permits them unescaped.
  private static func escaped(_ json: String) -> String {
    json.unicodeScalars.reduce(into: "") { text, scalar in
      if PrintableText.isPrintable(scalar) {
        text.unicodeScalars.append(scalar)
      } else {
        for unit in String(scalar).utf16 {
          text += "\\u" + PrintableText.hexadecimal(UInt32(unit), digits: 4)
        }
      }
    }
  }
}
