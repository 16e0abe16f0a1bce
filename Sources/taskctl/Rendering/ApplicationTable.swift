import TaskSchedulerWire

/// What the output depends on besides the daemon's reply: the clock, the colours and the names of
/// users.
struct RenderingContext: Sendable {
  var clock: ClockReading
  var painter: Painter
  /// Returns the name of a user, or the uid in digits for a user without a name.
  var userName: @Sendable (Int) -> String

  static func forStandardOutput() -> RenderingContext {
    RenderingContext(clock: .now(), painter: .forStandardOutput(), userName: UserName.of)
  }
}

/// The output of `taskctl list`.
enum ApplicationTable {
  /// Returns the table, followed by a summary line.
  static func list(_ selection: ApplicationSelection, _ context: RenderingContext) -> String {
    let table = selection.shown.isEmpty ? "" : text(selection.shown, context) + "\n"
    return table + footer(selection) + "\n"
  }

  /// Returns `3 applications (1 suspended). 4 more are not running; --all lists them.`
  private static func footer(_ selection: ApplicationSelection) -> String {
    let count = selection.shown.count
    let suspended = selection.shown.count { $0.state == .suspended }
    let shown = count == 0 ? "No applications" : StatusText.plural(count)
    let more = count == 0 ? "" : " more"
    let rest =
      switch selection.notRunning {
      case 0: ""
      case 1: " 1\(more) is not running; --all lists it."
      case let notRunning: " \(notRunning)\(more) are not running; --all lists them."
      }
    return shown + (suspended == 0 ? "" : " (\(suspended) suspended)") + "." + rest
  }

  /// Returns one line for each application, in the order given. The table has a column for the
  /// owner if the applications have several owners. It has columns for audio and for the location
  /// if an application uses them.
  static func text(
    _ applications: [ControlInterface.Application], _ context: RenderingContext,
    header: Bool = true
  ) -> String {
    let owner = OwnerColumn(applications.map(\.owner), context)
    let hasAudio = applications.contains { $0.instance?.audio.isEmpty == false }
    let hasLocation = applications.contains { !$0.location.isEmpty }
    let columns = [Table.Column(title: "APPLICATION")] + owner.columns + [
      Table.Column(title: "STATE"), Table.Column(title: "SINCE"),
      Table.Column(title: "PID", isRightAligned: true),
      Table.Column(title: "TASKS", isRightAligned: true), Table.Column(title: "REMAINING"),
      Table.Column(title: "ENTITLED BY"),
    ] + (hasAudio ? [Table.Column(title: "AUDIO")] : [])
      + (hasLocation ? [Table.Column(title: "LOCATION")] : [])
    var table = Table(columns: columns)
    for application in applications {
      let instance = application.instance
      let row = [Table.Cell(application.application)] + owner.cells(application.owner) + [
        Table.Cell(stateWords(application), Style(of: application.state)),
        Table.Cell(since(application, context.clock)),
        Table.Cell(instance.map { "\($0.pid)" } ?? "-"),
        Table.Cell(instance.map { "\($0.tasks.count)" } ?? "-"),
        Table.Cell(remaining(application)),
        Table.Cell(entitlement(application)),
      ] + (hasAudio ? [Table.Cell(audio(application))] : [])
        + (hasLocation ? [Table.Cell(location(application))] : [])
      table.append(row)
    }
    return table.text(context.painter, header: header)
  }

  /// Returns how long the application has been in its state; `-` if it has never run.
  private static func since(
    _ application: ControlInterface.Application, _ clock: ClockReading
  ) -> String {
    application.hasNeverRun
      ? "-" : TimeSpan.text(usec: clock.ageUSec(ofBoot: application.stateSinceUSec))
  }

  /// Returns the name of the state, followed by a change in progress in parentheses.
  static func stateWords(_ application: ControlInterface.Application) -> String {
    guard let instance = application.instance else {
      return application.state.rawValue + (application.unmanagedPID == nil ? "" : " (unmanaged)")
    }
    if instance.ending != nil { return "\(application.state.rawValue) (terminating)" }
    if instance.suspending { return "\(application.state.rawValue) (suspending)" }
    return application.state.rawValue
  }

  /// Returns the background time that is left.
  static func remaining(_ application: ControlInterface.Application) -> String {
    guard let instance = application.instance, application.state != .suspended else { return "-" }
    return instance.backgroundTimeRemainingUSec.map(TimeSpan.text(usec:)) ?? "unlimited"
  }

  /// Returns what the application does with audio, in words; `-` for nothing.
  static func audio(_ application: ControlInterface.Application) -> String {
    let words = application.instance?.audio.map(\.words) ?? []
    return words.isEmpty ? "-" : words.joined(separator: ", ")
  }

  /// Returns the location services that the application uses; `-` for none.
  static func location(_ application: ControlInterface.Application) -> String {
    if application.location.isEmpty { return "-" }
    let words = application.location.map(\.words).joined(separator: ", ")
    guard let authorization = application.locationAuthorization, authorization != .authorized else {
      return words
    }
    return "\(words) (\(authorization.words))"
  }

  /// Returns what entitles the application to run; `-` for nothing.
  static func entitlement(_ application: ControlInterface.Application) -> String {
    guard let instance = application.instance else { return "-" }
    switch application.state {
    case .active, .inactive: return "the foreground"
    case .notRunning, .background, .suspended:
      let words = instance.entitlements.map(\.words)
      return words.isEmpty ? "-" : words.joined(separator: ", ")
    }
  }
}

/// The output of `taskctl tasks`.
enum TaskTable {
  /// Returns one line for each outstanding background task: by application in the order given,
  /// then in the order in which the tasks began.
  static func text(
    _ applications: [ControlInterface.Application], _ context: RenderingContext
  ) -> String {
    let owner = OwnerColumn(applications.map(\.owner), context)
    let columns = [Table.Column(title: "APPLICATION")] + owner.columns + [
      Table.Column(title: "TASK", isRightAligned: true), Table.Column(title: "NAME"),
      Table.Column(title: "AGE"), Table.Column(title: "REMAINING"),
      Table.Column(title: "EXPIRED"),
    ]
    var table = Table(columns: columns)
    for application in applications {
      for task in application.instance?.tasks ?? [] {
        let age = context.clock.ageUSec(ofBoot: task.beganAtUSec)
        let row = [Table.Cell(application.application)] + owner.cells(application.owner) + [
          Table.Cell("\(task.id)"), Table.Cell(task.name ?? "-"),
          Table.Cell(TimeSpan.text(usec: age)), Table.Cell(ApplicationTable.remaining(application)),
          Table.Cell(task.expired ? "yes" : "no", task.expired ? .yellow : .plain),
        ]
        table.append(row)
      }
    }
    return table.text(context.painter)
  }
}

extension ControlInterface.Application {
  /// Whether the daemon has never seen an instance. In this case, the state has no start time.
  var hasNeverRun: Bool { state == .notRunning && lastEnd == nil }
}
