import TaskSchedulerCore

/// Checks the requests about the location (contract.md#location). Each request receives the right
/// reply or refusal. If the request requires a change to be stored, the reply comes after the
/// change is stored. The user is asked about an application exactly once.
struct LocationRequestChecker: Checker {
  static let name = "location requests"

  private var replies: [(request: RequestID, reply: Reply)] = []
  private var changes: [ObservedLocations.Change] = []
  private var questions: [ObservedLocations.Question] = []

  mutating func before(_ event: Event, _ observed: ObservedState) throws(Finding) {
    replies = []
    changes = []
    questions = []
  }

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    switch effect {
    case .reply(let request, let reply):
      if case .location = observed.event { replies.append((request, reply)) }
    case .location(.store(let id, let key, let change)): try store(id, key, change, observed)
    case .location(.ask(let key, let isShown)):
      questions.append(.init(application: key, isShown: isShown))
    case .notify(let id, .region(let callback, let crossing, _)):
      // An event that reports a crossing to an application for the first time must also store it.
      guard let instance = observed[id],
        !instance.handledEvents.contains(where: { $0.id == callback })
      else { return }
      let change = ObservedLocations.Change(
        application: instance.key, change: .report(crossing))
      guard let index = changes.firstIndex(of: change) else {
        return try require(
          false, "\(instance.name) is told a crossing that is not stored: \(crossing)")
      }
      changes.remove(at: index)
    case .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage, .suspend,
      .resume, .terminate, .kill, .release, .checkTracer, .record, .resources, .dropPicture,
      .audio, .remote, .location(.need):
      break
    }
  }

  private mutating func store(
    _ id: TransactionID, _ key: ApplicationKey, _ change: LocationChange,
    _ observed: ObservedState
  ) throws(Finding) {
    if case .scheduler(.recovered) = observed.event, id.number <= observed.location.transactionLast
    {
      let pending = observed.location.pending[id]
      return try require(
        pending?.application == key && pending?.change == change,
        "change \(id.number) of the location is repeated, but is not outstanding")
    }
    try require(
      id.number > observed.location.transactionLast,
      "the id of change \(id.number) of the location is reused")
    changes.append(.init(application: key, change: change))
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    for expected in observed.location.changes {
      guard let index = changes.firstIndex(of: expected) else {
        return try require(
          false, "a change of \(expected.application.id.name) is not stored: \(expected.change)")
      }
      changes.remove(at: index)
    }
    try require(
      changes.isEmpty,
      "a change of \(changes.first?.application.id.name ?? "") is stored without need: "
        + "\(changes.map(\.change))")
    for question in Set(questions + observed.location.questions) {
      let count = questions.count { $0 == question }
      let expected = observed.location.questions.count { $0 == question }
      try require(
        count == expected,
        "the question about \(question.application.id.name) is "
          + "\(question.isShown ? "shown" : "removed") \(count) times instead of \(expected)")
    }
    if case .location(let event) = observed.event { try checkReply(to: event, observed) }
  }

  private func checkReply(
    to event: LocationEvent, _ observed: ObservedState
  ) throws(Finding) {
    if observed.location.isReplyUnsure {
      return try require(
        replies.allSatisfy {
          if case .refused(.unknownApplication) = $0.reply { return true }
          return if case .refused(.quotaExceeded) = $0.reply { true } else { false }
        }, "\(event) has the wrong reply \(replies.map(\.reply))")
    }
    guard let (request, reply) = observed.location.reply else {
      return try require(
        replies.isEmpty,
        "\(event) has the reply \(replies.map(\.reply)) before its change is stored")
    }
    try require(
      replies.count == 1 && replies[0].request == request && replies[0].reply == reply,
      "\(event) has the reply \(replies.map(\.reply)), not \(reply)")
  }

  func checkFinalState(_ observed: ObservedState) throws(Finding) {
    let forgotten = observed.location.pending.keys.map(\.number).min()
    try require(
      forgotten == nil,
      "change \(forgotten ?? 0) of the location is neither stored nor refused")
  }
}

/// Checks what applications are told about the location (contract.md#location). An application is
/// told exactly the updates, crossings and significant changes that follow from the locations: each
/// of them once, in order, and only while the application may learn the location. Only crossings
/// and significant changes resume or launch an application.
struct LocationReportChecker: Checker {
  static let name = "location reports"

  private var messages: [ObservedLocations.Message] = []
  private var told: Set<InstanceID> = []
  private var woken: [InstanceID] = []

  mutating func before(_ event: Event, _ observed: ObservedState) throws(Finding) {
    messages = []
    told = []
    woken = []
  }

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    switch effect {
    case .notify(let id, let notice): try see(notice, id, observed)
    case .record(let record):
      guard case .transition(.suspended, _, .location) = record.change,
        let instance = observed.byKey[record.application]
      else { return }
      woken.append(instance.id)
    case .spawn(_, let key, .location): try spawn(key, observed)
    case .reply(_, .registered(let registration)):
      let region = observed.location.launchRegions[registration.instance]
      try require(
        registration.launchRegion == region,
        "\(registration.application.name) is launched with the region "
          + "\(registration.launchRegion?.name ?? "none"), not \(region?.name ?? "none")")
    case .reply, .deliver, .expire, .socket, .notification, .memory, .spawn, .manage, .suspend,
      .resume, .terminate, .kill, .release, .checkTracer, .resources, .dropPicture, .audio,
      .remote, .location:
      break
    }
  }

  private mutating func see(
    _ notice: Notice, _ id: InstanceID, _ observed: ObservedState
  ) throws(Finding) {
    switch notice {
    case .location(let location): messages.append(.init(instance: id, location: location))
    case .locationAuthorization(let authorization):
      guard let instance = observed[id] else { return }
      try require(
        instance.heldAuthorization == authorization,
        "\(instance.name) is told the authorization \(authorization), but must be told "
          + "\(instance.heldAuthorization?.rawValue ?? "none")")
    case .region(let callback, let crossing, let location):
      try tell(.crossing(crossing, location), callback, id, observed)
    case .significantChange(let callback, let location):
      try tell(.change(location), callback, id, observed)
    case .socketsReady, .systemChanges, .notificationFired, .notificationChosen, .memoryWarning,
      .remoteControl, .audioInterruption, .call:
      break
    }
  }

  private mutating func tell(
    _ report: ObservedLocationUse.Report, _ callback: CallbackID, _ id: InstanceID,
    _ observed: ObservedState
  ) throws(Finding) {
    guard let instance = observed[id] else { return }
    if instance.handledEvents.contains(where: { $0.id == callback }) {
      let isAgain = if case .application(.openStream) = observed.event { true } else { false }
      return try require(isAgain, "\(instance.name) is told \(report) twice")
    }
    try require(
      observed.mayLocate(instance.key, report.service),
      "\(instance.name) is told \(report), but may not learn the location")
    let waiting = observed.location.applications[instance.key]?.waiting ?? []
    try require(
      waiting.first == report,
      "\(instance.name) is told \(report), but its waiting reports are \(waiting)")
    told.insert(id)
  }

  private func spawn(_ key: ApplicationKey, _ observed: ObservedState) throws(Finding) {
    guard case .location = observed.event else { return }
    try require(
      observed.location.applications[key]?.waiting.isEmpty == false,
      "\(key.id.name) is launched for the location, but no report waits for it")
    try require(
      RefusalChecker.launch(key, .background, .location, observed) != .refused,
      "\(key.id.name) is launched for the location, but must not be launched")
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    for expected in observed.location.messages {
      guard let index = messages.firstIndex(of: expected) else {
        return try require(
          false, "instance \(expected.instance.number) is not told \(expected.location)")
      }
      messages.remove(at: index)
    }
    if let message = messages.first {
      try require(
        false, "instance \(message.instance.number) is told \(message.location), but must not be")
    }
    for instance in observed.live where instance.hasStream && instance.ending == nil {
      try require(
        instance.heldAuthorization == nil || instance.state == .suspended,
        "\(instance.name) is not told whether it may learn the location")
    }
    for id in woken {
      try require(
        told.contains(id),
        "\(observed[id]?.name ?? "") is resumed for the location, but is told nothing")
    }
    for key in observed.location.mustTell.sorted() { try checkTold(key, observed) }
  }

  /// Checks that no report waits without a reason.
  private func checkTold(_ key: ApplicationKey, _ observed: ObservedState) throws(Finding) {
    guard let waiting = observed.location.applications[key]?.waiting, !waiting.isEmpty
    else { return }
    guard let instance = observed.byKey[key] else {
      let isStarting = observed.launches.values.contains { $0.key == key }
      return try require(
        isStarting
          || RefusalChecker.launch(key, .background, .location, observed) != .allowed,
        "\(key.id.name) must be told \(waiting), but is not launched")
    }
    let hasRoom = instance.handledEvents.count < observed.policy.queuedCallbacksMax
    try require(
      !instance.hasStream || instance.ending != nil || !hasRoom,
      "\(instance.name) is not told \(waiting)")
  }
}

/// Checks that a receiver runs exactly while an application needs the location
/// (contract.md#location-power): during continuous updates, and briefly when the machine could have
/// reached the nearest boundary or moved significantly.
struct ReceiverChecker: Checker {
  static let name = "receivers"
  /// The longest delay of a timer, in nanoseconds.
  let slack: UInt64

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    guard case .location(.need(let needs)) = effect else { return }
    if case .scheduler(.recovered) = observed.event { return }
    try require(
      needs != observed.location.needs,
      "the daemon sends the sources the same needs twice: \(needs)")
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    if let needs = observed.rightfulNeeds() {
      let told = observed.location.needs
      try require(
        needs.accuracy != nil || told.accuracy == nil,
        "a receiver runs, but no application needs the location")
      try require(
        needs.accuracy == nil || told.accuracy != nil,
        "an application needs the location, but no receiver runs")
      try require(
        needs == told, "the daemon must send the sources the needs \(needs), but sent \(told)")
    }
    for (user, one) in observed.location.users where !one.isUnsure {
      switch one.look {
      case .idle: break
      case .due(let at):
        try require(
          max(at.nanoseconds, observed.floor) + slack >= observed.now,
          "no receiver looks for the location of user \(user.uid) in time")
      case .underWay(let since, _):
        let end = since.advanced(by: observed.policy.locationFixTime).nanoseconds
        try require(
          max(end, observed.floor) + slack >= observed.now,
          "a receiver looks for the location of user \(user.uid) for longer than LocationFixTime")
      }
    }
  }
}
