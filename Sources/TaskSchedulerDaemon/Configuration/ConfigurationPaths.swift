/// Where the configuration and the manifests are looked for.
public struct ConfigurationPaths: Hashable, Sendable {
  /// Whose daemon it is.
  public enum Scope: Hashable, Sendable {
    /// The machine's: runs applications as the users that their manifests name.
    case system
    /// A user's own.
    case user
  }

  public var scope: Scope
  /// The folders that may hold `taskschedd.toml` and `taskschedd.toml.d/`, the one that
  /// yields first.
  public var settingFolders: [String]
  /// The folders of manifests, the one that wins first.
  public var manifestFolders: [String]
  /// Those of `manifestFolders` that are the user's own; the system's and users' daemons share
  /// the others.
  public var ownManifestFolders: Set<String>
  /// The file of `--config`, which replaces the search for `taskschedd.toml`.
  public var explicitFile: String?
  /// The uids that may own a manifest: who else writes one would have it run as somebody else.
  public var trustedOwners: Set<UInt32>

  private static let systemSettingFolders = ["/usr/share/taskschedd", "/etc/taskschedd"]
  private static let systemManifestFolders = [
    "/etc/taskschedd/applications", "/usr/share/taskschedd/applications",
  ]

  /// The system daemon's paths, below `root` ("" for the machine's own).
  public static func system(
    root: String = "", explicitFile: String? = nil, trustedOwners: Set<UInt32> = [0]
  ) -> ConfigurationPaths {
    ConfigurationPaths(
      scope: .system,
      settingFolders: systemSettingFolders.map { root + $0 },
      manifestFolders: systemManifestFolders.map { root + $0 },
      ownManifestFolders: [],
      explicitFile: explicitFile,
      trustedOwners: trustedOwners)
  }

  /// A user daemon's paths by the XDG base directory specification, the system's below `root`.
  /// Variables that hold no absolute path are passed over, as the specification asks; without them
  /// and HOME the user has no folders.
  public static func user(
    uid: UInt32, environment: [String: String], root: String = "", explicitFile: String? = nil
  ) -> ConfigurationPaths {
    let configHome = folder("XDG_CONFIG_HOME", orInHome: ".config", environment)
    let dataHome = folder("XDG_DATA_HOME", orInHome: ".local/share", environment)
    let own = [configHome, dataHome].compactMap { $0.map { $0 + "/taskschedd/applications" } }
    return ConfigurationPaths(
      scope: .user,
      settingFolders: systemSettingFolders.map { root + $0 }
        + (configHome.map { [$0 + "/taskschedd"] } ?? []),
      manifestFolders: own + systemManifestFolders.map { root + $0 },
      ownManifestFolders: Set(own),
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
