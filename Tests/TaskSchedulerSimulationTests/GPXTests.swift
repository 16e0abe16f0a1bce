import TaskSchedulerCore
import TaskSchedulerSimulation
import Testing

private let head = "<?xml version=\"1.0\"?>\n<gpx version=\"1.1\">\n"

private func track(_ text: String) throws(TrackProblem) -> Track {
  try Track(gpx: Array(text.utf8))
}

@Suite("The tracks of GPX files")
struct GPXTests {
  /// Returns the latitudes of the points.
  private func latitudes(_ text: String) throws -> [Double] {
    try track(text).points.map(\.coordinate.latitude)
  }

  @Test("A point has its place, altitude, time, speed and course, and its line")
  func point() throws {
    let track = try track(
      head + """
        <!-- <trkpt lat="9" lon="9"/> -->
        <metadata><time>2000-01-01T00:00:00Z</time><name>A &amp; B</name></metadata>
        <trk><name><![CDATA[<trkpt>]]></name><trkseg>
        <trkpt lat="52.5163" lon='-13.3777'>
          <ele> 34.5 </ele><time>2026-11-21T14:03:22.5+01:00</time>
          <extensions><g:Point><g:speed>1.4</g:speed><g:course>93.5</g:course>
            <ele>1</ele><time>never</time></g:Point></extensions>
        </trkpt>
        </trkseg></trk></gpx>

        """)
    let point = Track.Point(
      Coordinate(latitude: 52.5163, longitude: -13.3777)!, altitude: 34.5, speed: 1.4,
      course: 93.5, time: WallTime(nanoseconds: 1_795_266_202_500_000_000), line: 6)
    #expect(track.points == [point])
  }

  @Test("Tracks come before routes, and routes before waypoints")
  func kinds() throws {
    let way = "<wpt lat=\"1\" lon=\"0\"/>"
    let route = "<rte><rtept lat=\"2\" lon=\"0\"/><rtept lat=\"3\" lon=\"0\"/></rte>"
    let segments = "<trk><trkseg><trkpt lat=\"4\" lon=\"0\"/></trkseg><trkseg>"
      + "<trkpt lat=\"5\" lon=\"0\"></trkpt></trkseg></trk><trk><trkseg>"
      + "<trkpt lat=\"6\" lon=\"0\"/></trkseg></trk>"
    #expect(try latitudes(head + way + route + segments + way + "</gpx>") == [4, 5, 6])
    #expect(try latitudes(head + way + route + "</gpx>") == [2, 3])
    #expect(try latitudes(head + way + way + "</gpx>") == [1, 1])
  }

  @Test("Names may have a prefix, and the file may begin with a byte order mark")
  func forms() throws {
    #expect(
      try latitudes("\u{FEFF}<x:gpx><x:wpt lon=\"1\" lat=\"+1e1\" z = '>' /></x:gpx>\n<!-- -->\n")
        == [10])
  }

  @Test("A file in another encoding that contains ASCII is read")
  func latin1() throws {
    let end = "</name><wpt lat='1' lon='2'/></gpx>"
    let text = Array("<gpx><name>Caf".utf8) + [0xE9] + Array(end.utf8)
    #expect(try Track(gpx: text).points.count == 1)
  }

  @Test("An unknown speed or course is nil, and a course of 360 degrees is north")
  func unknown() throws {
    let points = try track(
      head + "<wpt lat='1' lon='1'><speed>-1</speed><course>-1</course></wpt>"
        + "<wpt lat='1' lon='1'><course>360</course></wpt></gpx>"
    ).points
    #expect(points[0].speed == nil && points[0].course == nil)
    #expect(points[1].course == 0)
  }

  @Test(
    "A time is read with its fraction and its zone",
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2000-02-29T12:00:00Z", 951_825_600_000_000_000),
      ("2026-11-21T14:03:22", 1_795_269_802_000_000_000),
      ("2026-11-21T14:03:22+01:00", 1_795_266_202_000_000_000),
      ("2026-11-20T23:33:22-14:30", 1_795_269_802_000_000_000),
      ("2026-11-21T14:03:22.1234567891Z", 1_795_269_802_123_456_789),
      ("2016-12-31T23:59:60Z", 1_483_228_800_000_000_000),
      ("2261-12-31T23:59:59Z", 9_214_646_399_000_000_000),
    ] as [(String, Int64)])
  func times(_ text: String, _ nanoseconds: Int64) throws {
    let points = try track(
      head + "<wpt lat='1' lon='1'><time>\n\(text) </time></wpt></gpx>"
    ).points
    #expect(points.first?.time == WallTime(nanoseconds: nanoseconds))
  }

  @Test(
    "An invalid time is refused",
    arguments: [
      "", "now", "2026-11-21", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z",
      "2100-02-29T00:00:00Z", "2026-11-00T00:00:00Z", "2026-11-21T24:00:00Z",
      "2026-11-21T00:60:00Z", "2026-11-21T00:00:61Z", "2026-11-21T00:00:00.Z",
      "2026-11-21T00:00:00+15:00", "2026-11-21T00:00:00+1:00", "2026-11-21T00:00:00ZZ",
      "26-11-21T00:00:00Z", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00+01:00",
      "2262-01-01T00:00:00Z", "２026-11-21T00:00:00Z", "-026-11-21T00:00:00Z",
    ])
  func invalidTimes(_ text: String) {
    #expect(throws: TrackProblem.self) {
      try track(head + "<wpt lat='1' lon='1'><time>\(text)</time></wpt></gpx>")
    }
  }
}

@Suite("§15: A hostile GPX file is refused with the line of the mistake")
struct HostileGPXTests {
  private func problem(_ bytes: [UInt8]) -> TrackProblem? {
    do throws(TrackProblem) {
      _ = try Track(gpx: bytes)
      return nil
    } catch {
      return error
    }
  }

  private static let point = "<wpt lat='1' lon='1'>"

  /// Files with a mistake, each with the line and a part of the error message.
  private static let mistakes: [(String, Int, String)] = [
    ("", 1, "the file contains no XML element"), ("\n\n", 3, "contains no XML element"),
    ("hello", 1, "does not begin with XML"), ("\n x<gpx/>", 2, "does not begin with XML"),
    ("<gpx/>", 1, "the file has no points"), ("<kml></kml>", 1, "the outermost element is <kml>"),
    ("<gpx>\n", 2, "the end </gpx> of an element is missing"),
    ("<gpx>\n</gp>", 2, "</gp> does not end the element <gpx>"),
    (head + "</gpx></gpx>", 3, "</gpx> ends no element"),
    (head + "</gpx><gpx/>", 3, "a second outermost element"),
    (head + "</gpx>\nx", 4, "text after its last element"),
    (head + "</gpx><![CDATA[x]]>", 3, "a CDATA section is outside"),
    ("<", 1, "the name of an element is missing"), ("</", 1, "the name of an element is missing"),
    ("<gpx", 1, "or the end of <gpx>, is missing"), ("<gpx a", 1, "the attribute a has no value"),
    ("<gpx a=", 1, "a is not in quotation marks"), ("<gpx a=1>", 1, "not in quotation marks"),
    ("<gpx a='", 1, "the value of the attribute a has no end"),
    ("<gpx a='b\nc<d'", 1, "the value of the attribute a has no end"),
    ("<gpx a='1' a='2'>", 1, "<gpx> has the attribute a twice"),
    ("<gpx =''>", 1, "is missing"), ("<gpx></gpx x>", 1, "</gpx has no end >"),
    ("<!-- x", 1, "the comment has no end -->"), ("<gpx><![CDATA[x", 1, "has no end ]]>"),
    ("<?xml", 1, "the processing instruction has no end ?>"),
    ("<!DOCTYPE gpx [<!ENTITY a \"aaaa\">]><gpx/>", 1, "declaration is not supported"),
    (head + "<wpt lat='91' lon='0'/></gpx>", 3, "lat is '91'; it must be a number from -90 to 90"),
    (head + "<wpt lat='1' lon='-180.1'/></gpx>", 3, "lon is '-180.1'"),
    (head + "<wpt lat='1'/></gpx>", 3, "<wpt> has no attribute lon"),
    (head + "<wpt lat='nan' lon='1'/></gpx>", 3, "lat is 'nan'"),
    (head + "<wpt lat='inf' lon='1'/></gpx>", 3, "lat is 'inf'"),
    (head + "<wpt lat='0x1' lon='1'/></gpx>", 3, "lat is '0x1'"),
    (head + "<wpt lat='1e999' lon='1'/></gpx>", 3, "lat is '1e999'"),
    (head + "<wpt lat='' lon='1'/></gpx>", 3, "lat is ''"),
    (head + "<wpt lat='\u{1b}[2J' lon='1'/></gpx>", 3, #"lat is '\x1b[2J'"#),
    ("<\u{1b}[2J>", 1, #"the outermost element is <\x1b[2J>"#),
    (head + "\(point)<ele>high</ele></wpt></gpx>", 3, "ele is 'high'; it must be a number"),
    (head + "\(point)<ele>\n1&#48;</ele></wpt></gpx>", 4, "ele is"),
    (head + "\(point)<time>soon</time></wpt></gpx>", 3, "the time is 'soon'"),
    (head + "\(point)\n\(point)</wpt></wpt></gpx>", 4, "<wpt> is inside of <wpt>"),
  ]

  @Test("A mistake has its line and says what is wrong", arguments: mistakes)
  func mistake(_ text: String, _ line: Int, _ part: String) throws {
    let found = try #require(problem(Array(text.utf8)))
    #expect(found.line == line, "\(found)")
    #expect(found.message.contains(part), "\(found)")
    #expect(found.message.unicodeScalars.allSatisfy { PrintableText.isPrintable($0) })
  }

  @Test(
    "A file in UTF-16 is refused with what would be right",
    arguments: [[0xFF, 0xFE], [0xFE, 0xFF], []] as [[UInt8]])
  func wide(_ mark: [UInt8]) {
    let text = mark + "<gpx/>".utf8.flatMap { [$0, 0] }
    #expect(problem(text)?.message == "the file is not text in UTF-8; save it in that encoding")
  }

  @Test("The depth, the attributes, the text and the points are limited")
  func limits() throws {
    func message(_ text: String) -> String { problem(Array(text.utf8))?.message ?? "" }
    let deep = String(repeating: "<gpx>", count: 100_000)
    #expect(message(deep).contains("more than 64 elements contain each other"))
    let attributes = (0..<1000).map { " a\($0)=''" }.joined()
    #expect(message("<gpx\(attributes)/>") == "<gpx> has more than 64 attributes")
    let long = String(repeating: "1", count: 1000)
    #expect(
      message(head + "\(Self.point)<ele>\(long)</ele></wpt></gpx>")
        == "the text is longer than 128 bytes")
    #expect(message("<\(long)>").count < 150, "a long name is shortened")
    let points = String(repeating: "<wpt lat='1' lon='1'/>", count: Track.pointsMax + 1)
    #expect(message("<gpx>" + points) == "the file has more than 1000000 points")
    #expect(Track([]) == nil)
  }

  @Test("A file that is cut at any byte, or has any byte replaced, does not stop the program")
  func damaged() throws {
    let whole = Array(
      (head + "<trk><trkseg>\n<trkpt lat=\"1\" lon='2'><ele>3</ele>"
        + "<time>2026-11-21T14:03:22.5+01:00</time><!-- c --><![CDATA[d]]></trkpt></trkseg></trk>"
        + "</gpx>\n").utf8)
    for count in 0..<(whole.count - 1) {
      #expect(problem(Array(whole.prefix(count))) != nil, "the first \(count) bytes")
    }
    for index in whole.indices {
      for byte: UInt8 in [0, 0x20, 0x26, 0x27, 0x2F, 0x39, 0x3C, 0x3E, 0x80, 0xFF] {
        var damaged = whole
        damaged[index] = byte
        if let found = problem(damaged) { #expect((1...5).contains(found.line)) }
      }
    }
  }
}
