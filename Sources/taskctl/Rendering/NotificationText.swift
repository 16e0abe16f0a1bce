import TaskSchedulerWire

/// The output of `taskctl notifications`.
enum NotificationText {
  /// Returns one line for each notification, in the order given, with its owner.
  static func table(
    _ notifications: [ControlInterface.ApplicationNotification], _ context: RenderingContext
  ) -> String {
    var table = Table(columns: [
      Table.Column(title: "ID", isRightAligned: true), Table.Column(title: "APPLICATION"),
      Table.Column(title: "OWNER"), Table.Column(title: "STATE"), Table.Column(title: "FIRES"),
      Table.Column(title: "REPEATS"), Table.Column(title: "TITLE"),
    ])
    for one in notifications {
      let notification = one.notification
      table.append([
        Table.Cell("\(notification.id)"), Table.Cell(one.application),
        Table.Cell(context.userName(one.owner)), Table.Cell(notification.state.rawValue),
        Table.Cell(context.clock.moment(ofWall: notification.firesAtUSec)),
        Table.Cell(notification.schedule?.repeats.map { "every \($0.rawValue)" } ?? "-"),
        Table.Cell(notification.content.title),
      ])
    }
    return table.text(context.painter)
  }

  /// Returns everything about a notification, one labelled line for each fact.
  static func text(
    _ one: ControlInterface.ApplicationNotification, _ context: RenderingContext
  ) -> String {
    let notification = one.notification
    let content = notification.content
    var lines = StatusText.Lines(context.painter)
    lines.title(content.title, "notification \(notification.id)")
    let owner = context.userName(one.owner)
    lines.add("Application", PrintableText.of(one.application))
    lines.add("Owner", "\(PrintableText.of(owner)) (uid \(one.owner))")
    lines.add("State", notification.state.words)
    let fires = notification.state == .scheduled ? "Fires" : "Fired"
    lines.add(fires, context.clock.moment(ofWall: notification.firesAtUSec))
    if let schedule = notification.schedule {
      let repeats = schedule.repeats.map { ", every \($0.rawValue)" } ?? ", once"
      lines.add(
        "Schedule",
        "\(PrintableText.of(schedule.date)) in \(PrintableText.of(schedule.timeZone))\(repeats)")
    } else {
      lines.add("Schedule", "at once")
    }
    let body = content.body.map { $0.split(separator: "\n", omittingEmptySubsequences: false) }
    for (index, line) in (body ?? []).enumerated() {
      lines.add(index == 0 ? "Body" : "", PrintableText.of(String(line)))
    }
    if let sound = content.sound { lines.add("Sound", PrintableText.of(sound)) }
    if let badge = content.badge { lines.add("Badge", badge == 0 ? "removed" : "\(badge)") }
    if let data = content.userData { lines.add("User data", PrintableText.of(data)) }
    return lines.text
  }
}

extension ControlInterface.NotificationState {
  /// The state, in words for the user.
  fileprivate var words: String {
    switch self {
    case .scheduled: "scheduled"
    case .fired: "fired, not shown yet: no desktop has accepted it"
    case .presented: "presented"
    }
  }
}
