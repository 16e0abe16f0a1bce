import TaskSchedulerCore

/// The position of the machine in a scenario, and the receiver that determines it.
struct ScenarioReceiver {
  var location: (coordinate: Coordinate, accuracy: Double)?
  var isAvailable = true
  /// Whether the daemon needs a location.
  var isOn = false
  /// A number that each change of the position and of the receiver increments. A planned report
  /// with an earlier number does not happen.
  var generation = 0

  /// The time that the receiver needs to find the position.
  static let fixTime = Duration.seconds(5)
  /// The time after which the receiver reports an unchanged position once more.
  static let repetition = Duration.seconds(30)
}

// The location in a scenario. A receiver reports the position while the daemon needs it.
extension ScenarioRunner {
  func takeLocationAction(_ action: Scenario.Action) {
    switch action {
    case .locate(let coordinate, let accuracy):
      receiver.location = (coordinate, accuracy)
      receiver.generation += 1
      reportLocation(again: true)
    case .receiver(let isAvailable):
      receiver.isAvailable = isAvailable
      reportReceiver()
    case .monitor(let index, let region): perform(index, .monitor(region))
    case .forget(let index, let region): perform(index, .forget(region))
    case .authorizeLocation(let index, let authorization):
      let key = scenario.applications[index].key
      post(.location(.authorize(request(), key, authorization)))
    case .launch, .register, .adopt, .activate, .interrupt, .sendAway, .terminate, .begin, .end,
      .start, .stop, .exit, .debug, .machineStandby, .daemonDies, .set, .keepAlive, .handOver,
      .takeBack, .arrive, .schedule, .cancel, .choose, .post, .setClock, .daemonStarts,
      .memoryPressure, .warnMemory:
      preconditionFailure("the action does not concern the location: \(action)")
    }
  }

  func reportReceiver() {
    post(.location(.sourceChanged(.gpsd, isAvailable: receiver.isAvailable)))
  }

  /// Reports the position, if the receiver is on.
  ///
  /// - Parameter again: Whether another report follows after ``ScenarioReceiver/repetition``.
  func reportLocation(again: Bool) {
    guard let (coordinate, accuracy) = receiver.location, receiver.isOn, receiver.isAvailable
    else { return }
    let location = Location(coordinate, accuracy: accuracy, time: wallClock)
    let generation = receiver.generation
    post(.location(.located(.gpsd, location)))
    // The scheduler may have turned the receiver off when it handled the location.
    guard again, receiver.generation == generation else { return }
    schedule(after: ScenarioReceiver.repetition, .located(generation, again: false))
  }

  func carryOut(_ effect: LocationEffect) {
    switch effect {
    case .need(let needs): turnReceiver(on: needs.accuracy != nil)
    case .store(let id, _, _): post(.location(.stored(id)))
    // The users of a scenario answer with the actions `allow-location` and `deny-location`.
    case .ask: break
    }
  }

  func turnReceiver(on isOn: Bool) {
    if isOn == receiver.isOn { return }
    receiver.isOn = isOn
    receiver.generation += 1
    if isOn {
      schedule(after: ScenarioReceiver.fixTime, .located(receiver.generation, again: true))
    }
  }

  /// Changes the continuous updates or the monitoring of significant changes of an application.
  func setLocation(_ service: LocationService, of index: Int, isOn: Bool) {
    perform(index, isOn ? .startLocation(service) : .stopLocation(service))
  }

  /// Sends the request of an application about the location.
  func send(_ action: ApplicationAction, of id: InstanceID) {
    switch action {
    case .startLocation(.updates):
      post(.location(.startUpdates(request(), id, LocationRequest())))
    case .stopLocation(.updates): post(.location(.stopUpdates(request(), id)))
    case .startLocation(.significantChanges):
      post(.location(.monitorSignificantChanges(request(), id)))
    case .stopLocation(.significantChanges):
      post(.location(.stopMonitoringSignificantChanges(request(), id)))
    case .monitor(let region): post(.location(.startMonitoring(request(), id, region)))
    case .forget(let region): post(.location(.stopMonitoring(request(), id, region)))
    case .startLocation(.regions), .stopLocation(.regions), .open, .acknowledge, .begin, .end,
      .endNamed, .keepAlive, .handOver, .takeBack:
      preconditionFailure("not a request about the location: \(action)")
    }
  }
}
