import TaskSchedulerWire

/// The output of `taskctl switcher` without a terminal.
enum SwitcherTable {
  /// Returns one line for each application, in the order of the switcher. The table has a column
  /// for the owner if there are several owners, and a column for the seat if there are several
  /// seats.
  static func text(
    _ list: ControlInterface.ListSwitcher.Output, _ context: RenderingContext
  ) -> String {
    let applications = list.applications
    if applications.isEmpty { return empty(list.seat) + "\n" }
    let owner = OwnerColumn(applications.map(\.owner), context)
    let hasSeats = Set(applications.map(\.seat)).count > 1
    let columns = [Table.Column(title: "APPLICATION")] + owner.columns
      + (hasSeats ? [Table.Column(title: "SEAT")] : [])
      + ["NAME", "STATE", "SNAPSHOT"].map { Table.Column(title: $0) }
    var table = Table(columns: columns)
    for application in applications {
      let row = [Table.Cell(application.application)] + owner.cells(application.owner)
        + (hasSeats ? [Table.Cell(application.seat)] : [])
        + [
          Table.Cell(application.displayName ?? "-"),
          Table.Cell(ApplicationTable.stateWords(application), Style(of: application.state)),
          Table.Cell(application.snapshot.words),
        ]
      table.append(row)
    }
    return table.text(context.painter)
  }

  /// Returns the sentence about an empty list.
  static func empty(_ seat: String?) -> String {
    "The application switcher\(seat.map { " of \(PrintableText.of($0))" } ?? "") is empty."
  }
}

extension ControlInterface.SnapshotKind {
  /// The word in tables.
  var words: String {
    switch self {
    case .none: "-"
    case .picture: "yes"
    case .sensitive: "hidden"
    }
  }
}
