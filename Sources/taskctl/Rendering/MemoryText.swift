import TaskSchedulerWire

/// The output of `taskctl memory` and `taskctl warn-memory --dry-run`.
enum MemoryText {
  static func text(
    _ memory: ControlInterface.GetMemory.Output, _ context: RenderingContext
  ) -> String {
    head(memory, context) + (memory.applications.isEmpty ? "" : "\n" + table(memory, context))
  }

  /// Returns the lines about the machine.
  private static func head(
    _ memory: ControlInterface.GetMemory.Output, _ context: RenderingContext
  ) -> String {
    let percent =
      memory.total == 0 ? 100 : Int(Double(memory.available) / Double(memory.total) * 100)
    let available = "\(bytes(memory.available)) of \(bytes(memory.total)) available (\(percent)%)"
    let last =
      memory.pressedAtUSec.map {
        "last pressure \(TimeSpan.text(usec: context.clock.ageUSec(ofBoot: $0))) ago"
      } ?? "no pressure so far"
    let heard =
      memory.heard.isEmpty
      ? "not monitored; 'taskctl log' gives the reason"
      : "monitored: \(memory.heard.joined(separator: ", "))"
    return """
      Memory:    \(available); below \(memory.floorPercent)%, the daemon may terminate applications
      Pressure:  \(words(memory.phase)); \(last); \(PrintableText.of(heard))

      """
  }

  private static func words(_ phase: ControlInterface.MemoryPhase) -> String {
    switch phase {
    case .calm: "none"
    case .warned: "the daemon has warned applications"
    case .measuring: "continues; the daemon measures the applications"
    case .ending: "continues; the daemon terminates an application"
    case .reclaiming: "continues; the kernel reclaims the memory of an application"
    }
  }

  private static func table(
    _ memory: ControlInterface.GetMemory.Output, _ context: RenderingContext
  ) -> String {
    let owner = OwnerColumn(memory.applications.map(\.owner), context)
    let first = [
      Table.Column(title: "NEXT", isRightAligned: true), Table.Column(title: "APPLICATION"),
    ]
    let columns = first + owner.columns + [
      Table.Column(title: "STATE"), Table.Column(title: "DIRTY", isRightAligned: true),
      Table.Column(title: "TOTAL", isRightAligned: true), Table.Column(title: "WHY"),
    ]
    var table = Table(columns: columns)
    for use in memory.applications {
      let first = [
        Table.Cell(use.position.map { "\($0)" } ?? "-"), Table.Cell(use.application),
      ]
      let row = first + owner.cells(use.owner) + [
        Table.Cell(use.state.rawValue, Style(of: use.state)),
        Table.Cell((use.estimate ? "~" : "") + bytes(use.dirty)), Table.Cell(bytes(use.total)),
        Table.Cell(why(use, memory.applications)),
      ]
      table.append(row)
    }
    return table.text(context.painter)
  }

  /// Returns the reason why an application comes after the previous one in the order of
  /// termination.
  private static func why(
    _ use: ControlInterface.MemoryUse, _ all: [ControlInterface.MemoryUse]
  ) -> String {
    guard let position = use.position else { return "in the foreground: never" }
    guard position > 1, let before = all.first(where: { $0.position == position - 1 }) else {
      return use.state == .suspended
        ? "suspended, the most dirty memory"
        : "no application is suspended; the most dirty memory"
    }
    if before.state != use.state { return "in the background: after all suspended applications" }
    return before.dirty == use.dirty
      ? "as much dirty memory, but active more recently" : "less dirty memory"
  }

  /// Returns one line for each application that the daemon would terminate.
  static func round(
    _ uses: [ControlInterface.MemoryUse], _ context: RenderingContext
  ) -> String {
    if uses.isEmpty {
      return "The daemon would terminate no application: none is suspended or in the background.\n"
    }
    return uses.map { use in
      let how =
        use.state == .suspended ? "terminated without notice" : "terminated with willTerminate"
      let size = (use.estimate ? "about " : "") + bytes(use.dirty)
      let name = PrintableText.of(use.application)
      return "\(use.position ?? 0). \(name) (\(use.state.rawValue)): \(how); frees \(size)\n"
    }.joined()
  }

  private static func bytes(_ count: Int) -> String { ByteText.of(UInt64(clamping: count)) }
}
