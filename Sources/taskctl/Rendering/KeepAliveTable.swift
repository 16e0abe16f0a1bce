import TaskSchedulerWire

/// The output of `taskctl keepalives`.
enum KeepAliveTable {
  /// Returns one line for each keep-alive handler, in the order given.
  static func text(
    _ applications: [ControlInterface.Application], _ context: RenderingContext
  ) -> String {
    let owner = OwnerColumn(applications.map(\.owner), context)
    let columns = [Table.Column(title: "APPLICATION")] + owner.columns + [
      Table.Column(title: "STATE"), Table.Column(title: "INTERVAL"),
      Table.Column(title: "LAST RUN"), Table.Column(title: "DEADLINE"),
      Table.Column(title: "PLANNED"),
    ]
    var table = Table(columns: columns)
    for application in applications {
      guard let keepAlive = application.instance?.keepAlive else { continue }
      let row = [Table.Cell(application.application)] + owner.cells(application.owner) + [
        Table.Cell(ApplicationTable.stateWords(application), Style(of: application.state)),
        Table.Cell(TimeSpan.text(usec: keepAlive.intervalUSec)),
        Table.Cell(lastRun(keepAlive, context.clock)),
        Table.Cell(context.clock.wait(untilBoot: keepAlive.deadlineUSec)),
        Table.Cell(context.clock.wait(untilBoot: keepAlive.plannedUSec)),
      ]
      table.append(row)
    }
    return table.text(context.painter)
  }

  /// Returns `3 min ago`, or `never`.
  private static func lastRun(
    _ keepAlive: ControlInterface.KeepAlive, _ clock: ClockReading
  ) -> String {
    keepAlive.lastRunUSec.map { "\(TimeSpan.text(usec: clock.ageUSec(ofBoot: $0))) ago" } ?? "never"
  }
}
