import TaskSchedulerCore

/// Describes, for users, the messages that applications receive, except callbacks.
enum NoticeText {
  static func words(_ notice: Notice) -> String {
    switch notice {
    case .socketsReady(_, let sockets): "receives \(sockets.map(\.words).joined(separator: ", "))"
    case .systemChanges(let changes):
      "receives the change of \(changes.map(text).joined(separator: ", "))"
    case .notificationFired(let id): "receives its notification \(id.number)"
    case .notificationChosen(let id): "is told that the user chose its notification \(id.number)"
    case .memoryWarning: "receives a memory warning"
    case .remoteControl(_, let command): "receives the command \(command.name)"
    case .audioInterruption(_, .began): "is told that its audio is interrupted"
    case .audioInterruption(_, .ended): "is told that its audio is no longer interrupted"
    case .call(_, let isOnHold):
      "is told that its phone call is \(isOnHold ? "on hold" : "no longer on hold")"
    case .location: "receives a location"
    case .significantChange: "is told that the location has changed"
    case .region(_, let crossing, _):
      "is told that the machine has \(crossing.isInside ? "entered" : "left") region "
        + "'\(PrintableText.of(crossing.region.name))'"
    case .locationAuthorization(.notDetermined):
      "is told that it is not determined whether it may learn the location"
    case .locationAuthorization(.denied): "is told that it may not learn the location"
    case .locationAuthorization(.authorized): "is told that it may learn the location"
    }
  }

  private static func text(_ change: SystemChange) -> String {
    let kind =
      switch change.kind {
      case .timeZone: "the time zone"
      case .clock: "the clock"
      case .day: "the day"
      case .locale: "the locale"
      case .network: "the network"
      case .powerSource: "the power source"
      case .custom(let name): PrintableText.of(name)
      }
    return kind + (change.value.map { " (\(PrintableText.of($0)))" } ?? "")
  }
}
