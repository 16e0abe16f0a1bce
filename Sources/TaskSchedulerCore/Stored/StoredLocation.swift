extension Double: Stored {
  package init(from reader: inout StoredReader) throws(MalformedBytes) {
    self.init(bitPattern: try reader.readNumber())
  }

  package func write(to writer: inout StoredWriter) { writer.write(number: bitPattern) }
}

extension Coordinate: StoredByForm {
  package static let form = Form(
    { (latitude: Double, longitude: Double) throws(MalformedBytes) in
      guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
        throw MalformedBytes("\(latitude), \(longitude) is no place on the earth")
      }
      return coordinate
    }, \.latitude, \.longitude)
}

extension Location: StoredByForm {
  package static let form = Form(
    Location.init(_:accuracy:altitude:speed:course:time:), \.coordinate, \.accuracy, \.altitude,
    \.speed, \.course, \.time)
}

extension LocationAccuracy: Stored {}
extension LocationService: Stored {}
extension LocationAuthorization: Stored {}
extension LocationDenial: Stored {}

extension LocationRequest: StoredByForm {
  package static let form = Form(
    LocationRequest.init(desiredAccuracy:distanceFilter:), \.desiredAccuracy, \.distanceFilter)
}

extension LocationRules: StoredByForm {
  package static let form = Form(
    LocationRules.init(allowed:denied:allowsAll:), \.allowed, \.denied, \.allowsAll)
}

extension LocationSource: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("gpsd", Self.gpsd), Case("geoClue", Self.geoClue), Case("cell", Self.cell),
    Case("accessPoint", Self.accessPoint),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .gpsd: writer.write(case: 0)
    case .geoClue(let a): writer.write(case: 1, a)
    case .cell: writer.write(case: 2)
    case .accessPoint: writer.write(case: 3)
    }
  }
}

extension LocationNeeds: StoredByForm {
  package static let form = Form(
    LocationNeeds.init(accuracy:users:watchesRadio:), \.accuracy, \.users, \.watchesRadio)
}

extension RegionID: StoredByForm {
  package static let form = Form(
    { (name: String) throws(MalformedBytes) in
      guard let id = RegionID(name) else {
        throw MalformedBytes("the id of a region has \(name.utf8.count) bytes")
      }
      return id
    }, \.name)
}

extension Region: StoredByForm {
  package static let form = Form(
    {
      (
        id: RegionID, center: Coordinate, radius: Double, notifiesOnEntry: Bool,
        notifiesOnExit: Bool
      ) throws(MalformedBytes) in
      guard
        let region = Region(
          id, center: center, radius: radius, notifiesOnEntry: notifiesOnEntry,
          notifiesOnExit: notifiesOnExit)
      else { throw MalformedBytes("the radius of a region is \(radius) m") }
      return region
    }, \.id, \.center, \.radius, \.notifiesOnEntry, \.notifiesOnExit)
}

extension RegionCrossing: StoredByForm {
  package static let form = Form(RegionCrossing.init(_:isInside:), \.region, \.isInside)
}

extension RegionMonitor: StoredByForm {
  static let form = Form(
    RegionMonitor.init(_:isInside:candidate:), \.region, \.isInside, \.candidate)
}

extension RegionMonitor.Candidate: StoredByForm {
  static let form = Form(RegionMonitor.Candidate.init(isInside:since:), \.isInside, \.since)
}

extension ApplicationLocation: StoredByForm {
  static let form = Form(
    ApplicationLocation.init(
      authorization:wasAsked:isAsking:reference:regions:waiting:lastUsed:), \.authorization,
    \.wasAsked, \.isAsking, \.reference, \.regions, \.waiting, \.lastUsed)
}

extension ApplicationLocation.Report: StoredByCases {
  static let cases: [Case<Self>] = [
    Case("crossing", Self.crossing), Case("significantChange", Self.significantChange),
  ]

  func write(to writer: inout StoredWriter) {
    switch self {
    case .crossing(let a, let b): writer.write(case: 0, a, b)
    case .significantChange(let a): writer.write(case: 1, a)
    }
  }
}

extension ApplicationLocation.Reference: StoredByCases {
  static let cases: [Case<Self>] = [
    Case("awaited", Self.awaited), Case("unknown", Self.unknown), Case("told", Self.told),
  ]

  func write(to writer: inout StoredWriter) {
    switch self {
    case .awaited: writer.write(case: 0)
    case .unknown: writer.write(case: 1)
    case .told(let a, let b): writer.write(case: 2, a, b)
    }
  }
}

extension LocationUpdates: StoredByForm {
  static let form = Form(LocationUpdates.init(request:told:), \.request, \.told)
}

extension UserLocation: StoredByForm {
  static let form = Form(
    UserLocation.init(location:locatedAt:postedUntil:movedAt:look:retry:), \.location,
    \.locatedAt, \.postedUntil, \.movedAt, \.look, \.retry)
}

extension UserLocation.Retry: StoredByForm {
  static let form = Form(UserLocation.Retry.init(delay:at:), \.delay, \.at)
}

extension UserLocation.Look: StoredByCases {
  static let cases: [Case<Self>] = [
    Case("idle", Self.idle), Case("due", Self.due), Case("under", Self.under),
  ]

  func write(to writer: inout StoredWriter) {
    switch self {
    case .idle: writer.write(case: 0)
    case .due(let a): writer.write(case: 1, a)
    case .under(let a, let b): writer.write(case: 2, a, b)
    }
  }
}

extension LocationServices: StoredByForm {
  static let form = Form(
    LocationServices.init(
      rules:sources:updates:applications:users:postedUntil:needs:pending:transactionLast:),
    \.rules, \.sources, \.updates, \.applications, \.users, \.postedUntil, \.needs, \.pending,
    \.transactionLast)
}

extension LocationServices.Pending: StoredByForm {
  static let form = Form(
    LocationServices.Pending.init(id:application:change:request:), \.id,
    \.application, \.change, \.request)
}

extension StoredLocationServices: StoredByForm {
  package static let form = Form(
    StoredLocationServices.init(
      application:authorization:wasAsked:monitorsSignificantChanges:regions:), \.application,
    \.authorization, \.wasAsked, \.monitorsSignificantChanges, \.regions)
}

extension StoredLocationServices.MonitoredRegion: StoredByForm {
  package static let form = Form(
    StoredLocationServices.MonitoredRegion.init(_:isInside:), \.region, \.isInside)
}

extension LocationEvent: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("startUpdates", Self.startUpdates), Case("stopUpdates", Self.stopUpdates),
    Case("monitorSignificantChanges", Self.monitorSignificantChanges),
    Case("stopMonitoringSignificantChanges", Self.stopMonitoringSignificantChanges),
    Case("startMonitoring", Self.startMonitoring), Case("stopMonitoring", Self.stopMonitoring),
    Case("requestAuthorization", Self.requestAuthorization), Case("authorize", Self.authorize),
    Case("rulesChanged", Self.rulesChanged),
    Case("sourceChanged", Self.sourceChanged(_:isAvailable:)), Case("located", Self.located),
    Case("posted", Self.posted(_:_:for:)), Case("moved", Self.moved), Case("stored", Self.stored),
    Case("storeFailed", Self.storeFailed(_:reason:)), Case("loaded", Self.loaded),
    Case("forget", Self.forget),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .startUpdates(let a, let b, let c): writer.write(case: 0, a, b, c)
    case .stopUpdates(let a, let b): writer.write(case: 1, a, b)
    case .monitorSignificantChanges(let a, let b): writer.write(case: 2, a, b)
    case .stopMonitoringSignificantChanges(let a, let b): writer.write(case: 3, a, b)
    case .startMonitoring(let a, let b, let c): writer.write(case: 4, a, b, c)
    case .stopMonitoring(let a, let b, let c): writer.write(case: 5, a, b, c)
    case .requestAuthorization(let a, let b): writer.write(case: 6, a, b)
    case .authorize(let a, let b, let c): writer.write(case: 7, a, b, c)
    case .rulesChanged(let a): writer.write(case: 8, a)
    case .sourceChanged(let a, let b): writer.write(case: 9, a, b)
    case .located(let a, let b): writer.write(case: 10, a, b)
    case .posted(let a, let b, let c): writer.write(case: 11, a, b, c)
    case .moved: writer.write(case: 12)
    case .stored(let a): writer.write(case: 13, a)
    case .storeFailed(let a, let b): writer.write(case: 14, a, b)
    case .loaded(let a): writer.write(case: 15, a)
    case .forget(let a, let b): writer.write(case: 16, a, b)
    }
  }
}

extension LocationEffect: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("need", Self.need), Case("store", Self.store), Case("ask", Self.ask),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .need(let a): writer.write(case: 0, a)
    case .store(let a, let b, let c): writer.write(case: 1, a, b, c)
    case .ask(let a, let b): writer.write(case: 2, a, b)
    }
  }
}

extension LocationChange: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("monitor", Self.monitor), Case("stopMonitoring", Self.stopMonitoring),
    Case("monitorSignificantChanges", Self.monitorSignificantChanges),
    Case("authorize", Self.authorize(_:wasAsked:)), Case("report", Self.report),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .monitor(let a): writer.write(case: 0, a)
    case .stopMonitoring(let a): writer.write(case: 1, a)
    case .monitorSignificantChanges(let a): writer.write(case: 2, a)
    case .authorize(let a, let b): writer.write(case: 3, a, b)
    case .report(let a): writer.write(case: 4, a)
    }
  }
}

extension LocationRecord: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("started", Self.started), Case("stopped", Self.stopped),
    Case("regionMonitored", Self.regionMonitored), Case("regionForgotten", Self.regionForgotten),
    Case("regionCrossed", Self.regionCrossed),
    Case("changedSignificantly", Self.changedSignificantly), Case("authorized", Self.authorized),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .started(let a): writer.write(case: 0, a)
    case .stopped(let a): writer.write(case: 1, a)
    case .regionMonitored(let a): writer.write(case: 2, a)
    case .regionForgotten(let a): writer.write(case: 3, a)
    case .regionCrossed(let a): writer.write(case: 4, a)
    case .changedSignificantly: writer.write(case: 5)
    case .authorized(let a): writer.write(case: 6, a)
    }
  }
}
