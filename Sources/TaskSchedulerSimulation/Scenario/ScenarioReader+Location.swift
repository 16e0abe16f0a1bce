import TaskSchedulerCore

// The actions of a scenario that concern the location.
extension ScenarioReader {
  enum LocationVerb { case locate, receiver, monitor, forget, allow, deny }

  static let locationVerbs: [(String, LocationVerb)] = [
    ("location", .locate), ("receiver", .receiver), ("monitor", .monitor), ("forget", .forget),
    ("allow-location", .allow), ("deny-location", .deny),
  ]

  func locationAction(
    _ verb: LocationVerb, _ words: inout ScenarioWords
  ) throws(ScenarioProblem) -> Scenario.Action {
    switch verb {
    case .locate:
      let coordinate = try coordinate(&words)
      let accuracy = words.isEmpty ? 5 : try number(&words, "accuracy in meters", 1...100_000)
      return .locate(coordinate, accuracy: accuracy)
    case .receiver: return .receiver(try words.choice("state", [("on", true), ("off", false)]))
    case .monitor:
      let index = try application(&words)
      let id = try region(&words)
      let center = try coordinate(&words)
      let column = words.column
      let radius = try number(&words, "radius in meters", Region.radii)
      guard let region = Region(id, center: center, radius: radius) else {
        throw words.problem("the radius is not valid", at: column)
      }
      return .monitor(index, region)
    case .forget: return .forget(try application(&words), try region(&words))
    case .allow: return .authorizeLocation(try application(&words), .authorized)
    case .deny: return .authorizeLocation(try application(&words), .denied)
    }
  }

  private func region(_ words: inout ScenarioWords) throws(ScenarioProblem) -> RegionID {
    let word = try words.next("the region's name")
    guard let id = RegionID(word.text) else {
      throw words.problem(
        "\(ScenarioWords.quoted(word.text)) is too long for a region's name; write "
          + "\(RegionID.bytesMax) bytes at most", at: word.column)
    }
    return id
  }

  private func coordinate(_ words: inout ScenarioWords) throws(ScenarioProblem) -> Coordinate {
    let column = words.column
    let latitude = try number(&words, "latitude in degrees", -90...90)
    let longitude = try number(&words, "longitude in degrees", -180...180)
    guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
      throw words.problem("the place is not on the earth", at: column)
    }
    return coordinate
  }

  private func number(
    _ words: inout ScenarioWords, _ what: String, _ bounds: ClosedRange<Double>
  ) throws(ScenarioProblem) -> Double {
    let word = try words.next("the \(what)")
    guard let number = Double(word.text), bounds.contains(number) else {
      throw words.problem(
        "\(ScenarioWords.quoted(word.text)) is not valid for the \(what); write a number from "
          + "\(Int(bounds.lowerBound)) to \(Int(bounds.upperBound))", at: word.column)
    }
    return number
  }
}
