import TaskSchedulerWire
import Testing

@testable import taskctl

@Suite("The explanations of the command why")
struct WhyTests {
  private typealias Control = ControlInterface

  private func text(
    _ application: Control.Application, cause: String? = nil,
    last: Control.EndedEntitlement? = nil, traced: Bool = false, limits: [Control.Limit] = [],
    memory: Control.MemoryEnd? = nil, rule: Control.BrokenRule? = nil,
    windows: Control.WindowVisibility? = nil
  ) -> String {
    WhyText.text(
      .init(
        application: application,
        explanation: .init(
          cause: cause, lastEntitlement: last, traced: traced, limits: limits, memoryEnd: memory,
          brokenRule: rule, windows: windows)), context)
  }

  @Test("The explanation shows the state, its duration, the entitlement and the next limit")
  func background() {
    let shown = text(
      sample(), cause: "sendAway",
      limits: [
        .init(kind: .expiration, atUSec: 1_589_000_000),
        .init(kind: .backgroundTime, atUSec: 1_594_000_000),
      ])
    #expect(shown.hasPrefix("org.example.mail has run in the background since 2023-11-14 "))
    #expect(
      shown.split(separator: "\n").dropFirst().joined(separator: "\n") == """
          The user or an operator sent it to the background.
          It may run for background task 3 'sync', which began 3 min ago.
          Next, in 9 min 49 s: the daemon calls the expiration handlers of its background tasks.
          Then, in 9 min 54 s: its background time ends; the daemon kills it if a background \
        task is outstanding.
        """)
  }

  @Test("The explanation shows why an application was suspended, and what resumes it")
  func suspended() {
    let shown = text(
      reachableSample(), cause: "noEntitlement",
      last: .init(kind: .task, task: 2, taskName: "sync", atUSec: 940_000_000),
      limits: [.init(kind: .keepAlive, atUSec: 1_600_000_000)])
    #expect(
      shown.split(separator: "\n").dropFirst().joined(separator: "\n") == """
          Nothing entitled it to run any longer: it ended its last task, background task 2 \
        'sync', 1 min ago.
          It resumes when the user or an operator brings it to the foreground, or when its \
        keep-alive handler is due, or when data arrives on one of its 2 managed sockets.
          It will then receive 3 system changes.
          Next, in 10 min: the daemon calls its keep-alive handler.
        """)
  }

  @Test("The explanation names a single held system change in the singular")
  func oneChange() {
    var application = reachableSample()
    application.instance?.heldChanges = 1
    #expect(text(application).contains("  It will then receive 1 system change.\n"))
  }

  @Test(
    "The explanation says whether a media command or a read of the player resumed the application",
    arguments: [
      ("remoteControl", "The daemon resumed it to handle a media command."),
      ("remoteRead", "The daemon resumed it because a program reads its media player."),
    ])
  func remoteControl(_ cause: String, _ sentence: String) {
    #expect(text(sample(), cause: cause).contains("  \(sentence)\n"))
  }

  @Test(
    "The explanation says that a phone call interrupted the application or resumed it",
    arguments: [
      ("call", .inactive, "A phone call interrupted it."),
      ("call", .background, "The daemon resumed it to tell it about a phone call."),
      ("callEnded", .active, "The phone call that interrupted it ended."),
      ("callEnded", .background, "The daemon resumed it because a phone call ended."),
    ] as [(String, ControlInterface.State, String)])
  func call(_ cause: String, _ state: ControlInterface.State, _ sentence: String) {
    #expect(text(sample(state: state), cause: cause).contains("  \(sentence)\n"))
  }

  @Test("The explanation says what an application does with audio, and until when it is muted")
  func audio() {
    var application = sample()
    application.instance?.audio = [.playing, .recording, .calling, .onHold]
    #expect(
      text(application).contains(
        """
          It plays audio.
          It records audio.
          It has a phone call.
          The phone call is on hold because of a newer one.

        """))
    application.instance?.audio = [.playing, .ducked]
    #expect(
      text(application).contains(
        """
          It plays audio.
          The daemon has lowered its volume while another application plays.

        """))
    application.instance?.duckedBy = "org.example.maps"
    #expect(
      text(application).contains(
        "The daemon has lowered its volume while org.example.maps plays."))
    application.instance?.audio = [.muted, .interrupted]
    #expect(
      text(application).contains(
        """
          The daemon has muted its audio until the phone call ends.
          A phone call interrupts its audio.

        """))
    application.state = .suspended
    application.backgroundModes = []
    let shown = text(application)
    #expect(shown.contains("  The daemon has muted its audio until it resumes.\n"))
    let reason =
      "What it plays does not entitle it to run, because it does not have the mode audio."
    #expect(shown.contains(reason))
    application.backgroundModes = ["audio"]
    #expect(!text(application).contains(reason))
    #expect(shown.contains(" to the foreground, or when the phone call ends.\n"))
  }

  @Test("The explanation says which changes of the location resume or launch an application")
  func location() {
    var application = sample(state: .suspended, entitlements: [], tasks: [])
    application.location = ControlInterface.LocationService.allCases
    let events =
      "when the location changes by about 500 m, or when the machine enters or leaves one of its "
      + "regions.\n"
    #expect(text(application).contains("brings it to the foreground, or \(events)"))
    var ended = endedSample()
    ended.location = [.significantChanges, .regions]
    #expect(
      text(ended).contains("The daemon cannot launch it \(events.dropLast(2)), but informs it"))
    (ended.launchable, ended.multitasking) = (true, true)
    #expect(text(ended).contains("  The daemon launches it \(events)"))
    ended.lastEnd?.reason = .terminatedByUser
    #expect(
      text(ended).contains(
        "does not launch it for the location until an operator or the user has launched it."))
    ended.location = []
    #expect(!text(ended).contains("location"))
  }

  @Test("The explanation says that location updates run, and whether they entitle to run")
  func locationUpdates() {
    var application = sample(entitlements: [.location], tasks: [])
    application.location = [.updates]
    #expect(text(application).contains("do not entitle it to run in the background"))
    application.backgroundModes = ["location"]
    let shown = text(application, cause: "location")
    #expect(shown.contains("  It may run for location updates.\n"))
    #expect(shown.contains("  It has started location updates.\n"))
    #expect(shown.contains("The daemon resumed it to tell it about a change of the location.\n"))
  }

  @Test(
    "The explanation says why an application is told nothing about the location",
    arguments: [
      (.notDetermined, nil, "the user has not yet decided whether it may learn the location"),
      (.denied, .user, "the user or an operator has denied it the location"),
      (.denied, .settings, "the settings of the daemon deny it the location"),
      (.denied, .manifest, "its manifest does not name the service"),
    ] as [(ControlInterface.LocationAuthorization, ControlInterface.LocationDenial?, String)])
  func locationDenied(
    _ authorization: ControlInterface.LocationAuthorization,
    _ denial: ControlInterface.LocationDenial?, _ reason: String
  ) {
    var running = sample(state: .suspended)
    running.location = [.updates]
    var ended = endedSample()
    (ended.launchable, ended.multitasking, ended.location) = (true, true, [.regions])
    for (application, use) in [
      (running, "It has started location updates."), (ended, "It monitors the location."),
    ] {
      var application = application
      application.locationAuthorization = authorization
      application.locationDenial = denial
      let shown = text(application)
      let sentences = "\(use) The daemon tells it nothing, because \(reason).\n"
      #expect(shown.contains(sentences), "\(shown)")
      #expect(!shown.contains("launches it when"))
    }
  }

  @Test("The explanation names the application that interrupts the audio of another")
  func interrupter() {
    var application = sample()
    application.instance?.audio = [.muted, .interrupted]
    application.instance?.interruptedBy = "org.example.radio"
    #expect(
      text(application).contains(
        """
          The daemon has muted its audio until the interruption ends.
          org.example.radio interrupts its audio.

        """))
    application.state = .suspended
    let end = ", or when the interruption of its audio ends"
    #expect(text(application).contains(end))
    // When another application stops interrupting an unaware application, the unaware application
    // is not resumed.
    application.instance?.aware = false
    #expect(!text(application).contains(end))
  }

  @Test("The explanation of a suspended application says that its windows are hidden")
  func hidden() {
    let shown = text(sample(state: .suspended), cause: "noEntitlement", windows: .hidden)
    #expect(shown.contains("Its windows are hidden."))
    #expect(
      shown.contains(
        "It resumes when the user or an operator brings it to the foreground, or when one of its "
          + "windows is shown."))
  }

  @Test("The explanation names the application that displaced another, even when that is suspended")
  func displaced() {
    var application = reachableSample()
    application.instance?.displacedBy = "org.example.maps"
    let sentence =
      "org.example.maps became active at seat seat0, so the daemon sent this application to the "
      + "background."
    #expect(text(application, cause: "noEntitlement").contains("  \(sentence)\n  Nothing entitled"))
    application.state = .inactive
    #expect(
      text(application, cause: "unfocused").contains(
        "org.example.maps became active at seat seat0, so the daemon made this application "
          + "inactive."))
    application.state = .background
    let shown = text(application, cause: "otherActivated")
    #expect(shown.contains("  \(sentence)\n"))
    #expect(!shown.contains("Another application"))
  }

  @Test("The explanation of an inactive application says whether an acknowledgement activates it")
  func inactive() {
    let application = sample(state: .inactive)
    let sentence = "It becomes active when it acknowledges its callback."
    #expect(text(application, cause: "activate").contains(sentence))
    for cause in ["call", "interruption", "locked", "otherActivated", "shown", "unfocused"] {
      #expect(!text(application, cause: cause).contains(sentence), "\(cause)")
    }
  }

  @Test("The explanation of a kill names the callback or the task")
  func ended() {
    var killed = endedSample(reason: .callbackTimeout, code: nil)
    killed.lastEnd?.callback = .didEnterBackground
    #expect(
      text(killed).hasSuffix(
        """
          It was killed because it did not acknowledge a callback in time.
          It did not acknowledge didEnterBackground in time.
          Next: nothing is scheduled.

        """))
    killed = endedSample(reason: .backgroundTimeExpired, code: nil)
    killed.lastEnd?.tasks = 2
    killed.lastEnd?.task = 4
    killed.lastEnd?.taskName = "upload"
    #expect(
      text(killed).contains(
        "2 background tasks were outstanding, the first of them background task 4 'upload'.\n"))
  }

  @Test(
    "§14: The explanation names the acknowledgement missing after an order to terminate",
    arguments: [ControlInterface.EndKind.terminatedByOperator, .terminatedByUser])
  func killedForNotAnswering(_ reason: ControlInterface.EndKind) {
    var killed = endedSample(reason: reason, code: nil)
    killed.lastEnd?.callback = .willTerminate
    let by = reason == .terminatedByUser ? "the user" : "an operator"
    #expect(
      text(killed).contains(
        "\n  It was terminated by \(by).\n"
          + "  It did not acknowledge willTerminate in time, and was killed.\n"))
  }

  @Test("The explanation of an application left running by a stopped daemon says it is unmanaged")
  func unmanaged() {
    var application = endedSample(reason: .schedulerStopped, code: nil)
    application.unmanagedPID = 4711
    let shown = text(application)
    let moment = context.clock.moment(ofBoot: 940_000_000)
    #expect(shown.hasPrefix("org.example.news has been unmanaged since \(moment).\n"))
    #expect(shown.contains("\n  taskschedd stopped and left process 4711 running.\n"))
    #expect(!shown.contains("not run") && !shown.contains("was ended"))
    application.unmanagedPID = nil
    #expect(text(application).hasPrefix("org.example.news has not run since "))
    #expect(
      text(application).contains(
        "It was running when taskschedd stopped, and kept running unmanaged."))
  }

  @Test("The explanation shows the reason and the time of a failed launch")
  func launchFailure() {
    var application = endedSample()
    application.launchFailure = .init(reason: "execve: ENOENT", atUSec: 940_000_000)
    let sentence =
      "\n  Its last launch failed, \(context.clock.moment(ofBoot: 940_000_000)): execve: ENOENT.\n"
    #expect(text(application).contains(sentence))
    application.lastEnd = nil
    #expect(text(application).hasPrefix("org.example.news is not running." + sentence))
  }

  @Test("§14: The explanation of an end that the daemon could not observe says it is unknown")
  func unknownEnd() {
    #expect(
      text(endedSample(reason: .unknown, code: nil)).contains(
        "\n  It ended for an unknown reason: taskschedd was not running, or the kernel did not "
          + "report the reason.\n"))
  }

  private var memoryEnd: Control.MemoryEnd {
    .init(
      state: .suspended, dirty: 120 << 20, estimate: false, candidates: 500,
      next: [
        .init(application: "org.example.maps", owner: 1000, dirty: 80 << 20, estimate: true),
        .init(application: "org.example.tea", owner: 1000, dirty: 40 << 20, estimate: false),
      ],
      available: 80 << 20, total: 1000 << 20, pressedSinceUSec: 937_500_000,
      chosenAtUSec: 940_000_000, choosingTimeUSec: 41_000)
  }

  @Test(
    "The explanation of a termination to free memory shows class, size, next ones and the warning")
  func memory() {
    let shown = text(endedSample(reason: .memoryPressure, code: nil), memory: memoryEnd)
    #expect(
      shown.split(separator: "\n").dropFirst().joined(separator: "\n") == """
          It was terminated because the machine was short of memory.
          When the daemon chose it, \(context.clock.moment(ofBoot: 940_000_000)), 80.0 MiB of the \
        machine's 1000 MiB were available (8%); memory pressure had begun 2.5 s earlier.
          Of 500 suspended applications, it had the most dirty memory, 120 MiB: suspended \
        applications go first. Next in order: org.example.maps (about 80.0 MiB), \
        org.example.tea (40.0 MiB).
          It received no warning: the daemon kills suspended applications without notice.
          Measuring and choosing took 41 ms.
          Next: nothing is scheduled.
        """)
  }

  @Test("The explanation of a termination in the background to free memory shows the warning")
  func memoryOfBackground() {
    var end = memoryEnd
    (end.state, end.candidates, end.next) = (.background, 1, [])
    end.warnedAtUSec = 938_000_000
    var ending = sample()
    ending.instance?.ending = .memoryPressure
    let shown = text(ending, memory: end)
    #expect(
      shown.contains(
        "The daemon is terminating it because the machine is short of memory."))
    #expect(
      shown.contains(
        "It was the only application in the background, with 120 MiB of dirty memory: no "
          + "application was suspended, and the foreground is exempt.\n"))
    #expect(shown.contains("  It received a memory warning 2 s before the daemon chose it.\n"))
    end.warnedAtUSec = nil
    #expect(
      text(ending, memory: end).contains(
        "It received no warning, because it has no event stream."))
    end.choosingTimeUSec = 0
    #expect(
      text(ending, memory: end).contains(
        "  The daemon chose the application at once, because the memory sizes were already "
          + "known.\n"))
  }

  @Test(
    "The explanation names the background rule that an application was killed for",
    arguments: [
      (
        .sharedResourceHeld, .init(path: "/srv/\u{1b}db"),
        "It held a lock on /srv/\\x1bdb when the daemon suspended it."
      ),
      (.gpuInBackground, .init(gpuUSec: 5_000_000), "It used GPUs for 5 s in the background."),
      (
        .excessiveUse,
        .init(
          cpuUSec: 7_500_000, withinUSec: 10_000_000, sharePercent: 20, throttled: true),
        "It used 7.5 s of CPU time within 10 s in the background, although the daemon throttled "
          + "it to 20 % of one CPU."
      ),
      (
        .excessiveUse,
        .init(
          cpuUSec: 9_000_000, withinUSec: 10_000_000, sharePercent: 80, throttled: false),
        "It used 9 s of CPU time within 10 s in the background, more than 80 % of one CPU; the "
          + "daemon had throttled it before and had lifted the throttle."
      ),
    ] as [(ControlInterface.EndKind, ControlInterface.BrokenRule, String)])
  func rules(
    _ reason: ControlInterface.EndKind, _ rule: ControlInterface.BrokenRule, _ sentence: String
  ) {
    let shown = text(endedSample(reason: reason, code: nil), rule: rule)
    #expect(shown.contains("\n  " + sentence + "\n"), "\(shown)")
  }

  @Test("The explanation shows throttling, and sockets that listen during a suspension")
  func found() {
    var application = sample()
    application.instance?.resources = .found(throttledPercent: 20)
    #expect(text(application).contains("The daemon throttles it to 20 % of one CPU"))
    application = sample(state: .suspended)
    application.instance?.resources = .found(listening: ["tcp 0.0.0.0:80"])
    #expect(
      text(application).contains(
        "It listened on tcp 0.0.0.0:80 at its last suspension. It accepts no connection there "
          + "until it resumes."))
  }

  @Test("§14: The explanation says that SIGKILL followed the signal that asked it to exit")
  func forced() {
    var ended = endedSample(reason: .terminatedByOperator, code: nil)
    ended.lastEnd?.stopSignal = "SIGINT"
    ended.lastEnd?.stopLimitUSec = 5_000_000
    let shown = text(ended)
    #expect(
      shown.contains(
        "It was terminated by an operator.\n  It did not exit within 5 s of SIGINT, and was sent "
          + "SIGKILL.\n"), "\(shown)")
  }

  @Test("The explanation and the status of 3,000 listening sockets name the first and the number")
  func manyListeners() {
    var application = sample(state: .suspended)
    application.instance?.resources = .found(
      listening: ["0.0.0.0:80", "@x"], listeningCount: 3000)
    #expect(text(application).contains("It listened on 0.0.0.0:80, @x and 2998 more addresses"))
  }

  @Test("The explanation says that not all descriptors of an application were examined")
  func incompleteLook() {
    var application = sample(state: .suspended)
    application.instance?.resources = .found(descriptorsExamined: false)
    #expect(text(application).contains("The daemon could not examine all of its descriptors"))
  }

  @Test("The explanation covers a debugger, a termination and an application that never ran")
  func others() {
    #expect(
      text(sample(), traced: true).contains("enforces no limit until the debugger detaches"))
    var ending = sample()
    ending.instance?.ending = .terminatedByOperator
    #expect(
      text(ending).contains(
        "The daemon is terminating it because an operator requested the termination."))
    var fresh = endedSample()
    fresh.lastEnd = nil
    fresh.stateSinceUSec = 0
    #expect(text(fresh).hasPrefix("org.example.news has never run.\n"))
  }

  @Test("Every entitlement and limit of the interface has words of its own")
  func words() {
    let lasts = Control.EndedEntitlementKind.allCases.map {
      text(sample(state: .suspended), last: .init(kind: $0, atUSec: 1))
    }
    #expect(Set(lasts).count == lasts.count)
    let limits = Control.LimitKind.allCases.map {
      text(sample(), limits: [.init(kind: $0, atUSec: 1)])
    }
    #expect(Set(limits).count == limits.count)
  }

  @Test("A name that an application chose is escaped for the terminal")
  func hostile() {
    var application = sample("org.\u{1b}]0;x\u{7}")
    application.instance?.tasks[0].name = "\u{1b}c"
    let shown = text(
      application, last: .init(kind: .task, task: 1, taskName: "\u{9b}2J", atUSec: 1))
    #expect(!shown.unicodeScalars.contains { !PrintableText.isPrintable($0) && $0 != "\n" })
  }
}

extension ControlInterface.Resources {
  /// Returns the result of the daemon's examination of an application. By default, the daemon has
  /// found nothing.
  fileprivate static func found(
    throttledPercent: Int? = nil, listening: [String] = [], listeningCount: Int? = nil,
    descriptorsExamined: Bool = true
  ) -> ControlInterface.Resources {
    .init(
      lowered: [], throttledPercent: throttledPercent, listening: listening,
      listeningCount: listeningCount ?? listening.count, descriptorsExamined: descriptorsExamined)
  }
}
