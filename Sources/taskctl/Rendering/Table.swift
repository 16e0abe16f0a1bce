/// A table for users, with columns as wide as their widest cell, two spaces apart.
struct Table {
  struct Column {
    var title: String
    var isRightAligned = false
  }

  struct Cell: ExpressibleByStringInterpolation {
    var text: String
    var style = Style.plain

    init(_ text: String, _ style: Style = .plain) {
      self.text = PrintableText.of(text)
      self.style = style
    }

    init(stringLiteral text: String) { self.init(text) }
  }

  var columns: [Column]
  private var rows: [[Cell]] = []

  init(columns: [Column]) { self.columns = columns }

  /// Appends a row, which has one cell for each column.
  mutating func append(_ row: [Cell]) {
    precondition(row.count == columns.count, "a row has a cell for each column")
    rows.append(row)
  }

  /// Returns the lines of the table, each with a newline and without trailing spaces. The first
  /// line is the header, unless `header` is false.
  func text(_ painter: Painter, header: Bool = true) -> String {
    let lines = (header ? [columns.map { Cell($0.title, .bold) }] : []) + rows
    let widths = columns.indices.map { column in
      lines.map { PrintableText.columns($0[column].text) }.max() ?? 0
    }
    return lines.map { line($0, widths, painter) + "\n" }.joined()
  }

  private func line(_ row: [Cell], _ widths: [Int], _ painter: Painter) -> String {
    var line = ""
    var pending = 0
    for (column, cell) in row.enumerated() {
      let padding = widths[column] - PrintableText.columns(cell.text)
      let before = columns[column].isRightAligned ? padding : 0
      if !cell.text.isEmpty {
        line += String(repeating: " ", count: pending + before)
        line += painter.paint(cell.text, cell.style)
        pending = padding - before
      } else {
        pending += padding
      }
      pending += 2
    }
    return line
  }
}

/// The column of the owners. A table has this column only if its rows have several owners.
struct OwnerColumn {
  private let isShown: Bool
  private let context: RenderingContext

  init(_ owners: [Int], _ context: RenderingContext) {
    isShown = Set(owners).count > 1
    self.context = context
  }

  var columns: [Table.Column] { isShown ? [Table.Column(title: "OWNER")] : [] }

  func cells(_ owner: Int) -> [Table.Cell] {
    isShown ? [Table.Cell(context.userName(owner))] : []
  }
}
