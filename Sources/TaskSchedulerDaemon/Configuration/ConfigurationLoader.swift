import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerWire

extension Configuration {
  /// Reads all files, starting from the defaults.
  ///
  /// Also returns the problems of all files (see ``ProblemList``). If there is a problem, the
  /// returned configuration lacks the refused settings, so the caller must keep its previous
  /// configuration.
  public static func load(
    from paths: ConfigurationPaths
  ) -> (configuration: Configuration, problems: [ConfigurationProblem]) {
    var settings = SettingsLoader()
    settings.load(from: paths)
    var manifests = ManifestLoader(paths: paths)
    manifests.load()
    return join(settings, manifests)
  }

  fileprivate static func join(
    _ settings: SettingsLoader, _ manifests: ManifestLoader
  ) -> (configuration: Configuration, problems: [ConfigurationProblem]) {
    var configuration = settings.configuration
    configuration.manifests = manifests.manifests
    return (configuration, settings.problems + manifests.problems)
  }

  /// Parses one text in the format of `taskschedd.toml`. Reads no files. Settings that the text
  /// does not contain have their defaults.
  public static func parse(
    _ bytes: [UInt8], file: String
  ) -> (configuration: Configuration, problems: [ConfigurationProblem]) {
    var settings = SettingsLoader()
    settings.apply(bytes, file: file)
    settings.checkRelations()
    return (settings.configuration, settings.problems)
  }
}

/// The configuration of a starting daemon. A separate thread reads the manifests, because there may
/// be hundreds.
struct ConfigurationPrefetch {
  private var settings = SettingsLoader()
  private let manifests: Future<ManifestLoader>

  init(from paths: ConfigurationPaths) {
    manifests = Future {
      var manifests = ManifestLoader(paths: paths)
      manifests.load()
      return manifests
    }
    settings.load(from: paths)
  }

  var logLevel: LogLevel { settings.configuration.options.logLevel }
  /// Whether a settings file has a problem. Does not consider the manifests, which the thread may
  /// still be reading.
  var hasProblems: Bool { !settings.problems.isEmpty }

  /// Waits until the thread has read all manifests, and returns the complete configuration. If
  /// there is a problem, logs each problem and returns nil.
  func whole(_ log: Log) -> Configuration? {
    let (configuration, problems) = Configuration.join(settings, manifests.value)
    for problem in problems {
      log.write(.error, problem.description, id: .configurationRefused)
    }
    return problems.isEmpty ? configuration : nil
  }
}

/// A loader of `taskschedd.toml` and its drop-ins. Later files override earlier ones.
struct SettingsLoader {
  private(set) var configuration = Configuration()
  private(set) var problems: [ConfigurationProblem] = []

  private static let fileName = "taskschedd.toml"

  /// Applies the main files in the order of increasing precedence. Then applies the drop-ins of all
  /// directories, ordered by file name. If several drop-ins have the same name, applies only the
  /// one in the directory with the highest precedence.
  mutating func load(from paths: ConfigurationPaths) {
    if let file = paths.explicitFile {
      if !applyFile(file) {
        problems.append(
          ConfigurationProblem(
            file: file, message: "no such file; --config must name an existing file"))
      }
      applyDropIns(folders: [file + ".d"])
    } else {
      for folder in paths.settingDirectories { _ = applyFile("\(folder)/\(Self.fileName)") }
      applyDropIns(folders: paths.settingDirectories.map { "\($0)/\(Self.fileName).d" })
    }
    checkRelations()
  }

  /// Applies a file. Returns false if it does not exist.
  private mutating func applyFile(_ path: String) -> Bool {
    switch ConfigurationFile.read(path) {
    case .missing: return false
    case .masked: break
    case .unreadable(let problem): problems.append(problem)
    case .file(let file): apply(file.bytes, file: path)
    }
    return true
  }

  private mutating func applyDropIns(folders: [String]) {
    var pathsByName: [String: String] = [:]
    for folder in folders {
      switch ConfigurationFile.tomlNames(in: folder) {
      case .success(let names): for name in names { pathsByName[name] = "\(folder)/\(name)" }
      case .failure(let failure): problems.append(failure.problem)
      }
    }
    let ordered = pathsByName.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    for (_, path) in ordered { _ = applyFile(path) }
  }

  /// Applies the settings of one file and collects its problems in the order of its lines.
  mutating func apply(_ bytes: [UInt8], file: String) {
    let (document, syntaxProblems) = TOMLDocument.parse(bytes, file: file)
    problems += syntaxProblems
    guard let document else { return }
    var found = ProblemList(of: file)
    for (key, node) in document.root where SettingDescription.Section(rawValue: key) == nil {
      apply(node, key: key, section: .daemon, document, &found)
    }
    for section in SettingDescription.Section.allCases where section != .daemon {
      switch document.root[section.rawValue] {
      case nil: break
      case .table(let members):
        for (key, node) in members { apply(node, key: key, section: section, document, &found) }
      case .some(let node):
        found.add(line: document.line(of: [.key(section.rawValue)]), key: section.rawValue) {
          "is \(node.kindName), not a table; write [\(section.rawValue)] on a line of its own, "
            + "followed by its settings"
        }
      }
    }
    problems += found.told
  }

  private mutating func apply(
    _ node: TOMLNode, key: String, section: SettingDescription.Section, _ document: TOMLDocument,
    _ found: inout ProblemList
  ) {
    let path: [TOMLPathComponent] =
      section == .daemon ? [.key(key)] : [.key(section.rawValue), .key(key)]
    let known = SettingDescription.all.first { $0.section == section && $0.name == key }
    let line = document.line(of: path)
    guard let setting = known else {
      return found.add(line: line, key: path.keyText) { Self.unknownKey(key, in: section) }
    }
    do {
      try setting.set(node, in: &configuration)
      configuration.sources[setting.fullName] = .file(
        path: document.file, line: line)
    } catch {
      let message = error.message
      found.add(line: line, key: path.keyText) { message }
    }
  }

  private static func unknownKey(_ key: String, in section: SettingDescription.Section) -> String {
    let sentence = "unknown setting"
    if let elsewhere = SettingDescription.all.first(where: { $0.name == key }) {
      switch elsewhere.section {
      case .daemon: return sentence + " here; move it to the top of the file, above any [table]"
      case .policy, .focus, .location:
        return sentence + " here; move it to [\(elsewhere.section.rawValue)]"
      }
    }
    // A mistyped table, such as [polcy], is an unknown key at the top level of the file. At this
    // level, the suggestion may therefore be a table.
    let names = SettingDescription.all.filter { $0.section == section }.map(\.name)
      + (section == .daemon
        ? SettingDescription.Section.allCases.map(\.rawValue).filter { !$0.isEmpty } : [])
    if let nearest = nearestName(to: key, among: names) {
      return sentence + "; did you mean \(nearest)?"
    }
    if let elsewhere = nearestName(to: key, among: SettingDescription.all.map(\.name)),
      let setting = SettingDescription.all.first(where: { $0.name == elsewhere })
    {
      return sentence + "; did you mean \(setting.fullName)?"
    }
    return sentence + "; 'taskctl config' lists all settings"
  }

  /// Checks the relations between limits, and attributes each problem to a file that sets one of
  /// the limits. Skips relations that involve a refused limit.
  mutating func checkRelations() {
    for sentence in configuration.policy.problems {
      let words = Set(sentence.split { !$0.isLetter }.map(String.init))
      let involved = SettingDescription.all.filter { words.contains($0.name) }
      let refused = Set(problems.compactMap(\.key))
      if involved.contains(where: { refused.contains($0.fullName) }) { continue }
      let values = involved.map { "\($0.name) is \($0.value(in: configuration))" }
        .joined(separator: ", ")
      let message = values.isEmpty ? sentence : "\(sentence); \(values)"
      let setting = involved.first { configuration.sources[$0.fullName] != nil }
      switch setting.flatMap({ configuration.sources[$0.fullName] }) ?? .builtIn {
      case .builtIn: problems.append(ConfigurationProblem(file: "default", message: message))
      case .file(let path, let line):
        problems.append(
          ConfigurationProblem(file: path, line: line, key: setting?.fullName, message: message))
      }
    }
  }
}
