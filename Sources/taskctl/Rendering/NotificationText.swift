import TaskSchedulerWire

/// `taskctl notifications`.
enum NotificationText {
  /// One line for each notification, in the order given.
  static func table(
    _ notifications: [ControlInterface.ApplicationNotification], _ context: RenderingContext
  ) -> String {
    let showsOwner = Set(notifications.map(\.owner)).count > 1
    var columns = [
      Table.Column(title: "ID", isRightAligned: true), Table.Column(title: "APPLICATION"),
    ]
    if showsOwner { columns.append(Table.Column(title: "OWNER")) }
    columns += [
      Table.Column(title: "STATE"), Table.Column(title: "FIRES"), Table.Column(title: "REPEATS"),
      Table.Column(title: "TITLE"),
    ]
    var table = Table(columns: columns)
    for one in notifications {
      let notification = one.notification
      var row = [Table.Cell("\(notification.id)"), Table.Cell(one.application)]
      if showsOwner { row.append(Table.Cell(context.userName(one.owner))) }
      row += [
        Table.Cell(notification.state.rawValue),
        Table.Cell(context.clock.moment(ofWall: notification.firesAtUSec)),
        Table.Cell(notification.schedule?.repeats.map { "every \($0.rawValue)" } ?? "-"),
        Table.Cell(notification.content.title),
      ]
      table.append(row)
    }
    return table.text(context.painter)
  }

  /// Everything about one, a labelled line for each fact.
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
  /// What it means for the user.
  fileprivate var words: String {
    switch self {
    case .scheduled: "scheduled"
    case .fired: "fired, and not shown yet: no desktop has taken it"
    case .presented: "presented"
    }
  }
}
