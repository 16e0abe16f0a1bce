/// Returns the candidate that is most similar to `name`, for "did you mean"; nil if no candidate is
/// similar.
///
/// The distance is the number of letters to insert, delete, replace or swap with their neighbor.
/// The case of ASCII letters and the marks `-`, `_` and `.` do not count. Two names are similar if
/// the distance is at most a third of the length of `name`. This limit is at least 1 and at most 8.
///
/// If no candidate is similar, but exactly one begins with `name`, the function returns that
/// candidate. It does so only if `name` has at least 3 letters. The function compares at most 512
/// candidates of about the right length, because a client could otherwise make it run for a long
/// time.
public func nearestName(to name: String, among candidates: [String]) -> String? {
  let wanted = ComparableName(name)
  guard !wanted.bytes.isEmpty, wanted.bytes.count <= ComparableName.countMax else { return nil }
  let distanceMax = max(1, min(8, wanted.bytes.count / 3))
  var best: (distance: Int, name: String)?
  var beginning: [String] = []
  var comparisonsLeft = 512
  for candidate in candidates {
    guard comparisonsLeft > 0 else { break }
    // `excess` is too large by the number of the candidate's marks. `isLong` corrects this.
    let excess = candidate.utf8.count - wanted.bytes.count
    guard excess >= -distanceMax else { continue }
    let isLong = excess > distanceMax + candidate.utf8.lazy.filter(ComparableName.isMark).count
    if isLong && (wanted.bytes.count < 3 || beginning.count > 1) { continue }
    let other = ComparableName(candidate)
    if wanted.bytes.count >= 3, other.bytes.starts(with: wanted.bytes) {
      beginning.append(candidate)
    }
    guard !isLong, other.bytes.count <= ComparableName.countMax else { continue }
    comparisonsLeft -= 1
    let bound = best.map { $0.distance - 1 } ?? distanceMax
    if let distance = wanted.distance(to: other, max: bound) { best = (distance, candidate) }
  }
  return best?.name ?? (beginning.count == 1 ? beginning[0] : nil)
}

/// A name in the form in which names are compared: in lower case, without marks.
private struct ComparableName {
  /// The maximum length of a name. A longer name is not the result of a typing mistake.
  static let countMax = 255

  let bytes: [UInt8]

  init(_ name: String) {
    bytes = name.utf8.filter { !Self.isMark($0) }.map {
      (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0
    }
  }

  static func isMark(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
  }

  /// Returns the optimal string alignment distance; nil if it is greater than `max`.
  ///
  /// Computes only the cells of the table within `max` of its diagonal, because all other cells
  /// have values greater than `max`.
  func distance(to other: ComparableName, max: Int) -> Int? {
    let (a, b) = (bytes, other.bytes)
    guard max >= 0, abs(a.count - b.count) <= max else { return nil }
    let far = max + 1
    var beforePrevious = [Int](repeating: far, count: b.count + 1)
    var previous = (0...b.count).map { min($0, far) }
    var current = previous
    for i in a.indices {
      let band = Swift.max(0, i - max)..<Swift.min(b.count, i + max + 1)
      current[band.lowerBound] = band.lowerBound == 0 ? min(i + 1, far) : far
      var least = current[band.lowerBound]
      for j in band {
        var distance = min(
          previous[j + 1] + 1, current[j] + 1, previous[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          distance = min(distance, beforePrevious[j - 1] + 1)
        }
        current[j + 1] = min(distance, far)
        least = min(least, current[j + 1])
      }
      if least > max, i > 0, previous.allSatisfy({ $0 >= max }) { return nil }
      (beforePrevious, previous, current) = (previous, current, beforePrevious)
    }
    return previous[b.count] <= max ? previous[b.count] : nil
  }
}
