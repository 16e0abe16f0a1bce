import Testing

@testable import TaskSchedulerWire

@Suite("JSON is read strictly")
struct JSONParserTests {
  static let good: [(text: String, value: JSONValue)] = [
    ("null", nil), ("true", true), ("false", false), ("  0 ", 0), ("-0", 0), ("42", 42),
    ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
    ("1.0", 1.0), ("-1.5e3", -1500.0), ("1E2", 100.0), ("1e-2", 0.01), ("0.5", 0.5),
    ("9223372036854775808", 9223372036854775808.0),
    ("-9223372036854775809", -9223372036854775809.0),
    ("\"\"", ""), ("\"ab\"", "ab"), ("\"é€😀\"", "é€😀"), ("\"\u{7F}\"", "\u{7F}"),
    (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
    (#""a\u00e9b""#, "aéb"), (#""\u20AC""#, "€"), (#""\ud83d\ude00""#, "😀"),
    (#""\u0000""#, "\0"), (#""\uFFFF""#, "\u{FFFF}"),
    ("[]", []), ("[ ]", []), ("[1,\"a\",null,[2]]", [1, "a", nil, [2]]),
    ("{}", [:]), ("{ }", [:]), ("\t{ \"a\" : 1 ,\r\n\"b\":{} }\n", ["a": 1, "b": [:]]),
    (#"{"\u0061":1}"#, ["a": 1]),
  ]

  @Test("A valid text gives its value", arguments: good.indices)
  func readsValid(index: Int) throws {
    let (text, value) = Self.good[index]
    #expect(try JSONParser.parse(Array(text.utf8)) == value)
  }

  static let bad: [(text: [UInt8], offset: Int, problem: String)] = [
    ("", 0, "a value was expected"), (" ", 1, "a value was expected"),
    ("nul", 3, "'null' was expected"), ("True", 0, "a value was expected"),
    ("truex", 4, "unexpected text"), ("1 2", 2, "unexpected text"), ("{}}", 2, "unexpected text"),
    ("01", 0, "a leading zero"), ("-01", 1, "a leading zero"),
    ("-", 1, "a digit was expected"), ("+1", 0, "a value"), (".5", 0, "a value"),
    ("1.", 2, "a digit"), ("1.e3", 2, "a digit"), ("1e", 2, "a digit"), ("1e+", 3, "a digit"),
    ("NaN", 0, "a value"), ("Infinity", 0, "a value"),
    ("\"", 1, "within a string"), ("\"a", 2, "within a string"), ("'a'", 0, "a value"),
    ("\"a\nb\"", 2, "control character"), ("\"\\n\u{1}\"", 3, "control character"),
    ("\"\\", 2, "within an escape"), (#""\x""#, 1, "no such escape"),
    (#""\u12""#, 5, "four hexadecimal digits"), (#""\u12g4""#, 5, "four hexadecimal digits"),
    (#""\u12"#, 5, "within an escape"), (#""\ud83d""#, 1, "surrogate"),
    (#""\ud83dx""#, 1, "surrogate"), (#""\ude00""#, 1, "surrogate"),
    (#""\ud83d\u0041""#, 1, "surrogate"), (#""\ud83d\ud83d""#, 1, "surrogate"),
    ("[", 1, "a value"), ("[1", 2, "a comma or ']'"), ("[1,", 3, "a value"),
    ("[1,]", 3, "a value"), ("[,1]", 1, "a value"), ("[1 2]", 3, "a comma"),
    ("{", 1, "a name"), ("{a:1}", 1, "a name"), ("{\"a\"", 4, "a colon"),
    ("{\"a\" 1}", 5, "a colon"), ("{\"a\":", 5, "a value"), ("{\"a\":1", 6, "a comma or '}'"),
    ("{\"a\":1,}", 7, "a name"), ("{\"a\":1,\"a\":2}", 7, "'a' appears twice"),
    (#"{"a":1,"\u0061":2}"#, 7, "'a' appears twice"), ("// x\n1", 0, "a value"),
    ("[{\"b\":{\"a\":1,\"a\":1}}]", 13, "'a' appears twice"), ("\u{FEFF}1", 0, "a value"),
  ].map { (Array($0.0.utf8), $0.1, $0.2) } + [
    ([0x22, 0x61, 0xFF, 0x22], 2, "not valid UTF-8"),
    ([0x22, 0xC0, 0xAF, 0x22], 1, "not valid UTF-8"),
    ([0x22, 0xED, 0xA0, 0x80, 0x22], 1, "not valid UTF-8"),
    ([0x22, 0xE2, 0x82, 0x22], 1, "not valid UTF-8"),
    ([0x22, 0x5C, 0x6E, 0x80, 0x22], 3, "not valid UTF-8"),
    ([0x31, 0x00], 1, "unexpected text"),
  ]

  @Test("Each byte of a string is read alike at every place", arguments: 0..<20)
  func readsEveryByte(place: Int) throws {
    let before = String(repeating: "a", count: place)
    for byte in UInt8(0)..<0x80 {
      let character = String(UnicodeScalar(byte))
      for after in ["", "b", "bcdefghij", "€"] {
        let text = Array("\"\(before)\(character)\(after)\"".utf8)
        let value = try? JSONParser.parse(text)
        let isRead = byte >= 0x20 && character != "\"" && character != "\\"
        if isRead {
          #expect(value == .string(before + character + after))
        } else if character == "\\", after.hasPrefix("b") {
          #expect(value == .string(before + "\u{8}" + after.dropFirst()))
        } else {
          #expect(value == nil, "byte \(byte)")
        }
      }
    }
  }

  @Test("An invalid text is refused with the place and the reason", arguments: bad.indices)
  func refusesInvalid(index: Int) throws {
    let (text, offset, problem) = Self.bad[index]
    let error = #expect(throws: JSONError.self) { try JSONParser.parse(text) }
    #expect(error?.offset == offset)
    #expect(error?.problem.contains(problem) == true, "\(error?.problem ?? "")")
  }

  @Test("Values are read down to the maximum depth and refused below it", arguments: ["[]", "{}"])
  func limitsDepth(brackets: String) throws {
    func nested(_ depth: Int) -> [UInt8] {
      let open = brackets == "[]" ? "[" : "{\"a\":"
      return Array(
        (String(repeating: open, count: depth - 1) + brackets
          + String(repeating: brackets.last!, count: depth - 1)).utf8)
    }
    _ = try JSONParser.parse(nested(JSONParser.depthMax))
    for depth in [JSONParser.depthMax + 1, 100_000] {
      let error = #expect(throws: JSONError.self) { try JSONParser.parse(nested(depth)) }
      #expect(error?.problem.contains("nested more than") == true)
    }
  }

  @Test("A duplicate name is found among many names, without quadratic time")
  func findsDuplicateAmongMany() throws {
    let names = (0..<20_000).map { "\"n\($0)\":0" }
    let value = try JSONParser.parse(Array("{\(names.joined(separator: ","))}".utf8))
    #expect(value["n19999"] == 0)
    for name in ["\"n3\":0", "\"n19999\":0"] {
      let text = "{\((names + [name]).joined(separator: ","))}"
      #expect(throws: JSONError.self) { try JSONParser.parse(Array(text.utf8)) }
    }
  }

  @Test("Every truncation of a valid text is refused at its end")
  func refusesTruncations() throws {
    let text = Array(#"{"a":[1.5e3,true,null,"\u00e9x"],"b":{"c":-12}}"#.utf8)
    _ = try JSONParser.parse(text)
    for count in 0..<text.count {
      let error = #expect(throws: JSONError.self) { try JSONParser.parse(Array(text[..<count])) }
      #expect(error?.offset == count)
    }
  }
}

@Suite("JSON that is written and read equals the original")
struct JSONWriterTests {
  static let written: [(value: JSONValue, text: String)] = [
    (.null, "null"), (true, "true"), (.integer(.min), "-9223372036854775808"),
    (.integer(.max), "9223372036854775807"), (0, "0"), (-7, "-7"), (1.0, "1.0"),
    (1e300, "1e+300"), (.number(.infinity), "1e999"), (.number(-.infinity), "-1e999"),
    ("a\"\\\n\u{1}\u{1F}é/", #""a\"\\\n\u0001\u001fé/""#),
    (.array([1, .array([]), .object([])]), "[1,[],{}]"),
    (["a": 1, "b\t": [nil]], #"{"a":1,"b\t":[null]}"#),
  ]

  @Test("A value is written as its shortest text", arguments: written.indices)
  func writes(index: Int) throws {
    let (value, text) = Self.written[index]
    #expect(value.description == text)
    #expect(try JSONParser.parse(Array(text.utf8)) == value)
  }

  @Test("Each character below U+0080 is read as it was written")
  func survives() throws {
    let all = String(String.UnicodeScalarView((0..<0x80).map { Unicode.Scalar($0)! }))
    var bytes: [UInt8] = []
    bytes.append(json: all)
    #expect(!bytes.contains { $0 < 0x20 })
    #expect(try JSONParser.parse(bytes) == .string(all))
  }
}
