import TaskSchedulerCore
import TaskSchedulerWire

/// The output of `taskctl location`.
enum LocationText {
  static func text(
    _ location: ControlInterface.GetLocation.Output, _ context: RenderingContext
  ) -> String {
    head(location, context) + "\n"
      + (location.uses.isEmpty
        ? "No application uses the location.\n" : table(location.uses, context))
  }

  // MARK: The machine

  /// Returns the lines about the sources and the location.
  private static func head(
    _ location: ControlInterface.GetLocation.Output, _ context: RenderingContext
  ) -> String {
    var lines: [(label: String, words: String)] = []
    for (index, source) in location.sources.enumerated() {
      lines.append((index == 0 ? "Sources:" : "", words(source, context)))
    }
    let needed =
      location.needed.map { $0 == .best ? "the best accuracy" : "an accuracy of \($0.words)" }
    lines.append(("Needed:", needed ?? "nothing; no application needs the location now"))
    lines.append(("Location:", location.location.map { words($0, context.clock) } ?? "unknown"))
    if let end = location.simulatedUntilUSec {
      let rest = context.clock.wait(untilBoot: end)
      lines.append(("", "simulated; the sources count again \(rest)"))
    }
    if let next = location.nextLookUSec {
      lines.append(("Next look:", context.clock.wait(untilBoot: next)))
    }
    return lines.map { label, words in
      label + String(repeating: " ", count: 11 - label.count) + words + "\n"
    }.joined()
  }

  /// Returns `GeoClue of ada: no session agent of the user is attached`.
  private static func words(
    _ source: ControlInterface.LocationSource, _ context: RenderingContext
  ) -> String {
    let owner = source.owner.map { " of \(PrintableText.of(context.userName($0)))" } ?? ""
    let state =
      source.available
      ? context.painter.paint("available", .green)
      : PrintableText.of(source.problem ?? "not available")
    return "\(PrintableText.of(source.name))\(owner): \(state)"
  }

  /// Returns `52.516300, 13.377700 within 12 m; measured 2026-11-21 14:03:22 CET (3 s ago)`.
  private static func words(
    _ location: ControlInterface.Location, _ clock: ClockReading
  ) -> String {
    let place = place(latitude: location.latitude, longitude: location.longitude)
    let parts: [String?] = [
      place + (location.accuracy.map { " within \(DistanceText.of($0))" } ?? ""),
      location.altitude.map { "altitude \(DecimalText.of($0, digits: 0)) m" },
      location.speed.map { "speed \(DecimalText.of($0, digits: 1)) m/s" },
      location.course.map { "course \(DecimalText.of($0, digits: 0))°" },
      "measured \(clock.moment(ofWall: location.measuredAtUSec))",
    ]
    return parts.compactMap(\.self).joined(separator: "; ")
  }

  /// Returns `52.516300, 13.377700`, which is exact to 11 cm.
  static func place(_ coordinate: Coordinate) -> String {
    place(latitude: coordinate.latitude, longitude: coordinate.longitude)
  }

  private static func place(latitude: Double, longitude: Double) -> String {
    "\(DecimalText.of(latitude, digits: 6)), \(DecimalText.of(longitude, digits: 6))"
  }

  // MARK: Applications

  private static func table(
    _ uses: [ControlInterface.LocationUse], _ context: RenderingContext
  ) -> String {
    let owner = OwnerColumn(uses.map(\.owner), context)
    let columns = [Table.Column(title: "APPLICATION")] + owner.columns
      + ["AUTHORIZATION", "SERVICES", "LAST USED"].map { Table.Column(title: $0) }
    var table = Table(columns: columns)
    for use in uses {
      let row = [Table.Cell(use.application)] + owner.cells(use.owner) + [
        Table.Cell(authorization(use)), Table.Cell(services(use)),
        Table.Cell(lastUsed(use, context.clock)),
      ]
      table.append(row)
    }
    return table.text(context.painter)
  }

  /// Returns `authorized`, or `denied (settings)`.
  private static func authorization(_ use: ControlInterface.LocationUse) -> String {
    use.authorization.words + (use.denial.map { " (\($0.rawValue))" } ?? "")
  }

  /// Returns `updates (10 m), significant changes, 3 regions`; `-` for none.
  private static func services(_ use: ControlInterface.LocationUse) -> String {
    let filter = use.updates?.distanceFilter.flatMap { $0 > 0 ? $0 : nil }
    let updates = use.updates.map { updates in
      "updates (\(updates.desiredAccuracy.words)"
        + (filter.map { ", every \(DistanceText.of($0))" } ?? "") + ")"
    }
    let count = use.regions.count
    let parts: [String?] = [
      updates, use.monitorsSignificantChanges ? "significant changes" : nil,
      count == 0 ? nil : count == 1 ? "1 region" : "\(count) regions",
    ]
    let words = parts.compactMap(\.self).joined(separator: ", ")
    return words.isEmpty ? "-" : words
  }

  private static func lastUsed(
    _ use: ControlInterface.LocationUse, _ clock: ClockReading
  ) -> String {
    use.lastUsedUSec.map { "\(TimeSpan.text(usec: clock.ageUSec(ofBoot: $0))) ago" } ?? "never"
  }

  // MARK: Regions

  /// Returns one line for each region, in the order given.
  ///
  /// - Parameter application: The application that the user named; nil for all.
  static func regions(
    _ uses: [ControlInterface.LocationUse], of application: String? = nil,
    _ context: RenderingContext
  ) -> String {
    if uses.allSatisfy(\.regions.isEmpty) {
      let name = application.map { PrintableText.of($0) }
      return "\(name.map { "\($0) monitors no region" } ?? "No application monitors a region").\n"
    }
    let owner = OwnerColumn(uses.filter { !$0.regions.isEmpty }.map(\.owner), context)
    let columns = [Table.Column(title: "APPLICATION")] + owner.columns + [
      Table.Column(title: "REGION"), Table.Column(title: "CENTER"),
      Table.Column(title: "RADIUS", isRightAligned: true), Table.Column(title: "NOTIFIES"),
      Table.Column(title: "DISTANCE", isRightAligned: true), Table.Column(title: "MACHINE"),
    ]
    var table = Table(columns: columns)
    for use in uses {
      for monitored in use.regions {
        let region = monitored.region
        let row = [Table.Cell(use.application)] + owner.cells(use.owner) + [
          Table.Cell(region.identifier),
          Table.Cell(place(latitude: region.latitude, longitude: region.longitude)),
          Table.Cell(DistanceText.of(region.radius)), Table.Cell(notifies(region)),
          Table.Cell(monitored.distance.map(DistanceText.of) ?? "-"),
          Table.Cell(
            monitored.inside.map { $0 ? "inside" : "outside" } ?? "unknown",
            monitored.inside == true ? .green : .plain),
        ]
        table.append(row)
      }
    }
    return table.text(context.painter)
  }

  private static func notifies(_ region: ControlInterface.Region) -> String {
    switch (region.notifyOnEntry ?? true, region.notifyOnExit ?? true) {
    case (true, true): "entry, exit"
    case (true, false): "entry"
    case (false, true): "exit"
    case (false, false): "-"
    }
  }
}

/// Formats distances for users.
enum DistanceText {
  /// Returns `850 m`, `12.3 km` or `1234 km`.
  static func of(_ meters: Double) -> String {
    if meters < 999.5 { return "\(DecimalText.of(meters, digits: 0)) m" }
    let kilometers = meters / 1000
    return "\(DecimalText.of(kilometers, digits: kilometers < 99.95 ? 1 : 0)) km"
  }
}

/// Formats numbers with a fixed number of decimals.
enum DecimalText {
  static func of(_ number: Double, digits: Int) -> String {
    let unit = (0..<digits).reduce(1) { unit, _ in unit * 10 }
    let scaled = (number * Double(unit)).rounded()
    guard let whole = Int(exactly: scaled), whole != .min else { return "\(number)" }
    let sign = whole < 0 ? "-" : ""
    let (integer, rest) = abs(whole).quotientAndRemainder(dividingBy: unit)
    if digits == 0 { return "\(sign)\(integer)" }
    let decimals = "\(rest)"
    return "\(sign)\(integer)." + String(repeating: "0", count: digits - decimals.count) + decimals
  }
}
