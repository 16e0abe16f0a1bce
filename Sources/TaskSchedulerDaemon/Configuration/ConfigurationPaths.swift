/// The directories of the configuration and the manifests.
public struct ConfigurationPaths: Hashable, Sendable {
  /// The kind of daemon.
  public enum Scope: Hashable, Sendable {
    /// The system's daemon, which runs applications as the users that their manifests name.
    case system
    /// A user's own daemon.
    case user
  }

  public var scope: Scope
  /// The directories that may contain `taskschedd.toml` and `taskschedd.toml.d/`, in the order of
  /// increasing precedence.
  public var settingDirectories: [String]
  /// The directories of manifests, in the order of decreasing precedence.
  public var manifestDirectories: [String]
  /// The directories in `manifestDirectories` that belong to the user. The system's daemon and
  /// users' daemons share the other directories.
  public var ownManifestDirectories: Set<String>
  /// The file given by `--config`, which replaces the search for `taskschedd.toml`.
  public var explicitFile: String?
  /// The uids that may own a manifest. The daemon refuses manifests of other owners, because a
  /// manifest can run programs as another user.
  public var trustedOwners: Set<UInt32>

  private static let systemSettingDirectories = ["/usr/share/taskschedd", "/etc/taskschedd"]
  private static let systemManifestDirectories = [
    "/etc/taskschedd/applications", "/usr/share/taskschedd/applications",
  ]

  /// Returns the paths of the system's daemon, relative to the directory `root`. If `root` is
  /// empty, the paths begin at the root directory of the machine.
  public static func system(
    root: String = "", explicitFile: String? = nil, trustedOwners: Set<UInt32> = [0]
  ) -> ConfigurationPaths {
    ConfigurationPaths(
      scope: .system,
      settingDirectories: systemSettingDirectories.map { root + $0 },
      manifestDirectories: systemManifestDirectories.map { root + $0 },
      ownManifestDirectories: [],
      explicitFile: explicitFile,
      trustedOwners: trustedOwners)
  }

  /// Returns the paths of a user's daemon according to the XDG base directory specification, with
  /// the system's paths relative to `root`.
  ///
  /// Ignores XDG_CONFIG_HOME and XDG_DATA_HOME if they contain a relative path, as the
  /// specification demands. If a variable is ignored or not set, uses the default directory in
  /// HOME. If HOME is not an absolute path, the user has no such directory.
  public static func user(
    uid: UInt32, environment: [String: String], root: String = "", explicitFile: String? = nil
  ) -> ConfigurationPaths {
    let configHome = folder("XDG_CONFIG_HOME", orInHome: ".config", environment)
    let dataHome = folder("XDG_DATA_HOME", orInHome: ".local/share", environment)
    let own = [configHome, dataHome].compactMap { $0.map { $0 + "/taskschedd/applications" } }
    return ConfigurationPaths(
      scope: .user,
      settingDirectories: systemSettingDirectories.map { root + $0 }
        + (configHome.map { [$0 + "/taskschedd"] } ?? []),
      manifestDirectories: own + systemManifestDirectories.map { root + $0 },
      ownManifestDirectories: Set(own),
      explicitFile: explicitFile,
      trustedOwners: [0, uid])
  }

  private static func folder(
    _ variable: String, orInHome relative: String, _ environment: [String: String]
  ) -> String? {
    if let folder = environment[variable], folder.hasPrefix("/") { return folder }
    guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
    return home + "/" + relative
  }
}
