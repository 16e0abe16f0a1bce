import LinuxSystem
import TaskSchedulerCore

/// Reads the manifests of all folders.
struct ManifestLoader {
  private let paths: ConfigurationPaths
  private(set) var manifests: [ApplicationID: ApplicationManifest] = [:]
  private(set) var problems: [ConfigurationProblem] = []
  /// Names that a folder that wins has taken, by a manifest or a mask.
  private var taken: Set<String> = []

  private static let suffix = ".toml"

  init(paths: ConfigurationPaths) {
    self.paths = paths
  }

  mutating func load() {
    for folder in paths.manifestFolders {
      switch ConfigurationFile.tomlNames(in: folder) {
      case .failure(let failure): problems.append(failure.problem)
      case .success(let names):
        if names.isEmpty { continue }
        if let reason = distrust(ofFolder: folder) {
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
      if let reason = distrust(of: file.facts, path: path, in: folder) {
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
          message: "a manifest is named by its id, and \(quoted(name)) is none; an id is two or "
            + "more labels of letters, digits, - and _, joined by dots, such as "
            + "org.example.mail.toml"))
      return
    }
    let (document, syntaxProblems) = TOMLDocument.parse(bytes, file: path)
    problems += syntaxProblems
    guard let document else { return }
    // What names its user is the system daemon's affair: a user's daemon passes over it where the
    // two share the folder.
    if paths.scope == .user, !paths.ownManifestFolders.contains(folder),
      document.root[ManifestReader.Key.user.rawValue] != nil
    {
      return
    }
    let (manifest, found) = ManifestReader.read(document, id: id, scope: paths.scope)
    problems += found
    if found.isEmpty { manifests[id] = manifest }
  }

  /// Why a folder's manifests are not to be believed; nil if they are.
  private func distrust(ofFolder folder: String) -> String? {
    guard let facts = FileFacts(path: folder) else {
      return "cannot be looked at; its manifests would not be safe to run"
    }
    return distrust(of: facts)
  }

  /// Why a file is not to be believed. Where it is a link that leads out of its folder, every
  /// folder above the file counts too.
  private func distrust(of facts: FileFacts, path: String, in folder: String) -> String? {
    if let reason = distrust(of: facts) { return reason }
    guard Folder.isLink(path: path) else { return nil }
    guard let target = Folder.resolved(path: path), let base = Folder.resolved(path: folder) else {
      return "changed while it was read; try again"
    }
    var parent = target
    while let slash = parent.lastIndex(of: "/"), parent != "/" {
      parent = slash == parent.startIndex ? "/" : String(parent[..<slash])
      if parent == base { return nil }
      guard let facts = FileFacts(path: parent) else {
        return "leads to \(target), whose folder \(parent) cannot be looked at"
      }
      if let reason = distrust(of: facts) {
        return "leads to \(target), whose folder \(parent) \(reason)"
      }
    }
    return nil
  }

  private func distrust(of facts: FileFacts) -> String? {
    let trusted = paths.scope == .system ? "root" : "root or you"
    guard paths.trustedOwners.contains(facts.owner) else {
      return "belongs to uid \(facts.owner), who could so have programs run as another; "
        + "it must belong to \(trusted) (chown)"
    }
    // A user's own group may write where the umask is 002, as on several distributions.
    let forbidden: UInt32 = paths.scope == .system ? 0o022 : 0o002
    guard facts.permissions & forbidden == 0 else {
      let mode = String(facts.permissions & 0o777, radix: 8)
      return "may be written by others (mode \(mode)), who could so have programs run as another; "
        + "only \(trusted) may write it (chmod go-w)"
    }
    return nil
  }
}
