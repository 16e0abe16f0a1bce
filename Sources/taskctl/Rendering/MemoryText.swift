import TaskSchedulerWire

/// `taskctl memory` and `taskctl warn-memory --dry-run`.
enum MemoryText {
  static func text(
    _ memory: ControlInterface.GetMemory.Output, _ context: RenderingContext
  ) -> String {
    head(memory, context) + (memory.applications.isEmpty ? "" : "\n" + table(memory, context))
  }

  /// How the machine stands.
  private static func head(
    _ memory: ControlInterface.GetMemory.Output, _ context: RenderingContext
  ) -> String {
    let percent =
      memory.total == 0 ? 100 : Int(Double(memory.available) / Double(memory.total) * 100)
    let available = "\(bytes(memory.available)) of \(bytes(memory.total)) available (\(percent)%)"
    let last =
      memory.pressedAtUSec.map {
        "last heard of \(TimeSpan.text(usec: context.clock.ageUSec(ofBoot: $0))) ago"
      } ?? "never heard of"
    let heard =
      memory.heard.isEmpty
      ? "the kernel tells of none"
      : "the kernel tells of the \(memory.heard.joined(separator: " and "))"
    return """
      Memory:    \(available); applications may end below \(memory.floorPercent)%
      Pressure:  \(words(memory.phase)); \(last); \(PrintableText.of(heard))

      """
  }

  private static func words(_ phase: ControlInterface.MemoryPhase) -> String {
    switch phase {
    case .calm: "none"
    case .warned: "applications were warned"
    case .measuring: "it lasts, applications are being measured"
    case .ending: "it lasts, an application is ending"
    case .reclaiming: "it lasts, an application's memory is being taken back"
    }
  }

  private static func table(
    _ memory: ControlInterface.GetMemory.Output, _ context: RenderingContext
  ) -> String {
    let showsOwner = Set(memory.applications.map(\.owner)).count > 1
    var columns = [
      Table.Column(title: "NEXT", isRightAligned: true), Table.Column(title: "APPLICATION"),
    ]
    if showsOwner { columns.append(Table.Column(title: "OWNER")) }
    columns += [
      Table.Column(title: "STATE"), Table.Column(title: "DIRTY", isRightAligned: true),
      Table.Column(title: "TOTAL", isRightAligned: true), Table.Column(title: "WHY"),
    ]
    var table = Table(columns: columns)
    for use in memory.applications {
      var row = [
        Table.Cell(use.position.map { "\($0)" } ?? "-"), Table.Cell(use.application),
      ]
      if showsOwner { row.append(Table.Cell(context.userName(use.owner))) }
      row += [
        Table.Cell(use.state.rawValue, Style(of: use.state)),
        Table.Cell((use.estimate ? "~" : "") + bytes(use.dirty)), Table.Cell(bytes(use.total)),
        Table.Cell(why(use, memory.applications)),
      ]
      table.append(row)
    }
    return table.text(context.painter)
  }

  /// What puts it after the one before it.
  private static func why(
    _ use: ControlInterface.MemoryUse, _ all: [ControlInterface.MemoryUse]
  ) -> String {
    guard let position = use.position else { return "in the foreground: never" }
    guard position > 1, let before = all.first(where: { $0.position == position - 1 }) else {
      return use.state == .suspended
        ? "suspended, the most dirty memory" : "nobody is suspended; the most dirty memory"
    }
    if before.state != use.state { return "in the background: after all that are suspended" }
    return before.dirty == use.dirty ? "as much, and active more recently" : "less dirty memory"
  }

  /// Who would be ended, one line each.
  static func round(
    _ uses: [ControlInterface.MemoryUse], _ context: RenderingContext
  ) -> String {
    if uses.isEmpty { return "Nobody would be ended: nothing is suspended or in the background.\n" }
    return uses.map { use in
      let how = use.state == .suspended ? "without notice" : "with willTerminate"
      let size = (use.estimate ? "about " : "") + bytes(use.dirty)
      let name = PrintableText.of(use.application)
      return "\(use.position ?? 0). \(name) (\(use.state.rawValue)): \(size) back, \(how)\n"
    }.joined()
  }

  private static func bytes(_ count: Int) -> String { ByteText.of(UInt64(clamping: count)) }
}
