import TaskSchedulerCore

/// Describes wake-ups, and events that need no acknowledgement, for people.
enum WakeUpWords {
  static func words(_ notice: Notice) -> String {
    switch notice {
    case .socketsReady(_, let sockets): "receives \(ready(sockets))"
    case .systemChanges(let changes):
      "receives the change of \(changes.map(text).joined(separator: ", "))"
    case .notificationFired(let id): "receives its notification \(id.number)"
    case .notificationChosen(let id): "receives that its notification \(id.number) was chosen"
    case .memoryWarning: "receives a memory warning"
    }
  }

  static func words(_ change: Record.Change) -> String {
    switch change {
    case .keepAliveSet(let interval?): "set its keep-alive to every \(span(interval))"
    case .keepAliveSet(nil): "cleared its keep-alive"
    case .keepAliveCalled: "its keep-alive handler is called"
    case .socketManaged(let socket): "handed socket \(socket.number) over"
    case .socketReleased(let socket): "took socket \(socket.number) back"
    case .socketsReady(let sockets): "\(ready(sockets))"
    case .notificationScheduled(let id): "notification \(id.number) is scheduled"
    case .notificationsCancelled(let ids):
      "cancelled: notification \(ids.map { "\($0.number)" }.joined(separator: ", "))"
    case .notificationFired(let id): "notification \(id.number) fires"
    case .notificationChosen(let id): "notification \(id.number) is chosen"
    case .badgeSet(let badge): "its badge is \(badge)"
    case .relaunchPlanned(let delay, let awaitsMemory):
      "is relaunched in \(span(delay))"
        + (awaitsMemory ? ", or when memory pressure ends if that is later" : "")
    case .memoryWarned(let isSimulated):
      "was sent a memory warning\(isSimulated ? " (simulated)" : "")"
    case .memoryChosen(let choice):
      "was chosen for termination to free memory: \(ByteText.of(choice.chosen.size.dirty)) dirty"
        + (choice.runnersUp.first.map {
          ", then \($0.application.id.name) with \(ByteText.of($0.size.dirty))"
        } ?? ", the only one that is \(choice.chosen.state.rawValue)")
    case .resources(let record): words(record)
    case .transition, .registered, .taskBegan, .taskEnded, .taskExpired, .ended, .refused,
      .suspensionFailed, .signalFailed:
      ""
    }
  }

  private static func words(_ record: ResourceRecord) -> String {
    switch record {
    case .usedProcessor(let used, let window):
      "used \(span(used)) of CPU time within \(span(window))"
    case .usedGPU(let used): "used a GPU for \(span(used))"
    case .heldResource(let path): "holds a lock on \(PrintableText.of(path))"
    case .throttled(let percent?): "is throttled to \(percent) % of one CPU"
    case .throttled(nil): "is no longer throttled"
    case .listens(let listening):
      "listens on \(listening.addresses.map { PrintableText.of($0) }.joined(separator: ", "))"
    }
  }

  private static func span(_ duration: Duration) -> String {
    TaskSchedulerCore.TimeSpan.format(duration)
  }

  private static func ready(_ sockets: [SocketReadiness]) -> String {
    let names: [(SocketConditions, String)] = [
      (.data, "data"), (.urgentData, "urgent data"), (.hangUp, "hang-up"), (.error, "an error"),
      (.unwatched, "no longer watched"),
    ]
    return sockets.map { socket in
      let conditions = names.filter { socket.conditions.contains($0.0) }.map(\.1)
      return "socket \(socket.socket.number): \(conditions.joined(separator: " and "))"
    }.joined(separator: ", ")
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
