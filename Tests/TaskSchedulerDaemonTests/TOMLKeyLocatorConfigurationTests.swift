import TaskSchedulerDaemon
import Testing

@Suite("Where the keys of a TOML file stand")
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
    key = 2020-01-01T00:00:00Z
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

  @Test("The sample is TOML by the parser's own judgement, and no key of it is given twice")
  func sampleIsValid() throws {
    let (document, problems) = TOMLDocument.parse(Array(Self.document.utf8), file: "f")
    #expect(problems == [])
    let root = try #require(document?.root)
    #expect(root["escaped"] == .integer(1))
    #expect(root["inside"] == nil && root["also"] == nil)
  }

  @Test("What looks like a key in a string, a comment or a value is none")
  func isNotFooled() {
    let locator = TOMLKeyLocator(text: Array(Self.document.utf8))
    for name in ["inside", "also", "a", "no", "nor", "literal"] {
      #expect(locator.lines[[.key(name)]] == nil)
    }
  }

  @Test("Line ends of Windows and a byte order mark change no line")
  func windows() {
    let text = "\u{FEFF}a = 1\r\n[t]\r\nb = \"\"\"x\r\ny\"\"\"\r\nc = 2\r\n"
    let locator = TOMLKeyLocator(text: Array(text.utf8))
    #expect(locator.lines[[.key("a")]] == 1)
    #expect(locator.lines[[.key("t"), .key("b")]] == 3)
    #expect(locator.lines[[.key("t"), .key("c")]] == 5)
  }

  @Test("A key that is not there is told of where the table that would hold it stands")
  func nearest() {
    let locator = TOMLKeyLocator(text: Array("\n[t]\na = 1".utf8))
    #expect(locator.line(of: [.key("t"), .key("missing")]) == 2)
    #expect(locator.line(of: [.key("missing")]) == nil)
  }

  @Test("Every beginning of a document is scanned to its end, and no key is put on a line past it")
  func truncated() {
    let bytes = Array(Self.document.utf8)
    for count in bytes.indices {
      let lineCount = bytes[..<count].count { $0 == UInt8(ascii: "\n") } + 1
      for line in TOMLKeyLocator(text: Array(bytes[..<count])).lines.values {
        #expect(line <= lineCount)
      }
    }
  }

  @Test("Nesting without end is neither scanned nor parsed without end")
  func deep() {
    let text = "a = " + String(repeating: "[", count: 100_000)
    let (document, problems) = TOMLDocument.parse(Array(text.utf8), file: "f")
    #expect(document == nil)
    #expect(problems.count == 1 && problems.first?.line == 1)
  }
}
