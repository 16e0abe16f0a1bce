/// The candidate most like `name`, for "did you mean"; nil when none is like it.
///
/// Likeness is the number of letters to insert, delete, replace or swap with their neighbour, case
/// and the marks `-`, `_` and `.` not counted; up to a third of the name's length (at least 1)
/// counts as alike. A name cut short finds the only candidate that begins with it.
public func nearestName(to name: String, among candidates: [String]) -> String? {
  // A name of a page's length is no typing mistake, and its comparison would take long.
  let lengthMax = 255
  let wanted = comparable(name)
  guard !wanted.isEmpty, wanted.count <= lengthMax else { return nil }
  let distanceMax = max(1, wanted.count / 3)
  var best: (distance: Int, name: String)?
  for candidate in candidates {
    let other = comparable(candidate)
    guard other.count <= lengthMax, abs(other.count - wanted.count) <= distanceMax else {
      continue
    }
    let distance = editDistance(wanted, other)
    if distance <= distanceMax, distance < best?.distance ?? Int.max {
      best = (distance, candidate)
    }
  }
  if let best { return best.name }
  let longer = candidates.filter { wanted.count >= 3 && comparable($0).starts(with: wanted) }
  return longer.count == 1 ? longer[0] : nil
}

private func comparable(_ name: String) -> [Character] {
  name.lowercased().filter { $0 != "-" && $0 != "_" && $0 != "." }
    .map { $0 }
}

/// The optimal string alignment distance.
private func editDistance(_ a: [Character], _ b: [Character]) -> Int {
  var beforePrevious: [Int] = []
  var previous = Array(0...b.count)
  for i in a.indices {
    var current = [i + 1]
    for j in b.indices {
      var distance = min(
        previous[j + 1] + 1, current[j] + 1, previous[j] + (a[i] == b[j] ? 0 : 1))
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
        distance = min(distance, beforePrevious[j - 1] + 1)
      }
      current.append(distance)
    }
    beforePrevious = previous
    previous = current
  }
  return previous[b.count]
}
