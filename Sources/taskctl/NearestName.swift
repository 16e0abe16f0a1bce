/// Finds what a person may have meant.
enum NearestName {
  /// The name that takes the fewest insertions, deletions and replacements to become; nil where
  /// even that takes more than a third of its letters, rounded up.
  static func of(_ text: String, in names: [String]) -> String? {
    let distances = names.map { (name: $0, distance: distance(text, $0)) }
    guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
    return best.distance <= (best.name.count + 2) / 3 ? best.name : nil
  }

  /// `it is no state: one of active, …; did you mean 'active'?`.
  static func sentence(_ kind: String, _ text: String, in names: [String]) -> String {
    let nearest = of(text, in: names).map { "; did you mean '\($0)'?" } ?? ""
    return "it is no \(kind): one of \(names.joined(separator: ", "))\(nearest)"
  }

  /// The Levenshtein distance.
  static func distance(_ one: String, _ other: String) -> Int {
    let other = Array(other)
    var row = Array(0...other.count)
    for (line, letter) in one.enumerated() {
      var diagonal = row[0]
      row[0] = line + 1
      for column in other.indices {
        let replaced = diagonal + (letter == other[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
      }
    }
    return row[other.count]
  }
}
