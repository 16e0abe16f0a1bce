import TaskSchedulerCore

/// Everything that is read from files: the daemon's options, the policy's limits and the manifests.
public struct Configuration: Hashable, Sendable {
  public var options = DaemonOptions()
  public var policy = Policy()
  /// The manifests in force, by id.
  public var manifests: [ApplicationID: ApplicationManifest] = [:]
  /// Where each setting that a file gives came from, by the setting's full name.
  public var sources: [String: SettingSource] = [:]

  /// The built-in defaults.
  public init() {}

  /// Every setting in the order of the documentation, with its value in force and its source.
  public var effectiveSettings: [EffectiveSetting] {
    let defaults = Configuration()
    return SettingDescription.all.map { setting in
      EffectiveSetting(
        name: setting.fullName,
        value: setting.value(in: self),
        default: setting.value(in: defaults),
        source: sources[setting.fullName] ?? .builtIn)
    }
  }
}

/// One line of `taskctl config`.
public struct EffectiveSetting: Hashable, Sendable {
  /// With its table: `policy.CallbackTimeout`.
  public var name: String
  /// As it would be written in the file, without quotes: `6s`, `1024`, `true`.
  public var value: String
  public var `default`: String
  public var source: SettingSource
}
