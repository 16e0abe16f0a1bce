import TaskSchedulerWire

extension ControlInterface.Setting {
  /// A setting as `GetSettings` replies it.
  public init(_ setting: EffectiveSetting) {
    self.init(
      name: setting.name, value: setting.value, default: setting.default,
      source: setting.source.description)
  }
}
