import TaskSchedulerCore

/// Describes events that belong to no single instance.
enum EventLogText {
  /// Describes a stream of an audio server.
  static func text(_ stream: AudioStream) -> String {
    let use =
      switch (stream.direction, stream.isRunning) {
      case (.playback, true): "plays"
      case (.recording, true): "records"
      case (_, false): "is paused"
      }
    let role = stream.role == .other ? "" : ", role \(stream.role.rawValue)"
    return use + role + (stream.isMuted ? ", muted" : "")
  }

  /// Describes an audio session, such as `playback, ducks others`.
  static func text(_ session: AudioSession) -> String {
    session.category.rawValue + (session.mixesWithOthers ? ", mixes with others" : "")
      + (session.ducksOthers ? ", ducks others" : "")
  }

  /// Describes a command to a media player, such as `seek 10s`.
  static func text(_ command: RemoteCommand) -> String {
    if case .seek(let offset) = command { "seek \(TimeSpan.format(offset))" } else { command.name }
  }

  /// Describes an event. Returns nil if the timeline shows the event only by its effects.
  static func step(_ event: NotificationEvent) -> String? {
    switch event {
    case .schedule(_, let key, let draft, _):
      let when = draft.schedule.map { " for \($0.date) \($0.timeZone)" } ?? ""
      return "notify \(key.id.name)\(when)"
    case .storeFailed(let id, let reason):
      return "transaction \(id.number) was not stored: \(reason)"
    case .cancel(_, let key, let id, _):
      return "cancel \(key.id.name) \(id.map { "notification \($0.number)" } ?? "all")"
    case .chosen(let id, let key): return "choose \(key.id.name) notification \(id.number)"
    case .setBadge(_, let key, let badge): return "badge \(key.id.name) \(badge)"
    case .loaded(let notifications, _): return "\(notifications.count) notifications were read"
    case .stored, .nextFound: return nil
    }
  }

  /// Describes an event.
  static func step(_ event: MemoryEvent) -> String? {
    switch event {
    case .pressed(let pressure):
      let whose = pressure.source == .slice ? "of the daemon's slice" : "of the machine"
      return "memory-pressure \(whose), \(percent(pressure.memory)) available"
    case .read(let reading): return "memory was read, \(percent(reading)) available"
    case .measured(let sizes): return "\(sizes.count) applications were measured"
    case .reclaimed(let id, let reading):
      return "the memory of instance \(id.number) is free, \(percent(reading)) available"
    case .warn(_, let key, _): return "warn-memory" + (key.map { " \($0.id.name)" } ?? "")
    }
  }

  /// Describes an event. Returns nil if the timeline shows the event only by its effects.
  ///
  /// - Parameter name: Returns the name of the application of an instance.
  static func step(_ event: LocationEvent, _ name: (InstanceID) -> String) -> String? {
    switch event {
    case .startUpdates(_, let id, let wish):
      let filter = wish.distanceFilter.map { ", each \(Int($0)) m" } ?? ""
      return "start \(name(id)) location \(wish.desiredAccuracy.rawValue)\(filter)"
    case .stopUpdates(_, let id): return "stop \(name(id)) location"
    case .monitorSignificantChanges(_, let id): return "start \(name(id)) significant-changes"
    case .stopMonitoringSignificantChanges(_, let id):
      return "stop \(name(id)) significant-changes"
    case .startMonitoring(_, let id, let region): return "monitor \(name(id)) \(region.id.name)"
    case .stopMonitoring(_, let id, let region): return "forget \(name(id)) \(region.name)"
    case .requestAuthorization(_, let id): return "\(name(id)) asks whether it may use the location"
    case .authorize(let request, let key, let decision):
      let origin = request == nil ? " by the user" : ""
      return "location of \(key.id.name): \(decision.rawValue)\(origin)"
    case .forget(_, let key): return "forget the location of \(key.id.name)"
    case .rulesChanged: return "the settings of the location were read"
    case .sourceChanged(let source, let isAvailable):
      return "\(text(source)) is \(isAvailable ? "available" : "not available")"
    case .located(let source, _): return "\(text(source)) reported a location"
    case .posted: return "an operator posted a location"
    case .moved: return "the cell or the access point changed"
    case .storeFailed(let id, let reason):
      return "transaction \(id.number) of the location services was not stored: \(reason)"
    case .loaded(let stored):
      return "the location services of \(stored.count) applications were read"
    case .stored: return nil
    }
  }

  private static func text(_ source: LocationSource) -> String {
    switch source {
    case .gpsd: "gpsd"
    case .geoClue(let user): "GeoClue of user \(user.uid)"
    case .cell: "the modem's cell"
    case .accessPoint: "the access point"
    }
  }

  private static func percent(_ reading: MemoryReading) -> String {
    reading.total == 0 ? "0%" : "\(Int(Double(reading.available) / Double(reading.total) * 100))%"
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
