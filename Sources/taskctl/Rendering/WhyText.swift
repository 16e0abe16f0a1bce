import TaskSchedulerWire

/// The output of `taskctl why`: one paragraph for each question, one sentence for each fact.
enum WhyText {
  static func text(
    _ answer: ControlInterface.Explain.Output, _ context: RenderingContext
  ) -> String {
    let application = answer.application
    let name = context.painter.paint(PrintableText.of(application.application), .bold)
    var lines = [name + " " + state(application, context)]
    if let instance = application.instance {
      lines += self.lines(instance, of: application, answer.explanation, context)
    } else {
      lines += ended(application, context)
      lines += EndDetailText.lines(answer.explanation, context)
      lines += LocationUseText.launch(application)
    }
    lines += limits(answer.explanation, context)
    return lines.joined(separator: "\n  ") + "\n"
  }

  /// Returns the rest of the first line, after the name.
  private static func state(
    _ application: ControlInterface.Application, _ context: RenderingContext
  ) -> String {
    let words =
      switch application.state {
      case .notRunning:
        application.unmanagedPID == nil ? "has not run" : "has been unmanaged"
      case .inactive: "has been inactive"
      case .active: "has been active"
      case .background: "has run in the background"
      case .suspended: "has been suspended"
      }
    let style = Style(of: application.state)
    if application.hasNeverRun {
      let words = application.launchFailure == nil ? "has never run" : "is not running"
      return context.painter.paint(words, style) + "."
    }
    let since = context.clock.moment(ofBoot: application.stateSinceUSec)
    return "\(context.painter.paint(words, style)) since \(since)."
  }

  private static func ended(
    _ application: ControlInterface.Application, _ context: RenderingContext
  ) -> [String] {
    let failure = application.launchFailure.map { failure in
      "Its last launch failed, \(context.clock.moment(ofBoot: failure.atUSec)): "
        + PrintableText.of(failure.reason) + "."
    }
    if let pid = application.unmanagedPID {
      return [
        "taskschedd stopped and left process \(pid) running.",
        "The daemon enforces no limit for that process and does not suspend it.",
      ] + (failure.map { [$0] } ?? [])
    }
    let end = application.lastEnd.map { ["It \($0.words)."] + ($0.detail.map { [$0] } ?? []) }
    return (end ?? []) + (failure.map { [$0] } ?? [])
  }

  /// The causes after which an inactive application stays inactive. After any other cause, it
  /// becomes active when it acknowledges its callback.
  private static let causesOfInactivity: Set = [
    "call", "interruption", "locked", "otherActivated", "shown", "unfocused",
  ]

  private static func lines(
    _ instance: ControlInterface.Instance, of application: ControlInterface.Application,
    _ explanation: ControlInterface.Explanation, _ context: RenderingContext
  ) -> [String] {
    var lines: [String] = []
    if let other = instance.displacedBy {
      let effect = application.state == .inactive
        ? "made this application inactive" : "sent this application to the background"
      lines.append(
        "\(PrintableText.of(other)) became active at seat \(PrintableText.of(application.seat)), "
          + "so the daemon \(effect).")
    }
    if let cause = explanation.cause.flatMap({ CauseText.sentence($0, in: application.state) }),
      instance.displacedBy == nil || explanation.cause != "otherActivated" {
      lines.append(cause)
    }
    switch application.state {
    case .background: lines += entitlements(instance, explanation, context)
    case .suspended: lines += sleep(instance, of: application, explanation, context)
    case .active: lines.append("In the foreground it runs without a time limit.")
    case .inactive:
      let remainsInactive = explanation.cause.map(causesOfInactivity.contains) ?? false
      if !remainsInactive, instance.callbacksPending > 0, instance.ending == nil {
        lines.append("It becomes active when it acknowledges its callback.")
      }
      lines.append("In the foreground it runs without a time limit.")
    case .notRunning: break
    }
    if let ending = instance.ending {
      lines.append("The daemon is terminating it because \(ending.causeWords).")
      lines += EndDetailText.lines(explanation, context)
    }
    lines += audio(instance, in: application.state)
    lines += LocationUseText.use(application)
    if let resources = instance.resources { lines += rules(resources) }
    if explanation.traced {
      lines.append(
        "A debugger traces it. The daemon enforces no limit until the debugger detaches.")
    }
    return lines
  }

  /// Returns what entitles the application to run in the background, one sentence each.
  private static func entitlements(
    _ instance: ControlInterface.Instance, _ explanation: ControlInterface.Explanation,
    _ context: RenderingContext
  ) -> [String] {
    let tasks = instance.tasks.map { task in
      let age = TimeSpan.text(usec: context.clock.ageUSec(ofBoot: task.beganAtUSec))
      return "It may run for \(taskWords(task.id, name: task.name)), which began \(age) ago"
        + (task.expired ? "; the daemon has called its expiration handler." : ".")
    }
    let others = instance.entitlements.filter { $0 != .backgroundTask }
      .map { "It may run for \($0.words)." }
    if !instance.entitlements.isEmpty { return tasks + others }
    return [
      "Nothing entitles it to run" + last(explanation, context)
        + (instance.suspending ? " The daemon is stopping its processes." : "")
    ]
  }

  private static func sleep(
    _ instance: ControlInterface.Instance, of application: ControlInterface.Application,
    _ explanation: ControlInterface.Explanation, _ context: RenderingContext
  ) -> [String] {
    var wakers = ["the user or an operator brings it to the foreground"]
    if explanation.windows == .hidden { wakers.append("one of its windows is shown") }
    if instance.keepAlive != nil { wakers.append("its keep-alive handler is due") }
    if instance.managedSockets > 0 {
      let count = instance.managedSockets
      wakers.append(
        "data arrives on "
          + (count == 1 ? "its managed socket" : "one of its \(count) managed sockets"))
    }
    wakers += LocationUseText.events(application)
    if instance.audio.contains(.interrupted) {
      if instance.interruptedBy == nil {
        wakers.append("the phone call ends")
      } else if instance.aware {
        wakers.append("the interruption of its audio ends")
      }
    }
    var lines = explanation.windows == .hidden ? ["Its windows are hidden."] : []
    lines.append("Nothing entitled it to run any longer" + last(explanation, context))
    if instance.audio.contains(.muted), !application.backgroundModes.contains("audio") {
      lines.append(
        "What it plays does not entitle it to run, because it does not have the mode audio.")
    }
    lines.append("It resumes when \(wakers.joined(separator: ", or when ")).")
    if instance.heldChanges > 0 {
      lines.append("It will then receive \(StatusText.changes(instance.heldChanges)).")
    }
    return lines
  }

  /// Returns the words that complete the sentence "Nothing entitles it to run": when and how the
  /// last entitlement ended.
  private static func last(
    _ explanation: ControlInterface.Explanation, _ context: RenderingContext
  ) -> String {
    guard let last = explanation.lastEntitlement else { return "." }
    let age = TimeSpan.text(usec: context.clock.ageUSec(ofBoot: last.atUSec))
    let words =
      switch last.kind {
      case .task:
        "it ended its last task"
          + (last.task.map { ", " + taskWords($0, name: last.taskName) + "," } ?? "")
      case .callback: "it acknowledged \(last.callback?.rawValue ?? "its last callback")"
      case .audio: "its audio stopped"
      case .silence: "it had played only silence for AudioSilenceTime"
      case .audioLost: "the session agent stopped reporting its audio"
      case .location: "its location updates ended"
      case .event: "it finished handling the event that woke it,"
      case .eventTime: "its time to handle the event that woke it ended"
      case .launchTime: "its time to open an event stream after its launch ended"
      }
    return ": \(words) \(age) ago."
  }

  /// Returns what the application does with audio, one sentence each.
  private static func audio(
    _ instance: ControlInterface.Instance, in state: ControlInterface.State
  ) -> [String] {
    let interrupter = instance.interruptedBy.map { PrintableText.of($0) }
    let ducker = instance.duckedBy.map { PrintableText.of($0) }
    let isInterruption = instance.audio.contains(.interrupted) && state != .suspended
    let interruption = interrupter == nil ? "the phone call ends" : "the interruption ends"
    let muteEnds = isInterruption ? interruption : "it resumes"
    return instance.audio.map { use in
      switch use {
      case .playing: "It plays audio."
      case .recording: "It records audio."
      case .muted: "The daemon has muted its audio until \(muteEnds)."
      case .ducked:
        "The daemon has lowered its volume while \(ducker ?? "another application") plays."
      case .interrupted: "\(interrupter ?? "A phone call") interrupts its audio."
      case .calling: "It has a phone call."
      case .onHold: "The phone call is on hold because of a newer one."
      }
    }
  }

  /// Returns the findings of the background resource rules.
  private static func rules(_ resources: ControlInterface.Resources) -> [String] {
    var lines: [String] = []
    if let percent = resources.throttledPercent {
      lines.append(
        "The daemon throttles it to \(percent) % of one CPU, because it used too much CPU time in "
          + "the background.")
    }
    if !resources.listening.isEmpty {
      let addresses = StatusText.listening(resources)
      lines.append(
        "It listened on \(addresses) at its last suspension. It accepts no connection there until "
          + "it resumes.")
    }
    if !resources.descriptorsExamined {
      lines.append(
        "The daemon could not examine all of its descriptors at its last suspension. It may hold "
          + "locks or listen on sockets that the daemon does not know.")
    }
    return lines
  }

  // MARK: What comes next

  private static func limits(
    _ explanation: ControlInterface.Explanation, _ context: RenderingContext
  ) -> [String] {
    guard !explanation.limits.isEmpty else {
      return ["Next: nothing is scheduled."]
    }
    return explanation.limits.enumerated().map { index, limit in
      let wait = context.clock.wait(untilBoot: limit.atUSec)
      return "\(index == 0 ? "Next" : "Then"), \(wait): \(words(limit))."
    }
  }

  private static func words(_ limit: ControlInterface.Limit) -> String {
    switch limit.kind {
    case .callback:
      "the daemon kills it unless it has acknowledged \(limit.callback?.rawValue ?? "a callback")"
    case .expiration: "the daemon calls the expiration handlers of its background tasks"
    case .backgroundTime:
      "its background time ends; the daemon kills it if a background task is outstanding"
    case .launch: "the daemon suspends it unless it has opened its event stream"
    case .event:
      "its time for the event ends; the daemon suspends it unless something else entitles it to run"
    case .suspension: "the daemon tries again to stop its processes"
    case .kill: "the daemon sends SIGKILL unless it has exited"
    case .killRetry: "the daemon tries again to send SIGKILL to its processes"
    case .keepAlive: "the daemon calls its keep-alive handler"
    case .relaunch: "the daemon relaunches it"
    case .relaunchAfterPressure:
      "its relaunch is due, but the daemon waits until memory pressure ends, because it "
        + "terminated the application to free memory"
    case .unfocused: "the daemon makes it inactive unless its window gets the focus again"
    case .hidden: "the daemon sends it to the background unless its window is shown again"
    case .audio:
      "its audio no longer entitles it to run; the daemon suspends it unless something else "
        + "entitles it to run"
    case .mute: "the daemon suspends it even if its audio is not muted"
    }
  }
}

/// The sentences about the cause of the current state.
private enum CauseText {
  /// Returns the sentence for a cause; nil for a cause that only a newer daemon knows.
  static func sentence(_ cause: String, in state: ControlInterface.State) -> String? {
    let isInForeground = state == .active || state == .inactive
    return switch cause {
    case "launch": "taskschedd launched it."
    case "register": "It was started without taskschedd and opened its event stream."
    case "adopt": "taskschedd began to manage it."
    case "activate": "The user or an operator brought it to the foreground."
    case "interruption": "It was interrupted, or lost the focus but stayed visible."
    case "sendAway": "The user or an operator sent it to the background."
    case "otherActivated": "Another application was brought to the foreground at its seat."
    case "event": "The daemon resumed it for an event that it must handle."
    case "suspensionLost":
      "Another program resumed its processes, or taskschedd could not stop them again after its "
        + "own restart."
    case "focused": "Its window has the keyboard focus."
    case "shown": "Its window is visible, without the keyboard focus."
    case "unfocused": "Its window lost the keyboard focus."
    case "hidden": "Its windows have been hidden for HiddenGraceTime."
    case "closed":
      "All of its windows were closed while it was suspended. It may run for EventTime, "
        + "so that it can exit."
    case "locked": "The screen was locked."
    case "unlocked": "The screen was unlocked."
    case "audio": "The daemon resumed it because it plays or records audio."
    case "remoteControl": "The daemon resumed it to handle a media command."
    case "remoteRead": "The daemon resumed it because a program reads its media player."
    case "location": "The daemon resumed it to tell it about a change of the location."
    case "call":
      isInForeground
        ? "A phone call interrupted it." : "The daemon resumed it to tell it about a phone call."
    case "callEnded":
      isInForeground
        ? "The phone call that interrupted it ended."
        : "The daemon resumed it because a phone call ended."
    case _: nil
    }
  }
}
