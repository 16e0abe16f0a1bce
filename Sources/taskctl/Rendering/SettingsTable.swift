import TaskSchedulerWire

/// The output of `taskctl config`.
enum SettingsTable {
  /// Returns one line for each setting; `*` marks the settings that differ from their default.
  static func text(_ settings: [ControlInterface.Setting], _ painter: Painter) -> String {
    var table = Table(columns: [
      Table.Column(title: "NAME"), Table.Column(title: "VALUE"), Table.Column(title: ""),
      Table.Column(title: "SOURCE"),
    ])
    for setting in settings {
      let style = setting.isChanged ? Style.bold : .plain
      table.append([
        Table.Cell(setting.name, style), Table.Cell(setting.value, style),
        Table.Cell(setting.isChanged ? "*" : ""), Table.Cell(setting.source, .dim),
      ])
    }
    let isNoted = settings.contains(where: \.isChanged)
    return table.text(painter) + (isNoted ? "\n* differs from the default\n" : "")
  }
}

extension ControlInterface.Setting {
  /// Whether the value differs from the default.
  var isChanged: Bool { value != self.default }
}
