import TaskSchedulerCore

/// Everything that the daemon reads from its files: its options, the limits and the manifests.
public struct Configuration: Equatable, Sendable {
  public var options = DaemonOptions()
  public var policy = Policy()
  /// The effective manifests, by id.
  public var manifests: [ApplicationID: ApplicationManifest] = [:]
  /// The source of each setting that a file sets, by the setting's full name.
  public var sources: [String: SettingSource] = [:]

  /// The number of manifests as messages write it: `1 manifest`, `3 manifests`.
  public var manifestCount: String {
    "\(manifests.count) manifest\(manifests.count == 1 ? "" : "s")"
  }

  /// Creates a configuration with the built-in defaults.
  public init() {}

  /// Every setting in the order of the documentation, with its effective value and its source.
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

/// A setting with its effective value, as `taskctl config` shows it.
public struct EffectiveSetting: Hashable, Sendable {
  /// The name with its table: `policy.CallbackTimeout`.
  public var name: String
  /// The value as written in the file: `6s`, `1024`, `true`. Without quotes, unless it is a list.
  public var value: String
  public var `default`: String
  public var source: SettingSource
}
