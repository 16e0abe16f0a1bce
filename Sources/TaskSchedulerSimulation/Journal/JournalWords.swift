import TaskSchedulerCore

/// Events of no one instance in the words of a scenario.
enum JournalWords {
  /// nil for what the timeline shows by what came of it.
  static func step(_ event: NotificationEvent) -> String? {
    switch event {
    case .schedule(_, let key, let draft):
      let when = draft.schedule.map { " for \($0.date) \($0.timeZone)" } ?? ""
      return "notify \(key.id.name)\(when)"
    case .notStored(let id, let reason): return "notification \(id.number) not stored: \(reason)"
    case .cancel(_, let key, let id, _):
      return "cancel \(key.id.name) \(id.map { "notification \($0.number)" } ?? "all")"
    case .chosen(let id, let key): return "choose \(key.id.name) notification \(id.number)"
    case .setBadge(_, let key, let badge): return "badge \(key.id.name) \(badge)"
    case .loaded(let notifications, _): return "\(notifications.count) notifications were read"
    case .stored, .nextFound: return nil
    }
  }

  static func text(_ change: SystemChange) -> String {
    let kind =
      switch change.kind {
      case .timeZone: "time-zone"
      case .clock: "clock"
      case .day: "day"
      case .locale: "locale"
      case .network: "network"
      case .powerSource: "power-source"
      case .custom(let name): "custom:\(name)"
      }
    return kind + (change.value.map { " \($0)" } ?? "")
  }
}
