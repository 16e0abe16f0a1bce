import TaskSchedulerCore

extension Scenario {
  /// Reads a scenario.
  ///
  /// - Throws: The first mistake, with its place.
  public init(_ text: String) throws(ScenarioProblem) {
    var reader = ScenarioReader()
    var number = 0
    // Swift treats a carriage return and a line feed as one character.
    for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isLineEnd) {
      number += 1
      try reader.read(line, number: number)
    }
    self = try reader.finish(line: number)
  }
}

extension Character {
  fileprivate var isLineEnd: Bool { self == "\n" || self == "\r\n" }
}

/// Reads a scenario line by line.
struct ScenarioReader {
  private var scenario = Scenario()
  private var policyLine = 1
  private var time = Duration.zero
  /// The sum of the time spans so far. ``spanMax`` limits this sum.
  private var passed = Duration.zero
  /// The policy after the steps so far.
  private var policyNow: Policy?
  /// The time at which the dead daemon restarts; nil if the daemon has not died.
  private var daemonBack: Duration?
  /// The managed sockets of each application after the steps so far.
  private var sockets: [Int: [String]] = [:]

  private enum Keyword { case policy, application, at, after, until }

  private static let keywords: [(String, Keyword)] = [
    ("policy", .policy), ("application", .application), ("at", .at), ("after", .after),
    ("until", .until),
  ]

  /// The keywords and the names of the actions, which `docs/scenarios.md` describes.
  static var names: [String] { keywords.map(\.0) + allVerbs.map(\.0) }

  mutating func read(_ text: Substring, number: Int) throws(ScenarioProblem) {
    var words = ScenarioWords(text, line: number)
    if words.isEmpty { return }
    switch try words.choice("keyword", Self.keywords) {
    case .policy:
      guard scenario.steps.isEmpty else {
        throw words.problem(
          "'policy' must come before all steps; to change a setting in a step, write 'set'")
      }
      try set(&words, in: &scenario.policy)
      policyLine = number
    case .application:
      let application = try ScenarioApplicationReader.read(&words)
      if scenario.applications.contains(where: { $0.key.id == application.key.id }) {
        throw words.problem("\(application.key.id.name) is described twice", at: 1)
      }
      scenario.applications.append(application)
    case .at:
      let column = words.column
      let at = try moment(&words, "the time", adding: false)
      guard at >= time else {
        throw words.problem(
          "\(TimeSpan.format(at)) is before the step above, which is at \(TimeSpan.format(time)); "
            + "write the steps in the order of time", at: column)
      }
      try advance(to: at, words, column)
      try step(&words)
    case .after:
      let column = words.column
      try advance(to: time + (try moment(&words, "the time")), words, column)
      try step(&words)
    case .until:
      let column = words.column
      let end = try moment(&words, "the time", adding: false)
      guard end >= time else {
        throw words.problem(
          "\(TimeSpan.format(end)) is before the last step above, which is at "
            + "\(TimeSpan.format(time)); write a later end", at: column)
      }
      scenario.end = end
    }
    try words.end()
  }

  private mutating func advance(
    to next: Duration, _ words: ScenarioWords, _ column: Int
  ) throws(ScenarioProblem) {
    if let end = scenario.end, next > end {
      throw words.problem(
        "the step would be at \(TimeSpan.format(next)), after the end, which 'until' puts at "
          + "\(TimeSpan.format(end)); write a later end or an earlier step", at: column)
    }
    time = next
  }

  func finish(line: Int) throws(ScenarioProblem) -> Scenario {
    if let problem = scenario.policy.problems.first {
      throw ScenarioProblem(line: policyLine, column: 1, message: problem)
    }
    if scenario.steps.isEmpty {
      throw ScenarioProblem(
        line: line, column: 1,
        message: "nothing happens; write a step, such as: at 1s launch org.example.mail")
    }
    return scenario
  }

  /// Reads a time or a time span. A time has a maximum, and so has the sum of all time spans in the
  /// scenario, so that additions do not overflow.
  private mutating func moment(
    _ words: inout ScenarioWords, _ what: String, adding: Bool = true
  ) throws(ScenarioProblem) -> Duration {
    let column = words.column
    let span = try words.timeSpan(what)
    let total = adding ? passed + span : span
    guard span <= Self.spanMax, total <= Self.spanMax else {
      throw words.problem(
        "the time is too long; all times together are at most \(TimeSpan.format(Self.spanMax))",
        at: column)
    }
    if adding { passed = total }
    return span
  }

  private static let spanMax = Duration.seconds(3650 * 86_400)

  // MARK: Settings

  private func set(
    _ words: inout ScenarioWords, in policy: inout Policy
  ) throws(ScenarioProblem) {
    let setting = try words.choice("setting", PolicySetting.all.map { ($0.name, $0) })
    let column = words.column
    switch setting.kind {
    case .timeSpan(let property, let bounds):
      let span = try words.timeSpan("the value of \(setting.name)", isToEnd: true)
      guard bounds.contains(span) else {
        throw words.problem(
          "\(TimeSpan.format(span)) is out of bounds; the range of \(setting.name) is "
            + "\(TimeSpan.format(bounds.lowerBound)) to \(TimeSpan.format(bounds.upperBound))",
          at: column)
      }
      policy[keyPath: property] = span
    case .count(let property, let bounds):
      let word = try words.next("the value of \(setting.name)")
      guard let count = Int(word.text), bounds.contains(count) else {
        throw words.problem(
          "\(ScenarioWords.quoted(word.text)) is not valid for \(setting.name); write a number "
            + "from \(bounds.lowerBound) to \(bounds.upperBound)", at: column)
      }
      policy[keyPath: property] = count
    case .flag(let property):
      policy[keyPath: property] = try words.choice("value", [("true", true), ("false", false)])
    }
  }

  // MARK: Steps

  private enum Verb {
    case launch, register, adopt, activate, interrupt, sendAway, terminate, begin, end, start, stop
    case exit, crash, debuggerAttaches, debuggerLeaves, machineStandby, daemonDies, set
    case wakeUp(WakeUpVerb)
    case location(LocationVerb)
  }

  /// The verbs of actions that may wake an application.
  private enum WakeUpVerb {
    case keepAlive, handOver, takeBack, data, hangUp, schedule, cancel, choose, post, clock
    case daemonStarts, memoryPressure, warnMemory
  }

  private static let verbs: [(String, Verb)] = [
    ("launch", .launch), ("register", .register), ("adopt", .adopt), ("activate", .activate),
    ("interrupt", .interrupt), ("send-away", .sendAway), ("terminate", .terminate),
    ("begin", .begin), ("end", .end), ("start", .start), ("stop", .stop), ("exit", .exit),
    ("crash", .crash), ("debugger-attaches", .debuggerAttaches),
    ("debugger-leaves", .debuggerLeaves), ("machine-standby", .machineStandby),
    ("daemon-dies", .daemonDies), ("set", .set),
    ("keep-alive", .wakeUp(.keepAlive)), ("hand-over", .wakeUp(.handOver)),
    ("take-back", .wakeUp(.takeBack)), ("data", .wakeUp(.data)), ("hang-up", .wakeUp(.hangUp)),
    ("schedule", .wakeUp(.schedule)), ("cancel", .wakeUp(.cancel)),
    ("choose", .wakeUp(.choose)), ("post", .wakeUp(.post)), ("clock", .wakeUp(.clock)),
    ("daemon-starts", .wakeUp(.daemonStarts)), ("memory-pressure", .wakeUp(.memoryPressure)),
    ("warn-memory", .wakeUp(.warnMemory)),
  ]

  private static let allVerbs = verbs + locationVerbs.map { ($0.0, Verb.location($0.1)) }

  private mutating func step(_ words: inout ScenarioWords) throws(ScenarioProblem) {
    let text = words.rest.map(\.text).joined(separator: " ")
    let action = try action(try words.choice("action", Self.allVerbs), &words)
    scenario.steps.append(Scenario.Step(at: time, action: action, text: text))
  }

  private mutating func action(
    _ verb: Verb, _ words: inout ScenarioWords
  ) throws(ScenarioProblem) -> Scenario.Action {
    switch verb {
    case .launch: return .launch(try application(&words), target(&words))
    case .register: return .register(try application(&words), target(&words))
    case .adopt: return .adopt(try application(&words), target(&words))
    case .activate: return .activate(try application(&words))
    case .interrupt: return .interrupt(try application(&words))
    case .sendAway: return .sendAway(try application(&words))
    case .terminate: return .terminate(try application(&words))
    case .begin: return .begin(try application(&words), task: try task(&words))
    case .end: return .end(try application(&words), task: try task(&words))
    case .start: return .start(try application(&words), try activity(&words))
    case .stop: return .stop(try application(&words), try activity(&words))
    case .exit:
      return .exit(
        try application(&words), .exited(code: try number(&words, "exit code", 0...255)))
    case .crash:
      return .exit(try application(&words), .signaled(try number(&words, "signal", 1...64)))
    case .debuggerAttaches: return .debug(try application(&words), true)
    case .debuggerLeaves: return .debug(try application(&words), false)
    case .machineStandby: return .machineStandby(try moment(&words, "the length of the standby"))
    case .daemonDies: return .daemonDies(try absence(&words))
    case .set:
      var policy = policyNow ?? scenario.policy
      let column = words.column
      try set(&words, in: &policy)
      if let problem = policy.problems.first { throw words.problem(problem, at: column) }
      policyNow = policy
      return .set(policy)
    case .wakeUp(let verb): return try wakeUp(verb, &words)
    case .location(let verb): return try locationAction(verb, &words)
    }
  }

  /// Reads how long the daemon is down. The daemon cannot die again before it restarts.
  private mutating func absence(_ words: inout ScenarioWords) throws(ScenarioProblem) -> Duration {
    let column = words.column
    let length = try moment(&words, "the time for which the daemon is down")
    if let daemonBack, time <= daemonBack {
      throw words.problem(
        "the daemon has already died, and is down until \(TimeSpan.format(daemonBack)); it can die "
          + "again after that", at: column)
    }
    daemonBack = time + length
    return length
  }

  /// Reads a step that may resume an application.
  private mutating func wakeUp(
    _ verb: WakeUpVerb, _ words: inout ScenarioWords
  ) throws(ScenarioProblem) -> Scenario.Action {
    switch verb {
    case .keepAlive:
      let index = try application(&words)
      if words.take("never") { return .keepAlive(index, nil) }
      return .keepAlive(index, try span(&words, "the keep-alive interval, or never,"))
    case .handOver:
      let index = try application(&words)
      let name = try words.next("the socket's name").text
      sockets[index, default: []].append(name)
      return .handOver(index, socket: name)
    case .takeBack:
      let index = try application(&words)
      let (place, name) = try socket(of: index, &words)
      sockets[index]?.remove(at: place)
      return .takeBack(index, socket: name)
    case .data:
      let index = try application(&words)
      return .arrive(index, socket: try socket(of: index, &words).name, .data)
    case .hangUp:
      let index = try application(&words)
      return .arrive(index, socket: try socket(of: index, &words).name, .hangUp)
    case .schedule:
      let index = try application(&words)
      let name = try notification(&words)
      let delay = try span(&words, "the delay")
      let repeats = words.take("every")
        ? try words.choice("interval", RepeatInterval.allCases.map { ($0.rawValue, $0) }) : nil
      return .schedule(index, notification: name, after: delay, repeats)
    case .cancel: return .cancel(try application(&words), notification: try notification(&words))
    case .choose: return .choose(try application(&words), notification: try notification(&words))
    case .post: return .post(try change(&words))
    case .clock:
      let isForward = try words.choice("direction", [("forward", true), ("back", false)])
      let span = try span(&words, "the time by which the clock is set")
      return .setClock(isForward ? span : .zero - span)
    case .daemonStarts: return .daemonStarts
    case .memoryPressure: return try pressure(&words)
    case .warnMemory: return .warnMemory(words.isEmpty ? nil : try application(&words))
    }
  }

  /// Reads the available memory, and whether the pressure comes from the daemon's own slice.
  private func pressure(
    _ words: inout ScenarioWords
  ) throws(ScenarioProblem) -> Scenario.Action {
    let word = try words.next("the available memory")
    guard word.text.hasSuffix("%"), let percent = Int(word.text.dropLast()),
      (0...100).contains(percent)
    else {
      throw words.problem(
        "\(ScenarioWords.quoted(word.text)) is not an available memory; write 0% to 100%",
        at: word.column)
    }
    return .memoryPressure(percent, words.take("slice") ? .slice : .machine)
  }

  /// Reads the name of a managed socket. Returns the name, and its index among the sockets of the
  /// application.
  private func socket(
    of index: Int, _ words: inout ScenarioWords
  ) throws(ScenarioProblem) -> (place: Int, name: String) {
    let word = try words.next("the socket's name")
    let names = sockets[index] ?? []
    guard let place = names.firstIndex(of: word.text) else {
      let id = scenario.applications[index].key.id.name
      throw words.problem(
        "\(id) has not handed over a socket \(ScenarioWords.quoted(word.text)); write a step "
          + "above, such as: hand-over \(id) server", at: word.column, word: word.text,
        among: names)
    }
    return (place, word.text)
  }

  private func notification(_ words: inout ScenarioWords) throws(ScenarioProblem) -> String {
    try words.next("the notification's name").text
  }

  /// Reads a time span that ``passed`` does not include.
  private func span(
    _ words: inout ScenarioWords, _ what: String
  ) throws(ScenarioProblem) -> Duration {
    let column = words.column
    let span = try words.timeSpan(what)
    guard span <= Self.spanMax else {
      throw words.problem(
        "the time span is too long; the maximum is \(TimeSpan.format(Self.spanMax))", at: column)
    }
    return span
  }

  private func change(_ words: inout ScenarioWords) throws(ScenarioProblem) -> SystemChange {
    let kinds: [(String, SystemChangeKind?)] = [
      ("time-zone", .timeZone), ("clock", .clock), ("day", .day), ("locale", .locale),
      ("network", .network), ("power-source", .powerSource), ("custom", nil),
    ]
    let kind = try words.choice("kind", kinds)
    let name = kind == nil ? try words.next("the change's name").text : ""
    let value = words.isEmpty ? nil : try words.next("the new value").text
    return SystemChange(kind: kind ?? .custom(name), value: value)
  }

  func application(_ words: inout ScenarioWords) throws(ScenarioProblem) -> Int {
    let word = try words.next("the application")
    guard let index = scenario.applications.firstIndex(where: { $0.key.id.name == word.text })
    else {
      throw words.problem(
        "there is no application \(ScenarioWords.quoted(word.text)); describe it above, such as: "
          + "application org.example.mail", at: word.column, word: word.text,
        among: scenario.applications.map(\.key.id.name))
    }
    return index
  }

  private func target(_ words: inout ScenarioWords) -> LaunchTarget {
    words.take("background") ? .background : .foreground
  }

  private func task(_ words: inout ScenarioWords) throws(ScenarioProblem) -> String {
    try words.next("the task's name").text
  }

  private func activity(_ words: inout ScenarioWords) throws(ScenarioProblem) -> ScenarioActivity {
    try words.choice("activity", ScenarioActivity.allCases.map { ($0.rawValue, $0) })
  }

  private func number(
    _ words: inout ScenarioWords, _ what: String, _ bounds: ClosedRange<Int32>
  ) throws(ScenarioProblem) -> Int32 {
    let word = try words.next("the \(what)")
    guard let number = Int32(word.text), bounds.contains(number) else {
      throw words.problem(
        "\(ScenarioWords.quoted(word.text)) is not valid for the \(what); write a number from "
          + "\(bounds.lowerBound) to \(bounds.upperBound)", at: word.column)
    }
    return number
  }
}
