import TaskSchedulerCore

/// Reads a line such as `application org.example.mail acknowledge=1s modes=audio,voip`.
enum ScenarioApplicationReader {
  private enum Key {
    case owner, seat, modes, location, multitasking, open, acknowledge, expire, terminate, stop
    case handle, dirty
  }

  private static let keys: [(String, Key)] = [
    ("owner", .owner), ("seat", .seat), ("modes", .modes), ("location", .location),
    ("multitasking", .multitasking),
    ("open", .open), ("acknowledge", .acknowledge), ("expire", .expire),
    ("terminate", .terminate), ("stop", .stop),
    ("handle", .handle), ("dirty", .dirty),
  ]

  /// The names of the options, which `docs/scenarios.md` describes.
  static var names: [String] { keys.map(\.0) }

  static func read(
    _ words: inout ScenarioWords
  ) throws(ScenarioProblem) -> Scenario.Application {
    let word = try words.next("the application's id")
    guard let id = ApplicationID(word.text) else {
      throw words.problem(
        "\(ScenarioWords.quoted(word.text)) is not an application id; write two or more labels of "
          + "letters, digits, - and _, joined by dots, like org.example.mail", at: word.column)
    }
    var application = Scenario.Application(key: ApplicationKey(id, owner: UserID(1000)))
    while !words.isEmpty { try readOption(&words, &application) }
    return application
  }

  private static func readOption(
    _ words: inout ScenarioWords, _ application: inout Scenario.Application
  ) throws(ScenarioProblem) {
    let word = try words.next("an option")
    let names = keys.map(\.0)
    guard let equals = word.text.firstIndex(of: "=") else {
      throw words.problem(
        "\(ScenarioWords.quoted(word.text)) has no value; write NAME=VALUE, such as "
          + "acknowledge=1s", at: word.column)
    }
    let name = String(word.text[..<equals])
    guard let key = keys.first(where: { $0.0 == name })?.1 else {
      throw words.problem(
        "\(ScenarioWords.quoted(name)) is not an option; write one of "
          + names.joined(separator: ", "), at: word.column, word: name, among: names)
    }
    let value = Value(
      text: String(word.text[word.text.index(after: equals)...]), line: words.line,
      column: word.column + word.text.distance(from: word.text.startIndex, to: equals) + 1)
    switch key {
    case .owner:
      guard let uid = UInt32(value.text) else {
        throw value.problem("is not a uid; write a number")
      }
      application.key = ApplicationKey(application.key.id, owner: UserID(uid))
    case .seat:
      guard !value.text.isEmpty else { throw value.problem("is not a seat; write a name") }
      application.seat = SeatID(value.text)
    case .modes: application.modes = try value.modes()
    case .location: application.locationServices = try value.locationServices()
    case .multitasking: application.multitasking = try value.yesOrNo()
    case .open: application.openDelay = try value.delay(orNever: "never")
    case .acknowledge: application.acknowledgeDelay = try value.delay(orNever: "never")
    case .expire: application.expireDelay = try value.delay(orNever: "never")
    case .terminate: application.terminateDelay = try value.delay(orNever: "never")
    case .handle: application.handleDelay = try value.delay(orNever: "never")
    case .dirty: application.dirty = try value.size()
    case .stop: application.stopDelay = try value.delay(orNever: "never")
    }
  }

  /// The value of an option, after `=`.
  private struct Value {
    let text: String
    let line: Int
    let column: Int

    func problem(_ message: String, among candidates: [String] = []) -> ScenarioProblem {
      ScenarioProblem(
        line: line, column: column, message: "\(ScenarioWords.quoted(text)) \(message)",
        word: candidates.isEmpty ? nil : text, candidates: candidates)
    }

    func delay(orNever never: String) throws(ScenarioProblem) -> Duration? {
      if text == never { return nil }
      guard let span = TimeSpan.parse(text) else {
        throw problem("is not a time span; write one as systemd does, such as 500ms, or \(never)")
      }
      guard span <= .seconds(86_400) else {
        throw problem("is too long; write 1d at most, or \(never)")
      }
      return span
    }

    func size() throws(ScenarioProblem) -> UInt64 {
      let units: [(String, UInt64)] = [("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30)]
      let unit = units.first { text.hasSuffix($0.0) }
      let digits = unit == nil ? text[...] : text.dropLast()
      guard let count = UInt64(digits), count <= 1 << 40 / (unit?.1 ?? 1) else {
        throw problem(
          "is not a size; write a number of bytes, or a number with K, M or G; 1024G at most")
      }
      return count * (unit?.1 ?? 1)
    }

    func yesOrNo() throws(ScenarioProblem) -> Bool {
      switch text {
      case "yes": true
      case "no": false
      case _: throw problem("is not valid; write yes or no", among: ["yes", "no"])
      }
    }

    func modes() throws(ScenarioProblem) -> [BackgroundMode] {
      var modes: [BackgroundMode] = []
      for name in text.split(separator: ",", omittingEmptySubsequences: false) {
        guard let mode = BackgroundMode(rawValue: String(name)) else {
          let names = BackgroundMode.allCases.map(\.rawValue)
          throw problem(
            "contains an unknown mode; write one or more of \(names.joined(separator: ",")), "
              + "joined by commas")
        }
        if !modes.contains(mode) { modes.append(mode) }
      }
      return modes
    }

    func locationServices() throws(ScenarioProblem) -> [LocationService] {
      if text == "none" { return [] }
      var services: [LocationService] = []
      for name in text.split(separator: ",", omittingEmptySubsequences: false) {
        guard let service = LocationService.allCases.first(where: { $0.manifestName == name })
        else {
          let names = LocationService.allCases.map(\.manifestName)
          throw problem(
            "contains an unknown location service; write none, or one or more of "
              + "\(names.joined(separator: ",")), joined by commas")
        }
        if !services.contains(service) { services.append(service) }
      }
      return services
    }
  }
}
