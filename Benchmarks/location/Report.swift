/// The table of the results as plain text.
struct Report {
  private(set) var text: String

  init(_ week: Week, _ results: [Result], _ verdicts: [Verdict], crossingCount: Int) {
    text = """
      \(week.seconds / 3600) h of virtual time, \(Week.applicationCount) applications with \
      \(Week.regionCount) regions each, \(crossingCount) crossings that last \
      \(Int(Crossing.stayMin)) s or longer
      A receiver needs \(Int(Receiver.fixTime)) s for its first location.


      """
    let continuous = results.last?.receiverOnPerHour ?? 1
    add(
      [""] + results.map(\.scheme),
      [
        ["fixes per hour"] + results.map { decimal($0.fixesPerHour) },
        ["receiver on, s per hour"] + results.map { decimal($0.receiverOnPerHour) },
        ["  relative to continuous"]
          + results.map { decimal($0.receiverOnPerHour / continuous * 100) + " %" },
        ["crossings reported"] + results.map { "\($0.reported)" },
        ["crossings missed"] + results.map { "\($0.missed)" },
        ["shorter crossings reported"] + results.map { "\($0.shorter)" },
        ["wrong reports"] + results.map { "\($0.wrong)" },
        ["delay of a report, median, s"] + results.map { decimal($0.delayMedian) },
        ["delay of a report, most, s"] + results.map { decimal($0.delayMost) },
      ])
    text += "\nTargets\n"
    add(
      ["taskschedd", "value", "at most", ""],
      verdicts.map {
        [$0.name, decimal($0.value), decimal($0.limit), $0.isReached ? "reached" : "missed"]
      })
  }

  /// Adds a table. The first column is aligned left, the others right.
  private mutating func add(_ head: [String], _ rows: [[String]]) {
    let widths = head.indices.map { column in
      ([head] + rows).map { $0[column].count }.max() ?? 0
    }
    for row in [head] + rows {
      var line = "  "
      for (column, cell) in row.enumerated() {
        let space = String(repeating: " ", count: widths[column] - cell.count)
        line += column == 0 ? cell + space : "   " + space + cell
      }
      text += line + "\n"
    }
  }
}

/// Formats a value, rounded to one decimal place.
func decimal(_ value: Double) -> String {
  let scaled = Int((value * 10).rounded())
  return "\(scaled / 10).\(scaled % 10)"
}
