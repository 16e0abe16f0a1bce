import TaskSchedulerDaemon
import Testing

@Suite("The lines of the keys of a TOML file")
struct TOMLKeyLocatorConfigurationTests {
  private static let document = #"""
    # a = 1 in a comment is no key
    first = "x" # [no.table]
    "quoted key" = 'lit = [eral'
    "esc\u0061ped" = 1
    dotted . keys."with.dot" = 2
    text = """
    inside = "not a key"
    [nor.this] \""" still inside
    quotes at the end"""""
    after = 3
    raw = '''
    also = 'not' \
    '''
    list = [ # [comment]
      "one",
      [2, 3], # inner
      { deep = 4, "b" = [5,
        6] },
    ]
    inline = { x = 1, y.z = "}" }
    [policy] # a table
      CallbackTimeout = "6s"
    [ policy . sub ]
    key = -1_000.5e+3
    [[item]]
    name = "a"
    [item.more]
    m = 1
    [[item]]
    name = "b"
    """#

  @Test(
    "A key is found on its line, whatever surrounds it",
    arguments: [
      ([.key("first")], 2), ([.key("quoted key")], 3), ([.key("escaped")], 4),
      ([.key("dotted"), .key("keys"), .key("with.dot")], 5), ([.key("dotted"), .key("keys")], 5),
      ([.key("text")], 6), ([.key("after")], 10), ([.key("raw")], 11), ([.key("list")], 14),
      ([.key("list"), .index(0)], 15), ([.key("list"), .index(1), .index(1)], 16),
      ([.key("list"), .index(2), .key("b"), .index(0)], 17),
      ([.key("list"), .index(2), .key("b"), .index(1)], 18),
      ([.key("inline"), .key("y"), .key("z")], 20), ([.key("policy")], 21),
      ([.key("policy"), .key("CallbackTimeout")], 22),
      ([.key("policy"), .key("sub"), .key("key")], 24),
      ([.key("item"), .index(0), .key("name")], 26),
      ([.key("item"), .index(0), .key("more"), .key("m")], 28),
      ([.key("item"), .index(1), .key("name")], 30),
    ] as [([TOMLPathComponent], Int)])
  func finds(_ path: [TOMLPathComponent], _ line: Int) {
    let locator = TOMLKeyLocator(text: Array(Self.document.utf8))
    #expect(locator.lines[path] == line)
  }

  @Test("The sample document is valid TOML without duplicate keys")
  func sampleIsValid() throws {
    let (document, problems) = TOMLDocument.parse(Array(Self.document.utf8), file: "f")
    #expect(problems == [])
    let root = try #require(document?.root)
    #expect(root["escaped"] == .integer(1))
    #expect(root["inside"] == nil && root["also"] == nil)
  }

  @Test("Text that looks like a key in a string, a comment or a value is not a key")
  func isNotFooled() {
    let locator = TOMLKeyLocator(text: Array(Self.document.utf8))
    for name in ["inside", "also", "a", "no", "nor", "literal"] {
      #expect(locator.lines[[.key(name)]] == nil)
    }
  }

  @Test("Windows line ends and a byte order mark do not change the line numbers")
  func windows() {
    let text = "\u{FEFF}a = 1\r\n[t]\r\nb = \"\"\"x\r\ny\"\"\"\r\nc = 2\r\n"
    let locator = TOMLKeyLocator(text: Array(text.utf8))
    #expect(locator.lines[[.key("a")]] == 1)
    #expect(locator.lines[[.key("t"), .key("b")]] == 3)
    #expect(locator.lines[[.key("t"), .key("c")]] == 5)
  }

  @Test("A missing key is reported at the line of the table that would contain it")
  func nearest() {
    let locator = TOMLKeyLocator(text: Array("\n[t]\na = 1".utf8))
    #expect(locator.line(of: [.key("t"), .key("missing")]) == 2)
    #expect(locator.line(of: [.key("missing")]) == nil)
  }

  @Test("A truncated document has no key on a line after its end")
  func truncated() {
    let bytes = Array(Self.document.utf8)
    for count in bytes.indices {
      let lineCount = bytes[..<count].count { $0 == UInt8(ascii: "\n") } + 1
      for line in TOMLKeyLocator(text: Array(bytes[..<count])).lines.values {
        #expect(line <= lineCount)
      }
    }
  }

  @Test(
    "A key with too many parts is reported where it begins, without scanning all of it",
    arguments: [
      (String(repeating: "a.", count: 100_000) + "a = 1", "a.a.a."),
      ("[" + String(repeating: "a . ", count: 100_000) + "a]", "a.a.a."),
      ("[[" + String(repeating: "a.", count: 100_000) + "a]]", "a.a.a."),
      ("a = " + String(repeating: "[", count: 100_000), "a[0][0]"),
      ("a = " + String(repeating: "{ b = ", count: 100_000), "a.b.b"),
      ("[[a]]\nb = [{ c.d.e = [{ f.g = [[[{ h.i.j.k.l = 1", "a[0].b[0].c"),
      ("[a.b.c.d.e.f.g.h]\na.b.c.d.e.f.g.h.i = 1", "a.b.c.d.e"),
    ])
  func endless(text: String, beginning: String) throws {
    let (document, problems) = TOMLDocument.parse(Array("\n\(text)".utf8), file: "f")
    #expect(document == nil)
    let problem = try #require(problems.first)
    #expect(problems.count == 1 && problem.line == (text.contains("\n") ? 3 : 2))
    #expect(problem.key?.hasPrefix(beginning) == true && problem.key?.hasSuffix("…") == true)
    #expect(problem.message.hasPrefix("has more than 16 parts"))
    #expect(problem.description.utf8.count < 250)
  }

  @Test("A key with the maximum number of parts is read")
  func longest() {
    let key = Array(repeating: "a", count: TOMLKeyLocator.partsMax).joined(separator: ".")
    for text in ["\(key) = 1", "[\(key)]", "a = " + String(repeating: "[", count: 15)
      + String(repeating: "]", count: 15)] {
      let (document, problems) = TOMLDocument.parse(Array(text.utf8), file: "f")
      #expect(document != nil && problems == [])
    }
  }

  @Test("A file of arbitrary bytes is refused, or each of its keys has a line")
  func mutated() {
    let original = Array(Self.document.utf8)
    let marks = Array("\"'[]{}#=.,\\\n\r \0\u{7F}u0\u{FEFF}".utf8)
    var state: UInt64 = 0x7461_736B
    func next(_ bound: Int) -> Int {
      // Knuth's MMIX generator returns the same numbers in every run.
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
    var acceptedCount = 0
    for _ in 0..<1500 {
      var bytes = original
      for _ in 0...next(2) {
        let index = next(bytes.count)
        switch next(3) {
        case 0: bytes[index] = marks[next(marks.count)]
        case 1: bytes.insert(marks[next(marks.count)], at: index)
        default: bytes.remove(at: index)
        }
      }
      let (document, problems) = TOMLDocument.parse(bytes, file: "f")
      #expect((document == nil) == !problems.isEmpty)
      guard let document else { continue }
      acceptedCount += 1
      let locator = TOMLKeyLocator(text: bytes)
      for path in Self.paths(in: .table(document.root), at: []) where !path.isEmpty {
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(locator.lines[path] != nil, "\(path.keyText) of \(text)")
      }
    }
    // With fewer accepted inputs, the test would prove nothing.
    #expect(acceptedCount > 100)
  }

  @Test(
    "Text that would crash the parser is refused before it is parsed",
    arguments: [
      ("a. = 1", 4), ("a.", 3), ("[a.]", 4), ("[a.#]", 4), ("a = { b. = 1 }", 10),
      ("a = 2020-01-01T", 5), ("a = 2020-01-01 x", 5), ("a = 07:32:", 5), ("a = 1.", 5),
      ("a = 0x", 5), ("a = 1__0", 5), ("a = -", 5), ("a = _1", 5), ("a = 01", 5), ("a = tru", 5),
      ("a = \"b", 7), ("a = '''b", 9), ("a = [1", 7), ("a = {", 6), ("a", 2), ("a =", 4),
      ("a = 1 \"b\"", 5), ("= 1", 1), ("[", 2), ("[[a] ]", 5), ("a = 1\n]", 1),
      ("a = \"b\" c", 9), (#"a = "\uD800""#, 8), (#"a = "\u00""#, 8),
    ])
  func outline(_ text: String, _ column: Int) {
    let fault = TOMLKeyLocator(text: Array(text.utf8)).fault
    #expect(fault?.column == column)
    #expect(fault?.line == text.split(separator: "\n").count)
    let (document, problems) = TOMLDocument.parse(Array(text.utf8), file: "f")
    #expect(document == nil)
    #expect(problems.count == 1)
    #expect(problems.first?.message.contains("invalid TOML: expected ") == true)
  }

  @Test(
    "Every way to write a number is accepted",
    arguments: [
      "0", "-0", "+1", "1_000", "0xDEAD_beef", "0o17", "0b1_0", "1.5", "-1.5e-3", "1E6", "inf",
      "-inf", "nan", "true", "false", "3 # comment",
    ])
  func numbers(_ text: String) {
    let (document, problems) = TOMLDocument.parse(Array("a = \(text)".utf8), file: "f")
    #expect(problems == [])
    #expect(document?.root["a"] != nil)
  }

  private static func paths(
    in node: TOMLNode, at path: [TOMLPathComponent]
  ) -> [[TOMLPathComponent]] {
    switch node {
    case .table(let members):
      [path] + members.flatMap { paths(in: $1, at: path + [.key($0)]) }
    case .array(let elements):
      [path] + elements.enumerated().flatMap { paths(in: $1, at: path + [.index($0)]) }
    case .string, .integer, .number, .boolean, .date: [path]
    }
  }
}
