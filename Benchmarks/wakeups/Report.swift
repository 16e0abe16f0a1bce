/// The tables of the results as plain text.
struct Report {
  private(set) var text = ""

  init(_ rows: [Row.Result], _ free: [FreeWakeUps], _ verdicts: [Verdict]) {
    let peers = Scheme.allCases.filter { $0 != .everybody }
    add("Wake-ups per hour")
    add(
      ["clients, intervals", "least"] + peers.map(\.rawValue),
      rows.map { row in
        [row.name, decimal(row.leastWakeUps)] + peers.map { decimal(row[$0].wakeUps) }
      })
    add("Handler runs per hour, as a multiple of the least")
    add(
      ["clients, intervals", "least"] + peers.map(\.rawValue) + ["taskschedd, worst"],
      rows.map { row in
        [row.name, decimal(row.leastRuns)]
          + peers.map { times(row[$0].runs / row.leastRuns) } + [times(row.worstRuns)]
      })
    add("Deadlines missed")
    add(
      ["clients, intervals", "least"] + peers.map(\.rawValue),
      rows.map { row in [row.name, "0"] + peers.map { "\(row[$0].missed)" } })
    add("200 clients of 10–60 min where the device also wakes by itself: per hour")
    add(
      ["by itself", "wake-ups", "these used", "handler runs", "these used"],
      free.map {
        [
          "\($0.perHour) times", decimal($0.unused.wakeUps), decimal($0.used.wakeUps),
          decimal($0.unused.runs), decimal($0.used.runs),
        ]
      })
    add("Targets")
    add(
      ["taskschedd", "value", "at most", ""],
      verdicts.map {
        [
          $0.name, decimal($0.value, places: 3), decimal($0.limit, places: 3),
          $0.isReached ? "reached" : "missed",
        ]
      })
  }

  private func times(_ value: Double) -> String { decimal(value, places: 2) + " ×" }

  private mutating func add(_ title: String) {
    text += "\n\(title)\n"
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

/// Formats a value, rounded to the given number of decimal places (at least one).
func decimal(_ value: Double, places: Int = 1) -> String {
  var scale = 1.0
  for _ in 0..<places { scale *= 10 }
  let scaled = Int((value * scale).rounded())
  let fraction = String(scaled % Int(scale))
  let zeros = String(repeating: "0", count: places - fraction.count)
  return "\(scaled / Int(scale)).\(zeros)\(fraction)"
}
