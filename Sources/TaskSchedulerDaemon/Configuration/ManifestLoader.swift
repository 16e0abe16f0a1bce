import LinuxSystem
import TaskSchedulerCore

/// A loader of the manifests of all directories.
struct ManifestLoader {
  private let paths: ConfigurationPaths
  private(set) var manifests: [ApplicationID: ApplicationManifest] = [:]
  private(set) var problems: [ConfigurationProblem] = []
  /// The file names that a directory of higher precedence already contains.
  private var taken: Set<String> = []

  private static let suffix = ".toml"

  init(paths: ConfigurationPaths) {
    self.paths = paths
  }

  mutating func load() {
    for folder in paths.manifestDirectories {
      switch ConfigurationFile.tomlNames(in: folder) {
      case .failure(let failure): problems.append(failure.problem)
      case .success(let names):
        if names.isEmpty { continue }
        if let reason = reasonToDistrust(ofDirectory: folder) {
          problems.append(ConfigurationProblem(file: folder, message: reason))
          continue
        }
        for name in names where taken.insert(name).inserted { load(name, in: folder) }
      }
    }
  }

  private mutating func load(_ name: String, in folder: String) {
    let path = "\(folder)/\(name)"
    switch ConfigurationFile.read(path) {
    case .missing, .masked: break
    case .unreadable(let problem): problems.append(problem)
    case .file(let file):
      if let reason = reasonToDistrust(of: file.facts, path: path, in: folder) {
        problems.append(ConfigurationProblem(file: path, message: reason))
        return
      }
      load(file.bytes, id: String(name.dropLast(Self.suffix.count)), path: path, folder: folder)
    }
  }

  private mutating func load(_ bytes: [UInt8], id name: String, path: String, folder: String) {
    guard let id = ApplicationID(name) else {
      problems.append(
        ConfigurationProblem(
          file: path,
          message: "the name of a manifest is its application id, and \(quoted(name)) is not one; "
            + "use two or more labels of letters, digits, - and _, joined by dots, such as "
            + "org.example.mail.toml"))
      return
    }
    let (document, syntaxProblems) = TOMLDocument.parse(bytes, file: path)
    problems += syntaxProblems
    guard let document else { return }
    // In a shared directory, only the system's daemon uses manifests that name a user.
    if paths.scope == .user, !paths.ownManifestDirectories.contains(folder),
      document.root[ManifestReader.Key.user.rawValue] != nil
    {
      return
    }
    let (manifest, found) = ManifestReader.read(document, id: id, scope: paths.scope)
    problems += found
    if found.isEmpty { manifests[id] = manifest }
  }

  /// Returns the reason why the daemon does not trust the manifests of a directory; nil if the
  /// daemon trusts them.
  private func reasonToDistrust(ofDirectory folder: String) -> String? {
    guard let facts = FileStatus(path: folder) else {
      return "could not be examined; running its manifests would be unsafe"
    }
    return reasonToDistrust(of: facts)
  }

  /// Returns the reason why the daemon does not trust a file; nil if the daemon trusts the file. If
  /// the file is a link out of its directory, every directory above the link's target must be
  /// trusted, too.
  private func reasonToDistrust(of facts: FileStatus, path: String, in folder: String) -> String? {
    if let reason = reasonToDistrust(of: facts) { return reason }
    guard Directory.isLink(path: path) else { return nil }
    guard let target = Directory.resolved(path: path), let base = Directory.resolved(path: folder)
    else {
      return "changed while it was read; reload the configuration"
    }
    var parent = target
    while let slash = parent.lastIndex(of: "/"), parent != "/" {
      parent = slash == parent.startIndex ? "/" : String(parent[..<slash])
      if parent == base { return nil }
      guard let facts = FileStatus(path: parent) else {
        return "is a link to \(target), whose directory \(parent) could not be examined"
      }
      if let reason = reasonToDistrust(of: facts) {
        return "is a link to \(target), whose directory \(parent) \(reason)"
      }
    }
    return nil
  }

  private func reasonToDistrust(of facts: FileStatus) -> String? {
    let trusted = paths.scope == .system ? "root" : "root or you"
    guard paths.trustedOwners.contains(facts.owner) else {
      return "is owned by uid \(facts.owner), which could run programs as other users; "
        + "the owner must be \(trusted) (chown)"
    }
    // With umask 002, the default of several distributions, the user's own group can write to new
    // files. A user's daemon therefore permits write access by the group.
    let forbidden: UInt32 = paths.scope == .system ? 0o022 : 0o002
    guard facts.permissions & forbidden == 0 else {
      let mode = String(facts.permissions & 0o777, radix: 8)
      return "is writable by others (mode \(mode)), who could run programs as other users; "
        + "only \(trusted) may have write access (chmod go-w)"
    }
    return nil
  }
}
