import Dispatch
import TaskSchedulerWire

/// The accuracy and the distance filter of the continuous updates that the application has started.
struct LocationUpdates: Hashable, Sendable {
  let desiredAccuracy: LocationAccuracy
  let distanceFilter: Double?
}

// Continuous updates of the location, and the authorization of all location services.
extension ScheduledApplication {
  /// Starts continuous updates of the location.
  ///
  /// The application receives ``ApplicationEvent/didUpdateLocation(_:)`` for each new location. A
  /// second call changes the accuracy and the distance. With the background mode `location`, the
  /// daemon does not suspend the application while the updates run. Without the mode, a suspended
  /// application receives no locations.
  ///
  /// If the method returns ``LocationAuthorization/notDetermined``, the daemon asks the user once,
  /// with a notification. The application receives
  /// ``ApplicationEvent/didChangeLocationAuthorization(_:)`` after the answer. If the user allows
  /// access, the locations follow without another call.
  ///
  /// After a restart of the daemon, the library starts the updates again. If the daemon refuses
  /// them, or still knows no source of locations after 2.3 s, the application receives
  /// ``ApplicationEvent/didLoseLocationUpdates(_:)``.
  ///
  /// - Parameters:
  ///   - desiredAccuracy: The accuracy that the application needs. A lower accuracy needs less
  ///     power.
  ///   - distanceFilter: The minimum distance, in meters, of a location from the last location that
  ///     the application received; nil means that the application receives each location.
  /// - Returns: Whether the application may learn the location.
  /// - Throws: ``ApplicationRefusal/locationUnavailable``,
  ///   ``ApplicationRefusal/locationDenied(_:_:)``, or ``ApplicationRefusal/invalidParameter(_:)``
  ///   for a negative distance; an error of the connection if the daemon is away for more than
  ///   2.3 s, or if ``isManaged`` is false.
  @discardableResult
  public func startUpdatingLocation(
    desiredAccuracy: LocationAccuracy = .best, distanceFilter: Double? = nil
  ) async throws(ApplicationError) -> LocationAuthorization {
    try await blocking { () throws(ApplicationError) in
      try self.startUpdatingLocationAndWait(
        desiredAccuracy: desiredAccuracy, distanceFilter: distanceFilter)
    }
  }

  /// Starts continuous updates of the location. Blocks. Otherwise like
  /// ``startUpdatingLocation(desiredAccuracy:distanceFilter:)``.
  @discardableResult
  public func startUpdatingLocationAndWait(
    desiredAccuracy: LocationAccuracy = .best, distanceFilter: Double? = nil
  ) throws(ApplicationError) -> LocationAuthorization {
    if let distanceFilter, !distanceFilter.isFinite {
      throw .refused(.invalidParameter("distanceFilter"))
    }
    let updates = LocationUpdates(
      desiredAccuracy: desiredAccuracy, distanceFilter: distanceFilter)
    return try locationTurn.withLock { _ throws(ApplicationError) in
      let authorization = try send(updates)
      state.withLock { $0.locationUpdates = updates }
      return authorization
    }
  }

  /// Stops continuous updates of the location. Does nothing if they do not run.
  ///
  /// - Throws: An error of the connection if the daemon is away for more than 2.3 s. After an
  ///   error, call the method again.
  public func stopUpdatingLocation() async throws(ApplicationError) {
    try await blocking { () throws(ApplicationError) in try self.stopUpdatingLocationAndWait() }
  }

  /// Stops continuous updates of the location. Blocks. Otherwise like ``stopUpdatingLocation()``.
  public func stopUpdatingLocationAndWait() throws(ApplicationError) {
    try locationTurn.withLock { _ throws(ApplicationError) in
      try throwIfEnded()
      // Even if the call fails, the library must not start the updates again after a restart of the
      // daemon.
      state.withLock { $0.locationUpdates = nil }
      if calls == nil { return }
      _ = try ask(ApplicationInterface.StopUpdatingLocation.self, .init())
    }
  }

  /// Returns whether the application may learn the location, and makes the daemon ask the user if
  /// neither an operator nor the user has decided.
  ///
  /// A call that starts a location service also makes the daemon ask. Call this method to ask at
  /// another time, for example after the application has explained why it needs the location.
  ///
  /// - Throws: An error of the connection if the daemon is away for more than 2.3 s, or if
  ///   ``isManaged`` is false.
  public func requestLocationAuthorization(
  ) async throws(ApplicationError) -> LocationAuthorization {
    try await blocking { () throws(ApplicationError) in
      try self.requestLocationAuthorizationAndWait()
    }
  }

  /// Returns whether the application may learn the location. Blocks. Otherwise like
  /// ``requestLocationAuthorization()``.
  public func requestLocationAuthorizationAndWait(
  ) throws(ApplicationError) -> LocationAuthorization {
    let output = try askForLocation(
      ApplicationInterface.RequestLocationAuthorization.self, .init())
    return LocationAuthorization(output.authorization)
  }

  // MARK: - Calls

  private func send(
    _ updates: LocationUpdates
  ) throws(ApplicationError) -> LocationAuthorization {
    let output = try askForLocation(
      ApplicationInterface.StartUpdatingLocation.self,
      .init(
        desiredAccuracy: updates.desiredAccuracy.wireValue,
        distanceFilter: updates.distanceFilter))
    return LocationAuthorization(output.authorization)
  }

  /// Makes a call. Fails if the program runs without a daemon, because only the daemon knows the
  /// location.
  func askForLocation<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input
  ) throws(ApplicationError) -> Method.Output {
    if calls == nil {
      try throwIfEnded()
      throw .noDaemon(path: socketPath.path)
    }
    return try ask(method, input)
  }

  // MARK: - Restoration

  /// Starts the continuous updates again. Returns false if the daemon does not answer.
  ///
  /// A daemon that has just started may not know its sources yet. If it refuses the updates for
  /// this reason, the function tries again later, with growing pauses.
  ///
  /// - Parameter delays: The pauses so far.
  func restoreLocationUpdates(after delays: RetryDelays = RetryDelays()) -> Bool {
    locationTurn.withLock { _ in
      guard let updates = state.withLock({ $0.locationUpdates }) else { return true }
      do throws(ApplicationError) {
        _ = try send(updates)
      } catch {
        if error.isTransient { return false }
        let isEarly = error == .refused(.locationUnavailable)
        if isEarly, delays.count < RetryDelays.requestMax {
          restoreLocationUpdatesLater(delays)
        } else {
          state.withLock { $0.locationUpdates = nil }
          deliver(.didLoseLocationUpdates(error))
        }
      }
      return true
    }
  }

  private func restoreLocationUpdatesLater(_ delays: RetryDelays) {
    var delays = delays
    let milliseconds = Int(delays.take() / .milliseconds(1))
    reportQueue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [delays] in
      if self.isClosed(within: .zero) || self.restoreLocationUpdates(after: delays) { return }
      // The daemon is away again. The library starts the updates when it has registered again.
      self.state.withLock { $0.requestRestoration() }
    }
  }
}
