import TaskSchedulerCore
import TaskSchedulerWire

// The location services of an application (contract §17).

extension ApplicationService {
  func startUpdatingLocation(
    _ input: Interface.StartUpdatingLocation.Input, _ connection: Connection
  ) throws {
    let wanted = try LocationRequest(input)
    let (request, id) = try start(connection)
    post(.location(.startUpdates(request, id, wanted)))
  }

  func stopUpdatingLocation(
    _: Interface.StopUpdatingLocation.Input, _ connection: Connection
  ) throws {
    let (request, id) = try stop(connection)
    post(.location(.stopUpdates(request, id)))
  }

  func startMonitoringSignificantLocationChanges(
    _: Interface.StartMonitoringSignificantLocationChanges.Input, _ connection: Connection
  ) throws {
    let (request, id) = try start(connection)
    post(.location(.monitorSignificantChanges(request, id)))
  }

  func stopMonitoringSignificantLocationChanges(
    _: Interface.StopMonitoringSignificantLocationChanges.Input, _ connection: Connection
  ) throws {
    let (request, id) = try stop(connection)
    post(.location(.stopMonitoringSignificantChanges(request, id)))
  }

  func startMonitoringRegion(
    _ input: Interface.StartMonitoringRegion.Input, _ connection: Connection
  ) throws {
    let region = try Region(input.region, parameter: "region")
    let (request, id) = try start(connection)
    post(.location(.startMonitoring(request, id, region)))
  }

  func stopMonitoringRegion(
    _ input: Interface.StopMonitoringRegion.Input, _ connection: Connection
  ) throws {
    guard let region = RegionID(input.identifier) else {
      throw Interface.Failure.unknownRegion(identifier: input.identifier)
    }
    let (request, id) = try stop(connection)
    post(.location(.stopMonitoring(request, id, region)))
  }

  func listMonitoredRegions(
    _: Interface.ListMonitoredRegions.Input, _ connection: Connection
  ) throws {
    let (key, _) = try speaker(connection)
    let regions = pump.withScheduler { $0.monitoredRegions(of: key) }
    connection.reply(
      Interface.ListMonitoredRegions.Output(regions: regions.map { .init($0) }))
  }

  func requestLocationAuthorization(
    _: Interface.RequestLocationAuthorization.Input, _ connection: Connection
  ) throws {
    let (request, id) = try start(connection)
    post(.location(.requestAuthorization(request, id)))
  }

  /// Opens a request to start a location service, or to ask the user for the authorization.
  private func start(_ connection: Connection) throws -> (RequestID, InstanceID) {
    let instance = try registered(connection)
    if requests.isForgetful { throw Interface.Failure.stateNotSaved }
    return (requests.open(connection, application: instance.name), instance.id)
  }

  /// Opens a request to stop a location service.
  private func stop(_ connection: Connection) throws -> (RequestID, InstanceID) {
    let instance = try registered(connection)
    return (requests.open(connection, application: instance.name), instance.id)
  }
}
