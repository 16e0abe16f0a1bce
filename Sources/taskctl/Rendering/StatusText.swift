import TaskSchedulerWire

/// The output of `taskctl status`.
enum StatusText {
  /// Returns everything about one application, one labelled line for each fact.
  static func text(
    _ application: ControlInterface.Application, _ context: RenderingContext
  ) -> String {
    let state = context.painter.paint(
      ApplicationTable.stateWords(application), Style(of: application.state))
    let since = context.clock.moment(ofBoot: application.stateSinceUSec)
    var lines = Lines(context.painter)
    lines.title(application.application, application.displayName)
    lines.add("State", application.hasNeverRun ? "\(state), never run" : "\(state) since \(since)")
    if let problem = application.problem { lines.add("Problem", PrintableText.of(problem)) }
    if let instance = application.instance { add(instance, of: application, context, to: &lines) }
    let owner = context.userName(application.owner)
    lines.add("Owner", "\(PrintableText.of(owner)) (uid \(application.owner))")
    if !application.seat.isEmpty { lines.add("Seat", PrintableText.of(application.seat)) }
    if let other = application.instance?.displacedBy {
      lines.add("Displaced by", "\(PrintableText.of(other)), activated at the same seat")
    }
    let modes = application.backgroundModes.map(PrintableText.of).joined(separator: ", ")
    lines.add("Modes", modes.isEmpty ? "none declared" : modes)
    if !application.multitasking {
      lines.add(
        "Multitasking",
        "no, by its manifest: the daemon terminates the application instead of sending it to "
          + "the background")
    }
    lines.add(
      "Launchable",
      application.launchable ? "yes, by its manifest" : "no manifest says how to launch it")
    let position = application.switcherPosition
    lines.add("Switcher", position.map { "number \($0)" } ?? "not listed")
    if let end = application.lastEnd {
      lines.add("Last end", "it \(end.words), \(context.clock.moment(ofBoot: end.atUSec))")
    }
    if let pid = application.unmanagedPID {
      lines.add("Unmanaged", "process \(pid) has run without management since taskschedd stopped")
    }
    if let failure = application.launchFailure {
      let moment = context.clock.moment(ofBoot: failure.atUSec)
      lines.add("Last launch", "failed, \(moment): \(PrintableText.of(failure.reason))")
    }
    if let next = application.nextLaunch { lines.add("Next launch", words(next, context)) }
    if !application.location.isEmpty {
      lines.add("Location", ApplicationTable.location(application))
    }
    if application.scheduledNotifications > 0 {
      lines.add("Notifications", "\(application.scheduledNotifications) scheduled")
    }
    if let badge = application.badge, badge != 0 { lines.add("Badge", "\(badge)") }
    return lines.text
  }

  /// Returns the time of the next launch, and the condition that it waits for.
  private static func words(
    _ next: ControlInterface.NextLaunch, _ context: RenderingContext
  ) -> String {
    let delay = TimeSpan.text(usec: next.delayUSec)
    let wait = context.clock.wait(untilBoot: next.atUSec)
    guard next.awaitsMemory else { return "\(wait); the relaunch delay is \(delay)" }
    return "when memory pressure ends (the daemon terminated the application to free memory)"
      + (wait == "now" ? "" : ", but at the earliest \(wait); the relaunch delay is \(delay)")
  }

  private static func add(
    _ instance: ControlInterface.Instance, of application: ControlInterface.Application,
    _ context: RenderingContext, to lines: inout Lines
  ) {
    if let ending = instance.ending {
      lines.add("Ending", "the daemon is terminating it because \(ending.causeWords)")
    }
    let entitlement = ApplicationTable.entitlement(application)
    lines.add("Entitled by", entitlement == "-" ? "nothing" : entitlement)
    if application.state != .suspended {
      let remaining = instance.backgroundTimeRemainingUSec.map(TimeSpan.text(usec:))
      lines.add("Remaining", remaining.map { "\($0) of background time" } ?? "unlimited")
    }
    let awareness =
      instance.aware
      ? "has opened its event stream" : "has no event stream, so it receives no callbacks"
    lines.add("Process", "pid \(instance.pid), \(awareness)")
    if let unit = instance.unit { lines.add("Unit", PrintableText.of(unit)) }
    let started = context.clock.moment(ofBoot: instance.startedAtUSec)
    lines.add("Started", "\(instance.launchReason.words), \(started)")
    let callbacks = instance.callbacksPending
    lines.add("Callbacks", callbacks == 0 ? "none pending" : "\(callbacks) not acknowledged yet")
    if instance.tasks.isEmpty { lines.add("Tasks", "none") }
    for (index, task) in instance.tasks.enumerated() {
      let name = task.name.map { " '\(PrintableText.of($0))'" } ?? ""
      let age = TimeSpan.text(usec: context.clock.ageUSec(ofBoot: task.beganAtUSec))
      let expired = task.expired ? ", expired: the daemon called its expiration handler" : ""
      lines.add(index == 0 ? "Tasks" : "", "\(task.id)\(name), began \(age) ago\(expired)")
    }
    if !instance.audio.isEmpty { lines.add("Audio", audio(instance)) }
    addWakeUps(of: instance, context, to: &lines)
  }

  /// Returns what the application does with audio, and the application that interrupts it or lowers
  /// its volume.
  private static func audio(_ instance: ControlInterface.Instance) -> String {
    instance.audio.map { use in
      switch use {
      case .playing, .recording, .muted, .calling, .onHold: use.words
      case .ducked: use.words + by(instance.duckedBy)
      case .interrupted: use.words + by(instance.interruptedBy ?? "a phone call")
      }
    }.joined(separator: ", ")
  }

  private static func by(_ application: String?) -> String {
    application.map { " by \(PrintableText.of($0))" } ?? ""
  }

  /// Adds the events that can resume the application, and the system changes that it receives when
  /// it is resumed.
  private static func addWakeUps(
    of instance: ControlInterface.Instance, _ context: RenderingContext, to lines: inout Lines
  ) {
    if let keepAlive = instance.keepAlive {
      let interval = TimeSpan.text(usec: keepAlive.intervalUSec)
      let last = keepAlive.lastRunUSec.map { last in
        "last call \(TimeSpan.text(usec: context.clock.ageUSec(ofBoot: last))) ago"
      } ?? "not called yet"
      lines.add(
        "Keep-alive",
        "every \(interval); \(last); next call"
          + " \(context.clock.wait(untilBoot: keepAlive.plannedUSec)), at the latest"
          + " \(context.clock.wait(untilBoot: keepAlive.deadlineUSec))")
    }
    if instance.managedSockets > 0 {
      lines.add("Sockets", "\(instance.managedSockets) managed")
    }
    if instance.heldChanges > 0 {
      let verb = instance.heldChanges == 1 ? "waits" : "wait"
      lines.add("Changes", "\(changes(instance.heldChanges)) \(verb) until it resumes")
    }
    if let resources = instance.resources { add(resources, to: &lines) }
  }

  /// Adds the effects of the background resource rules.
  private static func add(_ resources: ControlInterface.Resources, to lines: inout Lines) {
    for (index, words) in resources.lowered.enumerated() {
      lines.add(index == 0 ? "Priorities" : "", PrintableText.of(words))
    }
    if let percent = resources.throttledPercent {
      lines.add("Throttled", "to \(percent) % of one CPU")
    }
    if !resources.listening.isEmpty {
      lines.add("Listened on", "\(listening(resources)) (at its last suspension)")
      lines.add("", "An application should close its listening sockets before it is suspended.")
    }
    if !resources.descriptorsExamined {
      lines.add(
        "Descriptors",
        "the daemon could not examine all of them; the application may hold locks or listen on "
          + "sockets that the daemon does not know")
    }
  }

  /// Returns the first addresses on which the application listened, and the number of further
  /// addresses.
  static func listening(_ resources: ControlInterface.Resources) -> String {
    let addresses = resources.listening.map { PrintableText.of($0) }.joined(separator: ", ")
    let rest = resources.listeningCount - resources.listening.count
    return rest > 0 ? "\(addresses) and \(rest) more addresses" : addresses
  }

  /// Returns the summary of the daemon.
  static func summary(
    _ answer: ControlInterface.ListApplications.Output,
    _ sessions: [ControlInterface.LoginSession], path: String, _ context: RenderingContext
  ) -> String {
    let applications = answer.applications
    var lines = Lines(context.painter)
    lines.title("taskschedd", "at \(path)")
    let states = ControlInterface.State.allCases.reversed().compactMap { state -> String? in
      let count = applications.count { $0.state == state }
      return count == 0 ? nil : "\(count) \(state.rawValue)"
    }
    let count = applications.count
    let known = "\(count) known" + (states.isEmpty ? "" : ": \(states.joined(separator: ", "))")
    lines.add("Applications", known)
    let tasks = applications.map { $0.instance?.tasks.count ?? 0 }
    let holders = tasks.count { $0 > 0 }
    let total = tasks.reduce(0, +)
    lines.add(
      "Tasks", total == 0 ? "none outstanding" : "\(total) outstanding, of \(plural(holders))")
    let front = applications.filter { $0.state == .active || $0.state == .inactive }
    for (index, application) in front.enumerated() {
      let seat = PrintableText.of(application.seat)
      let name = context.painter.paint(PrintableText.of(application.application), .green)
      let state = application.state == .active ? "" : ", inactive"
      lines.add(index == 0 ? "Foreground" : "", "\(name) at \(seat)\(state)")
    }
    if front.isEmpty { lines.add("Foreground", "none") }
    for (index, session) in sessions.enumerated() {
      lines.add(index == 0 ? "Sessions" : "", text(session))
    }
    lines.add("Session agent", sessionAgents(answer.sessionAgents))
    return lines.text
  }

  /// Returns the users whose session agents report which windows are visible.
  private static func sessionAgents(_ users: [Int]) -> String {
    guard !users.isEmpty else {
      return "none, so the focus of windows does not change the states of applications"
    }
    return "attached for " + users.map { "user \($0)" }.joined(separator: ", ")
  }

  /// Returns `user-1000 is session 2 (wayland) at seat0, locked`.
  private static func text(_ session: ControlInterface.LoginSession) -> String {
    var text = "\(PrintableText.of(session.seat)) is session \(PrintableText.of(session.session))"
    text += " (\(PrintableText.of(session.type)))"
    if let seat = session.loginSeat { text += " at \(PrintableText.of(seat))" }
    if session.locked { text += ", locked" }
    if !session.active { text += ", not on the screen" }
    return text
  }

  /// Returns `3 applications`.
  static func plural(_ applications: Int) -> String {
    applications == 1 ? "1 application" : "\(applications) applications"
  }

  /// Returns `3 system changes`.
  static func changes(_ count: Int) -> String {
    count == 1 ? "1 system change" : "\(count) system changes"
  }

  /// Lines with labels right-aligned before a colon, as in the output of systemctl status.
  struct Lines {
    private let painter: Painter
    private(set) var text = ""

    init(_ painter: Painter) { self.painter = painter }

    mutating func title(_ name: String, _ more: String?) {
      text += painter.paint(PrintableText.of(name), .bold)
      text += more.map { " - \(PrintableText.of($0))" } ?? ""
      text += "\n"
    }

    mutating func add(_ label: String, _ words: String) {
      let padding = String(repeating: " ", count: max(0, 13 - label.count))
      text += "\(padding)\(label)\(label.isEmpty ? " " : ":") \(words)\n"
    }
  }
}
