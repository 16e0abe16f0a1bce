import TaskSchedulerCore

extension Track {
  /// Reads a GPX file, version 1.0 or 1.1 (topografix.com/gpx.asp).
  ///
  /// The track has the points of all tracks of the file (`trkpt`), in their order. If the file has
  /// no such points, the track has the points of the routes (`rtept`), or else the waypoints
  /// (`wpt`).
  ///
  /// - Throws: The first mistake.
  public init(gpx bytes: [UInt8]) throws(TrackProblem) {
    var reader = GPXReader(xml: try XMLReader(bytes))
    self = try reader.track()
  }
}

private struct GPXReader {
  /// The kinds of points, the most suitable for a track first.
  private enum Kind: String, CaseIterable { case trkpt, rtept, wpt }

  /// The parts of a point.
  private enum Part: String { case ele, time, speed, course }

  private var xml: XMLReader
  /// The number of elements that contain the present place.
  private var depth = 0
  private var points: [Kind: [Track.Point]] = [:]
  private var pointCount = 0
  private var point: (value: Track.Point, kind: Kind, depth: Int)?
  private var part: (value: Part, depth: Int)?

  init(xml: XMLReader) { self.xml = xml }

  mutating func track() throws(TrackProblem) -> Track {
    reading: while true {
      switch try xml.next() {
      case .start(let element):
        depth += 1
        try begin(element)
      case .end:
        try end()
        depth -= 1
      case .finished: break reading
      }
    }
    for kind in Kind.allCases {
      if let track = Track(points[kind] ?? []) { return track }
    }
    throw xml.problem("the file has no points: none of the elements trkpt, rtept and wpt")
  }

  private mutating func begin(_ element: XMLReader.Element) throws(TrackProblem) {
    if depth == 1, element.name != "gpx" {
      let name = PrintableText.of(String(element.name.prefix(40)))
      throw xml.problem("the outermost element is <\(name)>; in a GPX file it is <gpx>")
    }
    if let kind = Kind(rawValue: element.name) {
      if let point { throw xml.problem("<\(kind)> is inside of <\(point.kind)>") }
      pointCount += 1
      guard pointCount <= Track.pointsMax else {
        throw xml.problem("the file has more than \(Track.pointsMax) points")
      }
      let line = xml.line
      point = (Track.Point(try coordinate(element), line: line), kind, depth)
    } else if let point, part == nil, let part = Part(rawValue: element.name) {
      // The speed and the course may be in an extension of the point. An `ele` or `time` in an
      // extension does not belong to the point.
      switch part {
      case .ele, .time: guard depth == point.depth + 1 else { return }
      case .speed, .course: break
      }
      self.part = (part, depth)
      xml.text = []
    }
  }

  private mutating func end() throws(TrackProblem) {
    if let part, part.depth == depth {
      try set(part.value, String(decoding: xml.text ?? [], as: UTF8.self))
      self.part = nil
      xml.text = nil
    }
    if let point, point.depth == depth {
      points[point.kind, default: []].append(point.value)
      self.point = nil
    }
  }

  private func coordinate(
    _ element: XMLReader.Element
  ) throws(TrackProblem) -> Coordinate {
    func degrees(_ name: String, max: Double) throws(TrackProblem) -> Double {
      guard let text = element.attribute(name) else {
        throw xml.problem("<\(element.name)> has no attribute \(name)")
      }
      guard let value = number(text), (-max...max).contains(value) else {
        throw xml.problem(
          "\(name) is '\(shown(text))'; it must be a number from \(Int(-max)) to \(Int(max))")
      }
      return value
    }
    let latitude = try degrees("lat", max: 90)
    let longitude = try degrees("lon", max: 180)
    guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
      throw xml.problem("the position of <\(element.name)> is not a place on the earth")
    }
    return coordinate
  }

  private mutating func set(_ part: Part, _ text: String) throws(TrackProblem) {
    switch part {
    case .time:
      guard let time = WallTime(dateTime: trimmed(text)) else {
        throw xml.problem(
          "the time is '\(shown(text))'; it must be like 2026-11-21T14:03:22Z, from 1970 to 2261")
      }
      point?.value.time = time
    case .ele:
      let altitude = try number(text, of: part)
      point?.value.altitude = altitude
    // Some programs write a negative number for an unknown speed or course.
    case .speed:
      let speed = try number(text, of: part)
      point?.value.speed = speed >= 0 ? speed : nil
    case .course:
      let course = try number(text, of: part)
      point?.value.course = (0..<360).contains(course) ? course : course == 360 ? 0 : nil
    }
  }

  private func number(_ text: String, of part: Part) throws(TrackProblem) -> Double {
    if let number = number(text) { return number }
    throw xml.problem("\(part) is '\(shown(text))'; it must be a number")
  }

  /// Returns the value of a decimal number; nil if the text is not a finite decimal number.
  private func number(_ text: String) -> Double? {
    let text = trimmed(text)
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }),
      let number = Double(text), number.isFinite
    else { return nil }
    return number
  }

  private func trimmed(_ text: String) -> Substring {
    let isSpace: (Character) -> Bool = { $0.isWhitespace }
    guard let first = text.firstIndex(where: { !isSpace($0) }),
      let last = text.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return text[first...last]
  }

  /// Returns the beginning of a value, for messages.
  private func shown(_ text: String) -> String { PrintableText.of(String(text.prefix(40))) }
}
