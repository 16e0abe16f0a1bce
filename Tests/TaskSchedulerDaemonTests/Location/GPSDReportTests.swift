import TaskSchedulerCore
import TaskSchedulerWire
import Testing

@testable import TaskSchedulerDaemon

@Suite("§17: The messages of gpsd")
struct GPSDReportTests {
  /// The time in most messages: 2026-11-26T12:35:20Z.
  private static let time = WallTime(nanoseconds: 1_795_696_520_000_000_000)

  private func report(_ text: String) throws -> GPSDReport {
    try GPSDReport(line: Array(text.utf8))
  }

  /// A position report with the given fields after the class.
  private func position(_ fields: String) throws -> GPSDReport {
    try report(#"{"class":"TPV",\#(fields)}"#)
  }

  private static let place = #""time":"2026-11-26T12:35:20.000Z","lat":48.1173,"lon":11.5167"#

  private func location(_ fields: String) throws -> Location? {
    guard case .position(let location) = try position(fields) else { return nil }
    return location
  }

  // MARK: Messages of a real gpsd

  @Test("The messages that a real gpsd 3.22 sends at the start are read")
  func greeting() throws {
    #expect(
      try report(
        #"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"#)
        == .version(release: "3.22"))
    #expect(
      try report(
        #"""
        {"class":"DEVICES","devices":[{"class":"DEVICE","path":"udp://127.0.0.1:37552",\#
        "activated":"2026-11-26T21:21:28.710Z"}]}
        """#) == .devices(["udp://127.0.0.1:37552"]))
    #expect(try report(#"{"class":"DEVICES","devices":[]}"#) == .devices([]))
    #expect(
      try report(
        #"""
        {"class":"WATCH","enable":true,"json":true,"nmea":false,"raw":0,"scaled":false,\#
        "timing":false,"split24":false,"pps":false}
        """#) == .watch(isEnabled: true))
    #expect(
      try report(
        #"""
        {"class":"DEVICE","path":"/dev/ttyUSB0","driver":"NMEA0183",\#
        "activated":"2026-11-26T21:21:30.206Z"}
        """#) == .device("/dev/ttyUSB0", isOpen: true))
    #expect(
      try report(#"{"class":"DEVICE","path":"/dev/ttyUSB0","activated":0}"#)
        == .device("/dev/ttyUSB0", isOpen: false))
  }

  @Test("A position of a real gpsd 3.22 is read with its accuracy, altitude, speed and course")
  func position() throws {
    let text = #"""
      {"class":"TPV","device":"udp://127.0.0.1:37552","mode":3,"time":"2026-11-26T12:35:20.000Z",\#
      "ept":0.005,"lat":48.117300000,"lon":11.516666667,"altHAE":592.3000,"altMSL":545.4000,\#
      "alt":545.4000,"track":84.4000,"magtrack":87.7264,"magvar":3.3,"speed":6.173,\#
      "climb":0.000,"geoidSep":46.900,"eph":17.100}
      """#
    let coordinate = try #require(Coordinate(latitude: 48.1173, longitude: 11.516666667))
    #expect(
      try report(text)
        == .position(
          Location(
            coordinate, accuracy: 17.1, altitude: 545.4, speed: 6.173, course: 84.4,
            time: Self.time)))
  }

  // MARK: Fields

  @Test("The accuracy is eph, or follows from epx and epy; 0 and negative errors are unknown")
  func accuracy() throws {
    let known = "\"mode\":2,\(Self.place)"
    #expect(try location(#"\#(known),"eph":12.5"#)?.accuracy == 12.5)
    #expect(try location(#"\#(known),"eph":12"#)?.accuracy == 12)
    #expect(try location(#"\#(known),"epx":3,"epy":4.0"#)?.accuracy == 5)
    #expect(try location(#"\#(known),"eph":0,"epx":3,"epy":4"#)?.accuracy == 5)
    for fields in [#""eph":0"#, #""eph":-1"#, #""epx":3"#, #""epx":0,"epy":0"#, #""eph":1e999"#] {
      let location = try #require(try location("\(known),\(fields)"))
      #expect(location.accuracy == nil, "\(fields)")
    }
  }

  @Test("The altitude is that above the sea, and is known only in mode 3")
  func altitude() throws {
    #expect(try location(#""mode":3,\#(Self.place),"altMSL":5,"alt":6"#)?.altitude == 5)
    #expect(try location(#""mode":3,\#(Self.place),"alt":6.5"#)?.altitude == 6.5)
    #expect(try location(#""mode":3,\#(Self.place),"altHAE":50"#)?.altitude == nil)
    #expect(try location(#""mode":2,\#(Self.place),"altMSL":5"#)?.altitude == nil)
  }

  @Test("A course of 360° is 0°; an impossible course or speed is unknown")
  func course() throws {
    let known = "\"mode\":2,\(Self.place)"
    #expect(try location(#"\#(known),"track":360.0"#)?.course == 0)
    #expect(try location(#"\#(known),"track":361"#)?.course == nil)
    #expect(try location(#"\#(known),"speed":-1"#)?.speed == nil)
    #expect(try location(#"\#(known),"speed":"fast","track":null"#)?.speed == nil)
  }

  @Test(
    "A report without a complete position, or with an impossible one, is no position",
    arguments: [
      #""mode":1,"time":"2026-11-26T12:35:20.000Z","lat":48.1,"lon":11.5"#,
      #""mode":0,"time":"2026-11-26T12:35:20.000Z","lat":48.1,"lon":11.5"#,
      #""time":"2026-11-26T12:35:20.000Z","lat":48.1,"lon":11.5"#,
      #""mode":"3","time":"2026-11-26T12:35:20.000Z","lat":48.1,"lon":11.5"#,
      #""mode":3,"lat":48.1,"lon":11.5"#,
      #""mode":3,"time":1795696520.25,"lat":48.1,"lon":11.5"#,
      #""mode":3,"time":"yesterday","lat":48.1,"lon":11.5"#,
      #""mode":3,"time":"2026-11-31T12:35:20.000Z","lat":48.1,"lon":11.5"#,
      #""mode":3,"time":"2026-11-26T12:35:20.000Z","lon":11.5"#,
      #""mode":3,"time":"2026-11-26T12:35:20.000Z","lat":48.1"#,
      #""mode":3,"time":"2026-11-26T12:35:20.000Z","lat":91,"lon":11.5"#,
      #""mode":3,"time":"2026-11-26T12:35:20.000Z","lat":48.1,"lon":-180.5"#,
      #""mode":3,"time":"2026-11-26T12:35:20.000Z","lat":"NaN","lon":11.5"#,
      #""mode":3,"time":"2026-11-26T12:35:20.000Z","lat":1e999,"lon":11.5"#,
      #""mode":3,"time":"2026-11-26T12:35:20.000Z","lat":null,"lon":11.5"#,
      #""mode":3,"time":"2026-11-26T12:35:20.000Z","lat":[48.1],"lon":11.5"#,
    ])
  func incomplete(_ fields: String) throws {
    #expect(try position(fields) == .noPosition)
  }

  @Test("The limits of latitude and longitude are positions", arguments: [90, -90])
  func poles(_ latitude: Int) throws {
    let location = try location(
      #""mode":2,"time":"2026-11-26T12:35:20Z","lat":\#(latitude),"lon":-180"#)
    #expect(location?.coordinate.latitude == Double(latitude))
    #expect(location?.time == Self.time)
  }

  // MARK: Times

  @Test(
    "A time may have a fraction and an offset from UTC",
    arguments: [
      ("2026-11-26T12:35:20Z", 0), ("2026-11-26T12:35:20z", 0),
      ("2026-11-26T12:35:20.25Z", 250_000_000), ("2026-11-26T12:35:20.1234567899Z", 123_456_789),
      ("2026-11-26T13:35:20+01:00", 0), ("2026-11-26T07:05:20.5-05:30", 500_000_000),
    ])
  func times(_ text: String, _ fraction: Int) {
    #expect(WallTime(rfc3339: text)?.nanoseconds == Self.time.nanoseconds + Int64(fraction))
  }

  @Test(
    "Another form of a time is refused",
    arguments: [
      "", "2026-11-26", "2026-11-26T12:35:20", "2026-11-26 12:35:20Z", "2026-11-26T12:35:20.Z",
      "2026-11-26T12:35:20ZZ", "2026-11-26T12:35:20+1:00", "2026-11-26T12:35:20+24:00",
      "2026-11-26T12:35:20+01:60", "2026-11-26T12:35:20*01:00", "2026-11-26T12:35:20+01-00",
      "2026-11-26T24:00:00Z", "2026-13-01T12:00:00Z", "1969-12-31T23:59:59Z",
      "2200-01-01T00:00:00Z", "2026-11-26T12:35:6Z",
    ])
  func badTimes(_ text: String) {
    #expect(WallTime(rfc3339: text) == nil)
  }

  // MARK: Bad input

  @Test("A message of a class that the daemon does not need is skipped, even if it is malformed")
  func others() throws {
    for text in [
      #"{"class":"SKY","satellites":[]}"#, #"{"class":"SKY","hdop":nan}"#,
      #"{"class":"ERROR","message":"Unrecognized request"}"#, #"{"class":"","x"#,
      #"{"release":"3.22","class":"PPS"}"#, #"{"class":"DEVICE"}"#, #"{"class":"DEVICE","path":1}"#,
    ] {
      #expect(try report(text) == .other, "\(text)")
    }
  }

  @Test(
    "§15: Malformed input is refused",
    arguments: [
      "GPGGA,123519", "{", #"{"class":"TPV","lat":nan}"#, #"{"class":"TPV","lat":NaN}"#,
      #"{"class":"TPV","mode":3,"mode":2}"#, #"{"class":"TPV"} {"class":"TPV"}"#, #"{"class":"TP"#,
      #"{"class":"TPV","a":"\#u{7}"}"#,
      #"{"class":"TPV","a":\#(String(repeating: "[", count: 100_000))"#,
    ])
  func malformed(_ text: String) {
    let error = #expect(throws: GPSDViolation.self) { try report(text) }
    guard case .badJSON(let place)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect((0...text.utf8.count).contains(place.offset))
  }

  @Test("§15: A message without a class is refused", arguments: ["{}", "[]", #"{"class":1}"#, "7"])
  func withoutClass(_ text: String) {
    #expect(throws: GPSDViolation.noClass) { try report(text) }
  }

  // MARK: Lines

  private func reports(_ pieces: [[UInt8]]) throws -> [GPSDReport] {
    var buffer = GPSDReportBuffer()
    var reports: [GPSDReport] = []
    for piece in pieces {
      piece.withUnsafeBytes { buffer.append($0) }
      while let report = try buffer.next() { reports.append(report) }
    }
    return reports
  }

  @Test("Lines are found wherever the stream is split, with and without a carriage return")
  func split() throws {
    let stream = Array(
      (#"{"class":"VERSION","release":"1"}"# + "\r\n\r\n" + #"{"class":"WATCH","enable":false}"#
        + "\n" + #"{"class":"SKY"}"# + "\r\n").utf8)
    let expected: [GPSDReport] = [.version(release: "1"), .watch(isEnabled: false), .other]
    for place in 0...stream.count {
      #expect(try reports([Array(stream[..<place]), Array(stream[place...])]) == expected)
    }
    #expect(try reports(stream.map { [$0] }) == expected)
  }

  @Test("§15: A line of more than 64 KiB is refused before its end arrives; a shorter one is read")
  func longLine() throws {
    let most = GPSDReportBuffer.lineBytesMax
    let name = #"{"class":"SKY"}"#
    let longest = Array((name + String(repeating: " ", count: most - name.utf8.count)).utf8)
    #expect(try reports([longest, Array("\n".utf8)]) == [.other])
    #expect(throws: GPSDViolation.longLine) { try reports([longest + Array("}".utf8)]) }
    #expect(throws: GPSDViolation.longLine) { try reports([longest + Array(" \n".utf8)]) }
    #expect(throws: GPSDViolation.longLine) {
      try reports([[UInt8](repeating: UInt8(ascii: "7"), count: 1 << 20)])
    }
  }

  // MARK: Selection

  private func second(_ number: Int64) -> WallTime {
    WallTime(nanoseconds: Self.time.nanoseconds + number * 1_000_000_000)
  }

  @Test("A position with the time of the last one, or an earlier time, is dropped")
  func duplicates() {
    var positions = GPSDPositions()
    let taken = [10, 10, 9, 10 - 599, 11].map { positions.takes(second($0), at: 0) }
    #expect(taken == [true, false, false, false, true])
  }

  @Test("A receiver may correct its clock by ten minutes and more")
  func correction() {
    var positions = GPSDPositions()
    let taken = [1000, 400, 401, 401].map { positions.takes(second($0), at: 0) }
    #expect(taken == [true, true, true, false])
  }

  @Test("At most ten positions are taken within each second")
  func pace() {
    var positions = GPSDPositions()
    var taken: [UInt64] = []
    for number in 0..<100_000 {
      let now = UInt64(number) * 50_000
      if positions.takes(second(Int64(number)), at: now) { taken.append(now) }
    }
    // The positions span five seconds, and ten are taken in each second.
    #expect(taken.count == 50)
    for (first, last) in zip(taken, taken.dropFirst(GPSDPositions.countMax)) {
      #expect(last - first >= 1_000_000_000)
    }
  }
}
