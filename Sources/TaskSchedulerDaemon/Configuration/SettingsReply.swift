import TaskSchedulerWire

extension ControlInterface.Setting {
  /// Creates a setting for the reply of `GetSettings`.
  public init(_ setting: EffectiveSetting) {
    self.init(
      name: setting.name, value: setting.value, default: setting.default,
      source: setting.source.description)
  }
}
