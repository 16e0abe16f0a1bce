import FoundationEssentials
import TaskSchedulerWire

/// The `--json` form of what the daemon sent: its own objects, on one line, keys in order. Beside
/// each instant since boot stands the wall clock's time of it: `stateSinceRealtimeUSec` beside
/// `stateSinceUSec`.
enum JSONOutput {
  /// The fields that are instants since boot; the others that end in USec are lengths of time, but
  /// for `firesAtUSec`, which is the wall clock's.
  static let instants: Set<String> = [
    "atUSec", "beganAtUSec", "chosenAtUSec", "deadlineUSec", "lastRunUSec", "plannedUSec",
    "pressedAtUSec", "pressedSinceUSec", "startedAtUSec", "stateSinceUSec", "warnedAtUSec",
  ]

  /// The text with its end of line. Fields that are null are left out, as on the wire.
  ///
  /// - Parameter clock: nil where instants are those of a simulation or of an event log.
  static func line(_ value: some WireValue, _ clock: ClockReading? = .now()) -> String {
    escaped(ordered(JSONValue(value), clock).description) + "\n"
  }

  /// The text of a document of taskctl's own.
  static func line(
    document: some Encodable, _ clock: ClockReading? = .now()
  ) -> String {
    do {
      return line(try JSONParser.parse(Array(try JSONEncoder().encode(document))), clock)
    } catch {
      fatalError("a document cannot be written as JSON: \(error)")
    }
  }

  /// The value with the keys of each object in order, and with the wall clock's times.
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

  /// JSON itself leaves DEL, C1 and what is not seen as they are; they stand only inside strings.
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
