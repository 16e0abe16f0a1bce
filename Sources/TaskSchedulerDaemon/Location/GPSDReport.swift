import TaskSchedulerCore
import TaskSchedulerWire

// Parses the messages of gpsd (gpsd_json(5)), without I/O. Each message is a line with a JSON
// object that names the class of the message. Most lines that the daemon does not need, such as
// those of class SKY, arrive as often as positions. The daemon skips these lines without parsing
// them.

/// A message of gpsd.
package enum GPSDReport: Equatable, Sendable {
  /// The greeting, which gpsd sends first.
  case version(release: String)
  /// The paths of all receivers.
  case devices([String])
  /// gpsd has opened or closed a receiver.
  case device(String, isOpen: Bool)
  /// The answer to a request to begin or end sending positions.
  case watch(isEnabled: Bool)
  case position(Location)
  /// A receiver does not know its position, or gpsd does not know the time of the position.
  case noPosition
  /// A message that the daemon does not need.
  case other

  /// Parses a line. The line must not include the line feed at its end.
  package init(line: [UInt8]) throws(GPSDViolation) {
    if let name = Self.classAtStart(of: line), !Self.usedClasses.contains(name) {
      self = .other
      return
    }
    let object: JSONValue
    do throws(JSONError) {
      object = try JSONParser.parse(line)
    } catch {
      throw .badJSON(error)
    }
    guard let name = object["class"]?.text else { throw .noClass }
    switch name {
    case "VERSION": self = .version(release: object["release"]?.text ?? "")
    case "DEVICES":
      self = .devices(object["devices"]?.elements.compactMap { $0["path"]?.text } ?? [])
    case "DEVICE": self = Self.device(object)
    case "WATCH": self = .watch(isEnabled: object["enable"] == true)
    case "TPV": self = Self.position(object)
    default: self = .other
    }
  }

  private static let usedClasses: Set<String> = ["VERSION", "DEVICES", "DEVICE", "WATCH", "TPV"]
  private static let start = Array(#"{"class":""#.utf8)

  /// Returns the class of a line that begins with the class; nil for any other line. gpsd's lines
  /// begin with their class.
  private static func classAtStart(of line: [UInt8]) -> String? {
    guard line.starts(with: start) else { return nil }
    let name = line[start.count...].prefix { $0 != UInt8(ascii: "\"") }
    // If the name contains an escape, or the line ends within the name, leave the line to the JSON
    // parser.
    guard name.endIndex < line.count, !name.contains(UInt8(ascii: "\\")) else { return nil }
    return String(decoding: name, as: UTF8.self)
  }

  private static func device(_ object: JSONValue) -> GPSDReport {
    guard let path = object["path"]?.text else { return .other }
    // gpsd reports the time at which it opened the receiver, or 0 if it closed the receiver.
    return .device(path, isOpen: object["activated"]?.number != 0)
  }

  /// The lowest value of `mode` with which gpsd knows the position, and the lowest value with which
  /// gpsd also knows the altitude.
  private static let modeMin: Int64 = 2
  private static let modeWithAltitude: Int64 = 3

  private static func position(_ object: JSONValue) -> GPSDReport {
    guard case .integer(let mode)? = object["mode"], mode >= modeMin,
      let time = object["time"]?.text.flatMap({ WallTime(rfc3339: $0) }),
      let latitude = object["lat"]?.number, let longitude = object["lon"]?.number,
      let coordinate = Coordinate(latitude: latitude, longitude: longitude)
    else { return .noPosition }
    let course = object["track"]?.number
    return .position(
      Location(
        coordinate, accuracy: accuracy(object),
        altitude: mode >= modeWithAltitude
          ? object["altMSL"]?.number ?? object["alt"]?.number : nil,
        speed: object["speed"]?.number, course: course == 360 ? 0 : course, time: time))
  }

  /// Returns the horizontal error, in meters. Some receivers report only the errors of the
  /// longitude and of the latitude.
  private static func accuracy(_ object: JSONValue) -> Double? {
    if let error = object["eph"]?.number, error > 0 { return error }
    guard let x = object["epx"]?.number, let y = object["epy"]?.number else { return nil }
    return (x * x + y * y).squareRoot()
  }
}

extension JSONValue {
  fileprivate var text: String? {
    switch self {
    case .string(let text): text
    case .null, .bool, .integer, .number, .array, .object: nil
    }
  }

  /// The value of an integer or of a finite float.
  fileprivate var number: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number.isFinite ? number : nil
    case .null, .bool, .string, .array, .object: nil
    }
  }

  fileprivate var elements: [JSONValue] {
    switch self {
    case .array(let elements): elements
    case .null, .bool, .integer, .number, .string, .object: []
    }
  }
}

/// Input that a correct gpsd never sends. The daemon cannot use the connection any further.
package enum GPSDViolation: Error, Hashable, Sendable, CustomStringConvertible {
  case longLine
  case badJSON(JSONError)
  case noClass

  package var description: String {
    switch self {
    case .longLine: "a line has more than \(GPSDReportBuffer.lineBytesMax) bytes"
    case .badJSON(let error): "a line is malformed: \(error)"
    case .noClass: "a line names no class"
    }
  }
}

/// A buffer that splits the stream of bytes from gpsd into reports.
package struct GPSDReportBuffer: Sendable {
  /// The maximum length of a line in bytes. The lines of gpsd have at most 10,240 bytes.
  package static let lineBytesMax = 64 << 10

  private var bytes: [UInt8] = []
  /// The offset of the first byte after the lines that ``next()`` has read.
  private var start = 0
  /// The offset at which the search for the next line feed continues. The bytes from `start` up to
  /// this offset contain no line feed.
  private var searched = 0

  package init() {}

  package mutating func append(_ more: UnsafeRawBufferPointer) {
    // This is cheap: only an incomplete line follows the removed lines, so few bytes move.
    if start > 0 {
      bytes.removeFirst(start)
      searched -= start
      start = 0
    }
    bytes.append(contentsOf: more)
  }

  /// Returns the next report; nil until more bytes arrive. After an error, the stream is unusable.
  package mutating func next() throws(GPSDViolation) -> GPSDReport? {
    while let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
      var line = bytes[start..<end]
      (start, searched) = (end + 1, end + 1)
      if line.count > Self.lineBytesMax { throw .longLine }
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      if !line.isEmpty { return try GPSDReport(line: Array(line)) }
    }
    searched = bytes.count
    if bytes.count - start > Self.lineBytesMax { throw .longLine }
    return nil
  }
}
