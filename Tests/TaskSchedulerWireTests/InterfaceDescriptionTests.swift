import Testing

@testable import TaskSchedulerWire

@Suite("The text of an interface is parsed")
struct InterfaceDescriptionTests {
  @Test("Every form of the language is parsed, with comments anywhere")
  func readsAll() throws {
    let text = """
      # before
      interface # within
        org.ex-ample.a1 # behind
      type Empty ()#close
      type Kind (one, # a comment
        two)
      type All (
        a: bool, b: int, c: float, d: string, e: object, f: any, g: Kind, h: []int, i: [string]bool,
        j: ?string, k: ?[]?[string](), l: (x: int, y: (p, q)), m_2: [][]Empty
      )
      method
        Go
        (in: All) # in
        -> # to
        (out: ?All)
      error Bad (why: string)
      \terror Worse()\r
      # the end
      """
    let interface = try InterfaceDescription(text: text)
    #expect(interface.name == "org.ex-ample.a1")
    #expect(interface.text == text)
    #expect(interface.types.map(\.name) == ["Empty", "Kind", "All"])
    #expect(interface.types[0].type == .structure([]))
    #expect(interface.types[1].type == .enumeration(["one", "two"]))
    #expect(interface.types[2].type == .structure([
      .init(name: "a", type: .bool), .init(name: "b", type: .int), .init(name: "c", type: .float),
      .init(name: "d", type: .string), .init(name: "e", type: .object),
      .init(name: "f", type: .any), .init(name: "g", type: .named("Kind")),
      .init(name: "h", type: .array(of: .int)), .init(name: "i", type: .dictionary(of: .bool)),
      .init(name: "j", type: .optional(.string)),
      .init(
        name: "k", type: .optional(.array(of: .optional(.dictionary(of: .structure([])))))),
      .init(
        name: "l",
        type: .structure([
          .init(name: "x", type: .int), .init(name: "y", type: .enumeration(["p", "q"])),
        ])),
      .init(name: "m_2", type: .array(of: .array(of: .named("Empty")))),
    ]))
    #expect(interface.methods == [
      .init(
        name: "Go", comment: [], input: [.init(name: "in", type: .named("All"))],
        output: [.init(name: "out", type: .optional(.named("All")))])
    ])
    #expect(interface.errors == [
      .init(name: "Bad", comment: [], fields: [.init(name: "why", type: .string)]),
      .init(name: "Worse", comment: [], fields: []),
    ])
  }

  @Test("A comment belongs to the declaration directly below it")
  func comments() throws {
    let interface = try InterfaceDescription(
      text: """
        # Apart from the interface.

        # The interface,
        #   indented.
        interface a.b
        # A type.
        type T ( # not the field's
          # A field.
          f: int,
          g: int # behind it
        )

        # Apart from the method.

        method M() -> (
          # What comes out.
          h: T
        )
        # An error.
        error E ()
        """)
    #expect(interface.comment == ["The interface,", "  indented."])
    #expect(interface.types[0].comment == ["A type."])
    guard case .structure(let fields) = interface.types[0].type else { throw NoStructure() }
    #expect(fields.map(\.comment) == [["A field."], []])
    #expect(interface.methods[0].comment.isEmpty)
    #expect(interface.methods[0].output[0].comment == ["What comes out."])
    #expect(interface.errors[0].comment == ["An error."])
  }

  private struct NoStructure: Error {}

  @Test("A text that is not an interface is refused with the line and the reason", arguments: [
    ("", 1, "'interface' was expected"), ("interfac a.b", 1, "'interface' was expected"),
    ("interface a", 1, "org.example.Thing"), ("interface a..b", 1, "org.example.Thing"),
    ("interface a.-b", 1, "org.example.Thing"), ("interface 1.b", 1, "org.example.Thing"),
    ("interface a.b\n\nfoo Bar ()", 3, "'type', 'method' or 'error'"),
    ("interface a.b\ntype foo ()", 2, "starts with a capital"),
    ("interface a.b\ntype F_o ()", 2, "starts with a capital"),
    ("interface a.b\ntype F (a: ??int)", 2, "'??'"),
    ("interface a.b\ntype F (a: integer)", 2, "'integer' is not a type"),
    ("interface a.b\ntype F (a: Missing)", 2, "no type 'Missing'"),
    ("interface a.b\ntype F (a: int\nb: int)", 3, "',' or ')'"),
    ("interface a.b\ntype F (a, b: int)", 2, "all names of a"),
    ("interface a.b\ntype F (a: int, b)", 2, "all names of a"),
    ("interface a.b\ntype F (a: int,)", 2, "a name was expected"),
    ("interface a.b\ntype F (a: int, a: int)", 2, "'a' appears twice"),
    ("interface a.b\ntype F (a__b: int)", 2, "a name has"),
    ("interface a.b\ntype F (_a: int)", 2, "a name has"),
    ("interface a.b\ntype F ()\nerror F ()", 3, "declared twice"),
    ("interface a.b\nmethod M()", 2, "'->' was expected"),
    ("interface a.b\nmethod M(a, b) -> ()", 2, "needs a type"),
    ("interface a.b\nmethod M(a: [int]string) -> ()", 2, "a type was expected"),
    ("interface a.b\ntype F " + String(repeating: "(a: ", count: 1000), 2, "are nested"),
    ("interface a.b\ntype F (a: " + String(repeating: "[]", count: 1000), 2, "are nested"),
  ])
  func refuses(text: String, line: Int, problem: String) {
    let error = #expect(throws: InterfaceTextError.self) { try InterfaceDescription(text: text) }
    #expect(error?.line == line)
    #expect(error?.problem.contains(problem) == true, "\(error?.problem ?? "")")
  }

  @Test("The interface that every service has is the standard org.varlink.service")
  func standardInterface() {
    let interface = ServiceInterface.description
    #expect(interface.name == "org.varlink.service")
    #expect(interface.methods.map(\.name) == ["GetInfo", "GetInterfaceDescription"])
    #expect(
      interface.errors.map { "\(interface.name).\($0.name)" }
        == StandardFailure.Name.allCases.map(\.rawValue))
  }
}
