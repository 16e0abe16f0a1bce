import TaskSchedulerCore

/// The results of one scheme.
struct Result: Encodable {
  let scheme: String
  let fixesPerHour: Double
  /// The seconds per hour for which the receiver is on.
  let receiverOnPerHour: Double
  /// The number of expected crossings that the scheduler reported.
  let reported: Int
  let missed: Int
  /// The number of reports that are permitted but not expected, because the stay was too short.
  let shorter: Int
  /// The number of reports that contradict the true position of the phone.
  let wrong: Int
  /// The time from an expected crossing to its report, in seconds.
  let delayMedian: Double
  let delayMost: Double

  init(_ scheme: Scheme, _ tally: Phone.Tally, _ expected: [Crossing], _ week: Week) {
    self.scheme = scheme.rawValue
    let hours = Double(week.seconds) / 3600
    fixesPerHour = Double(tally.fixCount) / hours
    receiverOnPerHour = tally.receiverOn / hours
    var left: [Key: [Double]] = [:]
    for told in tally.told { left[Key(told), default: []].append(told.at) }
    var delays: [Double] = []
    var missed = 0
    for crossing in expected {
      let key = Key(crossing)
      let index = left[key]?.firstIndex { crossing.reportTime.contains($0) }
      guard let index, let at = left[key]?.remove(at: index) else {
        missed += 1
        continue
      }
      delays.append(max(0, at - crossing.since))
    }
    delays.sort()
    reported = expected.count - missed
    self.missed = missed
    delayMedian = delays.isEmpty ? 0 : delays[delays.count / 2]
    delayMost = delays.last ?? 0
    let rest = left.flatMap { key, times in times.map { (key, $0) } }
    wrong = rest.count { key, time in
      let monitored = week.regions.first {
        $0.application == key.application && $0.region.id == key.region
      }
      guard let region = monitored?.region else { return true }
      let distance = region.center.distance(to: week.place(at: time).coordinate)
      return key.isInside
        ? distance > region.radius + Receiver.errorMax
        : distance < region.radius - Receiver.errorMax
    }
    shorter = rest.count - wrong
  }

  private struct Key: Hashable {
    var application: Int
    var region: RegionID
    var isInside: Bool

    init(_ told: Phone.Told) {
      application = told.application
      region = told.crossing.region
      isInside = told.crossing.isInside
    }

    init(_ crossing: Crossing) {
      application = crossing.application
      region = crossing.region
      isInside = crossing.isInside
    }
  }
}

/// A target, and whether the scheduler reaches it.
struct Verdict: Encodable {
  let name: String
  let value: Double
  let limit: Double
  let isReached: Bool

  private init(_ name: String, _ value: Double, atMost limit: Double) {
    self.name = name
    self.value = value
    self.limit = limit
    isReached = value <= limit
  }

  static func all(_ results: [Result]) -> [Verdict] {
    func result(_ scheme: Scheme) -> Result {
      guard let result = results.first(where: { $0.scheme == scheme.rawValue }) else {
        preconditionFailure("there is no result of \(scheme)")
      }
      return result
    }
    let (own, continuous) = (result(.scheduler), result(.continuous))
    return [
      Verdict(
        "receiver on, relative to continuous, %",
        own.receiverOnPerHour / continuous.receiverOnPerHour * 100, atMost: 5),
      Verdict("crossings missed", Double(own.missed), atMost: 0),
      Verdict("wrong reports", Double(own.wrong), atMost: 0),
    ]
  }
}
