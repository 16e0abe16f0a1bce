import TaskSchedulerCore
import TaskSchedulerSimulation
import Testing

/// Returns a scenario's timeline in a short form, such as `1s notRunning -> active`.
private func lines(_ text: String) throws -> [String] {
  ScenarioRunner.timeline(of: try Scenario(text)).entries.map { entry in
    let what: String =
      switch entry.kind {
      case .step(let step): "> \(step)"
      case .change(.transition(let from, let to, _)): "\(from) -> \(to)"
      case .change(.ended(let end)): "ended \(end.reason.name)"
      case .change(let change): change.description().text
      case .notice(.memoryWarning): "told of memory"
      case .notice(.socketsReady): "told of sockets"
      case .notice(.systemChanges(let changes)): "told of \(changes.count) changes"
      case .notice(.notificationFired): "told of its notification"
      case .notice(.notificationChosen): "told of a choice"
      case .notice(.remoteControl): "told of a command"
      case .notice(.audioInterruption): "told of an interruption"
      case .notice(.call): "told of a call"
      case .notice(.location): "told its location"
      case .notice(.significantChange): "told of a significant change"
      case .notice(.region(_, let crossing, _)):
        "told that it \(crossing.isInside ? "entered" : "left") \(crossing.region.name)"
      case .notice(.locationAuthorization(let authorization)): "told \(authorization.rawValue)"
      case .shown(let id): "notification \(id.number) shown"
      case .callback(let kind): kind.rawValue
      case .expiration(let task, _): "expiration \(task.number)"
      case .signal(let signal): signal.name
      case .daemonReturned: "daemon returned"
      case .stands(let state, _): state.rawValue
      }
    return "\(TimeSpan.format(entry.at)) \(what)"
  }
}

@Suite("Scenarios")
struct ScenarioTests {
  @Test("The timeline shows the steps and the changes of state")
  func upload() throws {
    let text = """
      policy BackgroundTime 10s
      policy ExpirationLead 2s
      application org.example.upload expire=500ms open=never
      at 1s    adopt org.example.upload
      after 1s send-away org.example.upload
      """
    #expect(
      try lines(text) == [
        "1s > adopt org.example.upload", "1s notRunning -> active",
        "2s > send-away org.example.upload", "2s active -> background",
        "2s 5ms background -> suspended",
      ])
  }

  @Test("A debugger that never detaches stops the limit, and the timeline still ends")
  func endless() throws {
    let text = """
      application org.example.stuck acknowledge=never
      at 0s register org.example.stuck
      at 1s debugger-attaches org.example.stuck
      """
    let timeline = ScenarioRunner.timeline(of: try Scenario(text))
    #expect(timeline.isCut)
    #expect(try lines(text).last == "1s > debugger-attaches org.example.stuck")
    // The timeline continues until the last planned step, however late the step is.
    let later = try lines(text + "\nafter 1h debugger-leaves org.example.stuck")
    #expect(later.last == "1h 7s ended callbackTimeout")
  }

  @Test("Lines may end with a carriage return and a line feed")
  func carriageReturns() throws {
    let text = "application org.example.a\nat 1s launch org.example.a\n"
    let windows = text.split(separator: "\n").joined(separator: "\r\n") + "\r\n"
    #expect(try lines(windows) == lines(text))
  }

  @Test("The message of a mistake contains no control characters")
  func controlCharacters() {
    #expect {
      _ = try Scenario("at 1s launch org.example.\u{9B}31m")
    } throws: { error in
      (error as? ScenarioProblem)?.message.contains("\"org.example.\\x9b31m\"") ?? false
    }
  }

  @Test("A limit kills the application at the exact time, with the reason of the limit")
  func killed() throws {
    let text = """
      policy BackgroundTime 30s
      application org.example.greedy expire=never
      application org.example.stuck acknowledge=never
      at 1s  register org.example.greedy
      at 2s  begin org.example.greedy forever
      at 5s  register org.example.stuck
      """
    let lines = try lines(text)
    #expect(lines.contains("11s ended callbackTimeout"))
    #expect(lines.contains("30s expiration 1"))
    #expect(lines.contains("35s ended backgroundTimeExpired"))
  }

  @Test("An action of an application waits while its processes are stopped")
  func postponed() throws {
    let text = """
      application org.example.mail
      at 1s  register org.example.mail
      at 2s  send-away org.example.mail
      at 5s  begin org.example.mail sync
      at 9s  activate org.example.mail
      """
    #expect(try lines(text).contains("9s began background task 1 'sync', with unlimited time"))
  }

  @Test("A setting changes during the scenario")
  func set() throws {
    let text = """
      application org.example.mail acknowledge=never
      at 1s register org.example.mail
      at 2s set CallbackTimeout 3s
      """
    #expect(try lines(text).contains("4s ended callbackTimeout"))
  }

  @Test("§17: A suspended application is told of a crossing after RegionDwell, and only once")
  func region() throws {
    let text = """
      until 30min
      application org.example.places
      at 0s     location 48 11
      at 1s     register org.example.places
      at 2s     allow-location org.example.places
      after 1s  monitor org.example.places home 48 11 500
      after 1s  send-away org.example.places
      at 5min   location 48.1 11
      at 5min 1s location 48.1 11
      at 20min  location 48.1 11
      """
    let lines = try lines(text)
    #expect(lines.count { $0.hasSuffix("told that it left home") } == 1, "\(lines)")
    let wake = lines.firstIndex { $0.hasSuffix("suspended -> background") }
    let told = try #require(lines.firstIndex { $0.hasSuffix("told that it left home") })
    #expect(wake.map { $0 < told } ?? false, "\(lines)")
    #expect(!lines.contains { $0.contains("entered home") })
  }

  @Test("§17: An application receives locations only after the user has allowed it")
  func consent() throws {
    func told(_ answer: String) throws -> [String] {
      let text = """
        until 5min
        application org.example.maps
        at 0s    location 48 11
        at 1s    register org.example.maps
        at 2s    start org.example.maps location
        at 30s   location 48.01 11
        at 1min  \(answer) org.example.maps
        at 2min  location 48.02 11
        """
      return try lines(text).filter { $0.hasSuffix("told its location") }
    }
    let allowed = try told("allow-location")
    #expect(!allowed.isEmpty && allowed.allSatisfy { $0.hasPrefix("1min") || $0.hasPrefix("2min") })
    #expect(try told("deny-location").isEmpty)
  }

  @Test("§17: Without mode location, an application with updates is suspended; with it, it runs")
  func updatesInBackground() throws {
    func isSuspended(_ modes: String) throws -> Bool {
      let text = """
        until 5min
        application org.example.maps\(modes)
        at 0s    location 48 11
        at 1s    register org.example.maps
        at 2s    allow-location org.example.maps
        at 3s    start org.example.maps location
        at 10s   send-away org.example.maps
        """
      return try lines(text).contains { $0.hasSuffix("background -> suspended") }
    }
    #expect(try isSuspended(""))
    #expect(try !isSuspended(" modes=location"))
  }

  @Test("A scenario without an end stops at 'until'")
  func until() throws {
    let text = """
      application org.example.mail acknowledge=never
      at 1s register org.example.mail
      at 1s debugger-attaches org.example.mail
      until 1min
      """
    let timeline = ScenarioRunner.timeline(of: try Scenario(text))
    #expect(timeline.isCut)
    #expect(timeline.entries.allSatisfy { $0.at <= .seconds(60) })
  }
}

@Suite("Mistakes in scenarios")
struct ScenarioProblemTests {
  @Test(
    "The message of a mistake has the line, the column, and what would be right",
    arguments: [
      ("polcy X 1s", 1, 1, "write one of policy, application, at, after, until"),
      ("\n  policy BackgroundTme 3s", 2, 10, "BackgroundTime"),
      ("policy BackgroundTime soon", 1, 23, "such as 10s or 1min 30s"),
      ("policy BackgroundTime 3 parsecs", 1, 23, "such as 10s or 1min 30s"),
      ("policy BackgroundTime 3h 99999d", 1, 23, "50ms to 1d"),
      ("application org.example.mail open=2d", 1, 35, "1d at most"),
      (
        "application org.example.mail\nat 1s machine-standby 3000d\nat 2s machine-standby 3000d", 3,
        23, "all times together"
      ),
      ("policy MaxTasksPerUser many", 1, 24, "from 1 to 1000000"),
      ("policy multitasking-supported yes", 1, 31, "true, false"),
      ("application mail", 1, 13, "like org.example.mail"),
      ("application org.example.mail fast", 1, 30, "NAME=VALUE"),
      ("application org.example.mail opn=1s", 1, 30, "open"),
      ("application org.example.mail open=soon", 1, 35, "such as 500ms, or never"),
      ("application org.example.mail modes=audio,tv", 1, 36, "audio,location,voip"),
      ("application org.example.mail multitasking=maybe", 1, 43, "write yes or no"),
      ("application org.example.mail owner=me", 1, 36, "a number"),
      ("application org.example.mail\napplication org.example.mail", 2, 1, "twice"),
      ("at 1s launch org.example.mail", 1, 14, "describe it above"),
      ("application org.example.mail\nat 1s lunch org.example.mail", 2, 7, "launch"),
      ("application org.example.mail\nat 1s launch org.example.mail now", 2, 31, "unexpected"),
      ("application org.example.mail\nat 1s exit org.example.mail", 2, 28, "is missing"),
      ("application org.example.mail\nat 1s exit org.example.mail 256", 2, 29, "0 to 255"),
      ("application org.example.mail\nat launch org.example.mail", 2, 4, "not a time span"),
      (
        "application org.example.mail\nat 2s launch org.example.mail\n"
          + "at 1s launch org.example.mail", 3, 4, "in the order of time"
      ),
      (
        "application org.example.mail\nat 2s launch org.example.mail\npolicy LaunchTime 1s", 3, 8,
        "'set'"
      ),
      ("at 1s daemon-dies 5s\nat 2s daemon-dies 1s", 2, 19, "down until 6s"),
      ("at 1s daemon-dies 5s\nafter 5s daemon-dies 1s", 2, 22, "can die again after that"),
      ("until 5s\nat 6s daemon-starts", 2, 4, "at 6s, after the end, which 'until' puts at 5s"),
      ("until 5s\nat 5s daemon-starts\nafter 1ms daemon-starts", 3, 7, "write a later end"),
      ("at 6s daemon-starts\nuntil 5s", 2, 7, "before the last step above, which is at 6s"),
      ("application org.example.mail\nat 1s data org.example.mail s", 2, 29, "hand-over org"),
      ("application org.example.mail\nat 1s hang-up org.example.mail s", 2, 32, "hand-over org"),
      ("application org.example.mail\nat 1s take-back org.example.mail s", 2, 34, "hand-over org"),
      (
        "application org.example.mail\nat 1s hand-over org.example.mail s\n"
          + "at 2s take-back org.example.mail s\nat 3s data org.example.mail s", 4, 29,
        "has not handed over a socket \"s\""
      ),
      ("at 1s location 91 11", 1, 16, "from -90 to 90"),
      ("at 1s location 48 east", 1, 19, "from -180 to 180"),
      ("at 1s location 48 11 0", 1, 22, "from 1 to 100000"),
      ("at 1s receiver maybe", 1, 16, "on, off"),
      (
        "application org.example.mail\nat 1s monitor org.example.mail home 48 11 50", 2, 43,
        "from 100 to 100000"
      ),
      ("application org.example.mail location=gps", 1, 39, "updates,significant-changes,regions"),
      ("policy ExpirationLead 1h\napplication org.example.mail", 1, 1, "shorter than"),
      ("until 1s", 1, 1, "write a step"),
    ])
  func mistakes(_ text: String, _ line: Int, _ column: Int, _ right: String) {
    #expect {
      _ = try Scenario(text)
    } throws: { error in
      guard let problem = error as? ScenarioProblem else { return false }
      #expect(problem.line == line && problem.column == column, "\(problem)")
      #expect(problem.message.contains(right), "\(problem.message)")
      return true
    }
  }

  @Test("A daemon may die again after its restart")
  func diesAgain() throws {
    let text = "at 1s daemon-dies 5s\nafter 6s daemon-dies 1s\n"
    #expect(
      try lines(text) == [
        "1s > daemon-dies 5s", "6s daemon returned", "7s > daemon-dies 1s", "8s daemon returned",
      ])
  }

  @Test("The error for a mistyped word lists the known words")
  func candidates() throws {
    #expect {
      _ = try Scenario("policy BackgroundTme 3s")
    } throws: { error in
      let problem = error as? ScenarioProblem
      return problem?.word == "BackgroundTme"
        && problem?.candidates.contains("BackgroundTime") == true
    }
  }
}
