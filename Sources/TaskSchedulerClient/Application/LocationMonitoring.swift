import TaskSchedulerWire

// Significant changes of the location, and crossings of regions. The daemon launches the
// application for these events if it does not run.
extension ScheduledApplication {
  /// Starts to monitor significant changes of the location.
  ///
  /// The application receives ``ApplicationEvent/didChangeLocationSignificantly(_:)`` with the
  /// first location, and then after each move of 500 m or more, at most once in 5 minutes. The
  /// daemon resumes a suspended application for the event. If the application does not run and has
  /// a manifest, the daemon launches it with ``LaunchReason/location``.
  ///
  /// The daemon stores the request durably. The request outlasts the end of the application, a
  /// restart of the daemon and a reboot, so an application need not repeat it after a launch.
  /// The result means the same as for ``startUpdatingLocation(desiredAccuracy:distanceFilter:)``.
  ///
  /// - Returns: Whether the application may learn the location.
  /// - Throws: ``ApplicationRefusal/locationUnavailable``,
  ///   ``ApplicationRefusal/locationDenied(_:_:)``, or ``ApplicationRefusal/notStored(reason:)``;
  ///   an error of the connection if the daemon is away for more than 2.3 s, or if ``isManaged`` is
  ///   false.
  @discardableResult
  public func startMonitoringSignificantLocationChanges(
  ) async throws(ApplicationError) -> LocationAuthorization {
    try await blocking { () throws(ApplicationError) in
      try self.startMonitoringSignificantLocationChangesAndWait()
    }
  }

  /// Starts to monitor significant changes of the location. Blocks. Otherwise like
  /// ``startMonitoringSignificantLocationChanges()``.
  @discardableResult
  public func startMonitoringSignificantLocationChangesAndWait(
  ) throws(ApplicationError) -> LocationAuthorization {
    let output = try askForLocation(
      ApplicationInterface.StartMonitoringSignificantLocationChanges.self, .init())
    return LocationAuthorization(output.authorization)
  }

  /// Stops monitoring significant changes. Does nothing if they are not monitored.
  ///
  /// - Throws: ``ApplicationRefusal/notStored(reason:)``; an error of the connection if the daemon
  ///   is away for more than 2.3 s. After an error, call the method again.
  public func stopMonitoringSignificantLocationChanges() async throws(ApplicationError) {
    try await blocking { () throws(ApplicationError) in
      try self.stopMonitoringSignificantLocationChangesAndWait()
    }
  }

  /// Stops monitoring significant changes. Blocks. Otherwise like
  /// ``stopMonitoringSignificantLocationChanges()``.
  public func stopMonitoringSignificantLocationChangesAndWait() throws(ApplicationError) {
    if calls == nil { return try throwIfEnded() }
    _ = try ask(ApplicationInterface.StopMonitoringSignificantLocationChanges.self, .init())
  }

  // MARK: - Regions

  /// Starts to monitor a region, or replaces the region with the same identifier.
  ///
  ///     try await application.startMonitoring(
  ///       for: CircularRegion(
  ///         identifier: "home", center: LocationCoordinate(latitude: 52.52, longitude: 13.40),
  ///         radius: 150))
  ///
  /// The application receives ``ApplicationEvent/didEnterRegion(_:)`` and
  /// ``ApplicationEvent/didExitRegion(_:)``. The daemon reports a crossing when all locations
  /// during `RegionDwell`, 20 s by default, lie on the other side of the boundary. The distance of
  /// each of these locations from the boundary must be at least 50 m, and at least the
  /// ``Location/horizontalAccuracy`` of the location. If the machine is inside the region when
  /// the monitoring begins, the application receives nothing until the machine leaves.
  ///
  /// The daemon resumes a suspended application for a crossing. If the application does not run and
  /// has a manifest, the daemon launches it with ``LaunchReason/location`` and ``launchRegion``.
  /// The daemon stores the region durably. The region outlasts the end of the application, a
  /// restart of the daemon and a reboot, so an application need not repeat the call after a launch.
  /// The result means the same as for ``startUpdatingLocation(desiredAccuracy:distanceFilter:)``.
  ///
  /// - Returns: Whether the application may learn the location.
  /// - Throws: ``ApplicationRefusal/locationUnavailable``,
  ///   ``ApplicationRefusal/locationDenied(_:_:)``, ``ApplicationRefusal/notStored(reason:)``;
  ///   ``ApplicationRefusal/quotaExceeded(quota:limit:)`` if the application already has
  ///   `MaxRegionsPerApplication` (20 by default) regions, or its user has `MaxRegionsPerUser`
  ///   (1024 by default); ``ApplicationRefusal/invalidParameter(_:)`` with the name of the value;
  ///   an error of the connection if the daemon is away for more than 2.3 s, or if ``isManaged`` is
  ///   false.
  @discardableResult
  public func startMonitoring(
    for region: CircularRegion
  ) async throws(ApplicationError) -> LocationAuthorization {
    try await blocking { () throws(ApplicationError) in
      try self.startMonitoringAndWait(for: region)
    }
  }

  /// Starts to monitor a region. Blocks. Otherwise like ``startMonitoring(for:)``.
  @discardableResult
  public func startMonitoringAndWait(
    for region: CircularRegion
  ) throws(ApplicationError) -> LocationAuthorization {
    let output = try askForLocation(
      ApplicationInterface.StartMonitoringRegion.self, .init(region: region.wireValue()))
    return LocationAuthorization(output.authorization)
  }

  /// Stops monitoring a region. If ``isManaged`` is false, the method does nothing.
  ///
  /// - Throws: ``ApplicationRefusal/unknownRegion(_:)``, ``ApplicationRefusal/notStored(reason:)``;
  ///   an error of the connection if the daemon is away for more than 2.3 s.
  public func stopMonitoring(for identifier: String) async throws(ApplicationError) {
    try await blocking { () throws(ApplicationError) in
      try self.stopMonitoringAndWait(for: identifier)
    }
  }

  /// Stops monitoring a region. Blocks. Otherwise like ``stopMonitoring(for:)``.
  public func stopMonitoringAndWait(for identifier: String) throws(ApplicationError) {
    guard let calls else { return try throwIfEnded() }
    var isFirst = true
    try retrying { () throws(ApplicationError) in
      defer { isFirst = false }
      do throws(ApplicationError) {
        _ = try calls.call(
          ApplicationInterface.StopMonitoringRegion.self, .init(identifier: identifier))
      } catch {
        // An earlier attempt, whose answer was lost, may have removed the region.
        if !isFirst, error == .refused(.unknownRegion(identifier)) { return }
        throw error
      }
    }
  }

  /// Returns the regions that the application monitors, in the order of their identifiers.
  ///
  /// - Throws: An error of the connection if the daemon is away for more than 2.3 s, or if
  ///   ``isManaged`` is false.
  public func monitoredRegions() async throws(ApplicationError) -> [MonitoredRegion] {
    try await blocking { () throws(ApplicationError) in try self.monitoredRegionsAndWait() }
  }

  /// Returns the regions that the application monitors. Blocks. Otherwise like
  /// ``monitoredRegions()``.
  public func monitoredRegionsAndWait() throws(ApplicationError) -> [MonitoredRegion] {
    let output = try askForLocation(
      ApplicationInterface.ListMonitoredRegions.self, .init())
    return output.regions.map { MonitoredRegion($0) }
  }
}
