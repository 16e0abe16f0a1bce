import TaskSchedulerWire

// The stand-in's events and calls for the location services.
extension StandInDaemon {
  /// The location services of the application.
  struct LocationMemory: Sendable {
    var authorization = Application.LocationAuthorization.authorized
    var regions: [Application.MonitoredRegion] = []
    /// The significant changes and region events that were sent and not yet acknowledged.
    var events: [Application.Register.Output] = []
    var launchRegion: String?

    /// Removes an event. Returns false if there is none with this id.
    mutating func acknowledge(_ id: Int) -> Bool {
      let count = events.count
      events.removeAll { ($0.significantLocationChange?.id ?? $0.region?.id) == id }
      return events.count < count
    }
  }

  /// A location whose values are all known.
  static let location = Application.Location(
    latitude: 52.5, longitude: 13.25, accuracy: 8, altitude: 34.5, speed: 1.5, course: 270,
    measuredAtUSec: 1_795_536_000_500_000)

  // MARK: - Events

  func send(location: Application.Location) {
    stream { .init(location: location) }
  }

  func send(authorization: Application.LocationAuthorization) {
    stream { .init(locationAuthorization: authorization) }
  }

  /// Sends a significant change, and records that it is unacknowledged.
  func send(significantChange location: Application.Location) {
    sendUnacknowledged { .init(significantLocationChange: .init(id: $0, location: location)) }
  }

  /// Sends a region event, and records that it is unacknowledged.
  func send(region identifier: String, inside: Bool) {
    sendUnacknowledged {
      .init(
        region: .init(id: $0, identifier: identifier, inside: inside, location: Self.location))
    }
  }

  private func sendUnacknowledged(_ make: @Sendable (Int) -> Application.Register.Output) {
    let event = state.update { state in
      state.memory.callbackLast += 1
      let event = make(state.memory.callbackLast)
      state.memory.location.events.append(event)
      return event
    }
    stream { event }
  }

  /// Waits until all significant changes and region events are acknowledged.
  func waitForHandledLocations() throws {
    try state.wait("the events of the location are handled") { $0.memory.location.events.isEmpty }
  }

  /// The calls about the location so far.
  var locationCalls: [String] {
    state.current.calls.filter { $0.contains("Location") || $0.contains("Region") }
  }

  // MARK: - Calls

  /// Carries out a call about the location, and returns its answer; nil for another call.
  func carryOutLocation(
    _ method: String, _ call: ReceivedCall, _ note: (String) throws -> Void
  ) throws -> Answer? {
    switch method {
    case "StartUpdatingLocation":
      let input = try call.decode(Application.StartUpdatingLocation.Input.self)
      let accuracy = input.desiredAccuracy?.rawValue ?? "-"
      try note("\(accuracy) \(input.distanceFilter.map { "\($0)" } ?? "-")")
      return answerAuthorization()
    case "StartMonitoringSignificantLocationChanges", "RequestLocationAuthorization":
      try note("")
      return answerAuthorization()
    case "StartMonitoringRegion":
      let region = try call.decode(Application.StartMonitoringRegion.Input.self).region
      try note(region.identifier)
      state.update { state in
        state.memory.location.regions.removeAll { $0.region.identifier == region.identifier }
        state.memory.location.regions.append(.init(region: region))
      }
      return answerAuthorization()
    case "StopMonitoringRegion":
      let identifier = try call.decode(Application.StopMonitoringRegion.Input.self).identifier
      try note(identifier)
      let isKnown = state.update { state in
        let count = state.memory.location.regions.count
        state.memory.location.regions.removeAll { $0.region.identifier == identifier }
        return state.memory.location.regions.count < count
      }
      guard isKnown else { throw Application.Failure.unknownRegion(identifier: identifier) }
      return { $0.reply(NoFields()) }
    case "ListMonitoredRegions":
      try note("")
      let regions = state.current.memory.location.regions
      return { $0.reply(Application.ListMonitoredRegions.Output(regions: regions)) }
    default: return nil
    }
  }

  private func answerAuthorization() -> Answer {
    let authorization = state.current.memory.location.authorization
    return {
      $0.reply(Application.RequestLocationAuthorization.Output(authorization: authorization))
    }
  }
}
