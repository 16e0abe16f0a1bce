import Glibc

/// An SVG picture for light and dark backgrounds, with two charts. They show how the wake-ups and
/// the handler runs of the uniform mixes depend on the number of clients.
struct Chart {
  private(set) var text: String

  /// One of the two charts of the picture, with its axes.
  private struct Panel {
    let title: String
    let left: Double
    /// The values at the bottom and at the top.
    let range: ClosedRange<Double>
    let ticks: [(value: Double, label: String)]
    let isLogarithmic: Bool
    let value: (Row.Result, Scheme) -> Double

    static let width = 236.0
    static let top = 58.0
    static let height = 230.0

    func y(_ value: Double) -> Double {
      let scale = { (value: Double) in self.isLogarithmic ? log10(value) : value }
      let share = (scale(value) - scale(range.lowerBound))
        / (scale(range.upperBound) - scale(range.lowerBound))
      return Panel.top + Panel.height * (1 - share)
    }
  }

  private static let schemes: [Scheme] = [.timers, .minute, .third, .slots, .planner]

  init(_ rows: [Row.Result]) {
    let uniform = rows.filter { $0.mix == ClientMix.Kind.uniform.rawValue }
    let wakeUps = Panel(
      title: "Wake-ups per hour", left: 46, range: 1...3000,
      ticks: [1, 10, 100, 1000].map { ($0, "\(Int($0))") }, isLogarithmic: true
    ) { $0[$1].wakeUps }
    let runs = Panel(
      title: "Handler runs, as a multiple of the least", left: 466, range: 0.9...1.6,
      ticks: [1, 1.1, 1.2, 1.3, 1.4, 1.5].map { ($0, decimal($0) + " ×") }, isLogarithmic: false
    ) { $0[$1].runs / $0.leastRuns }
    text = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 850 350" width="850" height="350" \
      role="img" font-family="system-ui, sans-serif" font-size="12">
      <title>Wake-ups and handler runs by the number of clients</title>
      <style>
      text { fill: #57606a } .title { fill: #24292f; font-weight: 600; font-size: 14px }
      .grid { stroke: #8c959f; stroke-opacity: .3 }
      .least { stroke: #57606a; stroke-dasharray: 4 4 }
      path { fill: none; stroke-width: 1.8 } .planner { stroke-width: 3.4 }
      .own { font-weight: 600 }
      @media (prefers-color-scheme: dark) {
      text { fill: #9da7b1 } .title { fill: #e6edf3 } .least { stroke: #9da7b1 } }
      </style>

      """
    draw(wakeUps, uniform)
    draw(runs, uniform)
    text += """
      <text x="46" y="338">By the number of clients, with intervals of 10–60 min. Dashed: \
      the lower bound. systemd: by AccuracySec.</text>
      </svg>

      """
  }

  private mutating func draw(_ panel: Panel, _ rows: [Row.Result]) {
    text += "<text class=\"title\" x=\"\(panel.left)\" y=\"36\">\(panel.title)</text>\n"
    let right = panel.left + Panel.width
    for (value, label) in panel.ticks {
      let y = decimal(panel.y(value))
      text += "<line class=\"grid\" x1=\"\(panel.left)\" x2=\"\(right)\" y1=\"\(y)\" y2=\"\(y)\"/>"
      text += "<text x=\"\(panel.left - 6)\" y=\"\(y)\" dy=\"4\" text-anchor=\"end\">"
      text += "\(label)</text>\n"
    }
    let xs = rows.map { panel.left + Panel.width * log10(Double($0.clients) / 10) / 2 }
    for (x, row) in zip(xs, rows) {
      let bottom = Panel.top + Panel.height + 18
      text += "<text x=\"\(decimal(x))\" y=\"\(bottom)\" text-anchor=\"middle\">"
      text += "\(row.clients)</text>\n"
    }
    var labels: [(y: Double, scheme: Scheme)] = []
    for scheme in Chart.schemes {
      let points = zip(xs, rows).map { x, row in
        "\(decimal(x)) \(decimal(panel.y(panel.value(row, scheme))))"
      }
      let kind = scheme == .planner ? " class=\"planner\"" : ""
      text += "<path\(kind) stroke=\"\(scheme.color)\" d=\"M\(points.joined(separator: "L"))\"/>\n"
      if let last = rows.last { labels.append((panel.y(panel.value(last, scheme)), scheme)) }
    }
    let least = zip(xs, rows).map { x, row in
      let value = panel.isLogarithmic ? row.leastWakeUps : 1
      return "\(decimal(x)) \(decimal(panel.y(value)))"
    }
    text += "<path class=\"least\" d=\"M\(least.joined(separator: "L"))\"/>\n"
    name(labels, at: right + 8)
  }

  /// Writes the names of the schemes at the ends of their lines, and moves overlapping names apart.
  private mutating func name(_ labels: [(y: Double, scheme: Scheme)], at x: Double) {
    var lowest = -Double.infinity
    for (y, scheme) in labels.sorted(by: { $0.y < $1.y }) {
      lowest = max(y, lowest + 15)
      let kind = scheme == .planner ? " class=\"own\"" : ""
      text += "<text\(kind) x=\"\(x)\" y=\"\(decimal(lowest))\" dy=\"4\">"
      text += "<tspan fill=\"\(scheme.color)\">●</tspan> \(scheme.rawValue)</text>\n"
    }
  }
}

extension Scheme {
  /// The color of the scheme's line, which is visible on white and on black.
  fileprivate var color: String {
    switch self {
    case .planner: "#2f81f7"
    case .timers: "#d1495b"
    case .minute: "#bf8700"
    case .third: "#8957e5"
    case .slots: "#2da44e"
    case .everybody: "#8c959f"
    }
  }
}
