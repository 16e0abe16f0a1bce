import TaskSchedulerCore

/// The words of one line, each with its column.
struct ScenarioWords {
  struct Word {
    let text: String
    let column: Int

    var beginsWithDigit: Bool {
      text.utf8.first.map { (0x30...0x39).contains($0) || $0 == 0x2E } ?? false
    }
  }

  let line: Int
  private(set) var rest: ArraySlice<Word>
  private let endColumn: Int

  /// Splits a line at spaces. A `#` at the start of a word begins a comment.
  init(_ text: Substring, line: Int) {
    var words: [Word] = []
    var word = ""
    var start = 0
    var column = 0
    var lastColumn = 0
    for character in text {
      column += 1
      let isSpace = character == " " || character == "\t" || character == "\r"
      if word.isEmpty, character == "#" { break }
      if !isSpace {
        if word.isEmpty { start = column }
        word.append(character)
        lastColumn = column
      } else if !word.isEmpty {
        words.append(Word(text: word, column: start))
        word = ""
      }
    }
    if !word.isEmpty { words.append(Word(text: word, column: start)) }
    self.line = line
    rest = words[...]
    endColumn = lastColumn + 1
  }

  var isEmpty: Bool { rest.isEmpty }

  /// The column of the next word, or of the end of the line.
  var column: Int { rest.first?.column ?? endColumn }

  func problem(
    _ message: String, at column: Int? = nil, word: String? = nil, among candidates: [String] = []
  ) -> ScenarioProblem {
    ScenarioProblem(
      line: line, column: column ?? self.column, message: message, word: word,
      candidates: candidates)
  }

  /// Returns the next word. If there is none, the error says that `what` is missing.
  mutating func next(_ what: String) throws(ScenarioProblem) -> Word {
    guard let word = rest.popFirst() else { throw problem("\(what) is missing at the line's end") }
    return word
  }

  mutating func take(_ text: String) -> Bool {
    guard rest.first?.text == text else { return false }
    rest.removeFirst()
    return true
  }

  /// Returns the value of the next word, which must be one of the words in `choices`.
  mutating func choice<Choice>(
    _ what: String, _ choices: [(String, Choice)]
  ) throws(ScenarioProblem) -> Choice {
    let word = try next(what)
    guard let found = choices.first(where: { $0.0 == word.text }) else {
      let names = choices.map(\.0)
      throw problem(
        "\(Self.quoted(word.text)) is not a known \(what); write one of "
          + names.joined(separator: ", "),
        at: word.column, word: word.text, among: names)
    }
    return found.1
  }

  /// Reads a time span of one or more words.
  ///
  /// A span ends at the first word that does not begin with a digit, or at the end of the line.
  /// With `isToEnd`, it ends only at the end of the line.
  mutating func timeSpan(
    _ what: String, isToEnd: Bool = false
  ) throws(ScenarioProblem) -> Duration {
    let column = column
    var text = ""
    while let word = rest.first, isToEnd || word.beginsWithDigit {
      text += text.isEmpty ? word.text : " " + word.text
      rest.removeFirst()
    }
    if let span = TimeSpan.parse(text) { return span }
    let wrong = text.isEmpty ? rest.first?.text : text
    let found = wrong.map { "\(Self.quoted($0)) is not a time span" } ?? "\(what) is missing"
    throw problem(
      "\(found); write it as systemd does, such as 10s or 1min 30s", at: column)
  }

  func end() throws(ScenarioProblem) {
    guard let word = rest.first else { return }
    throw problem(
      "\(Self.quoted(word.text)) is unexpected; the line must end before it", at: word.column)
  }

  /// Quotes a part of the scenario for a message.
  static func quoted(_ text: String) -> String { PrintableText.quoted(text, lengthMax: 60) }
}
