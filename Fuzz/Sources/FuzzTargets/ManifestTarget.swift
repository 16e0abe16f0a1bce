import TaskSchedulerCore
import TaskSchedulerDaemon

/// Reads a file as a manifest, once for the system's daemon and once for a user's daemon. The
/// reader also receives the id from the file's name, and compares it with the id in the file. The
/// target passes the id in the file if this id is valid, and a default id otherwise.
enum ManifestTarget {
  static func run(_ input: UnsafeRawBufferPointer) throws {
    let bytes = Array(input)
    let file = "manifest.toml"
    let (document, faults) = TOMLDocument.parse(bytes, file: file)
    guard let document else {
      try require(!faults.isEmpty, "a file was refused without a problem")
      return try ProblemCheck.run(faults, of: bytes)
    }
    for key in document.root.keys {
      try require(document.line(of: [.key(key)]) != nil, "the key \(key) has no line number")
    }
    var id = ApplicationID("org.example.fuzz")
    if case .string(let name) = document.root["id"] { id = ApplicationID(name) ?? id }
    guard let id else { return }
    for scope in [ConfigurationPaths.Scope.system, .user] {
      let (manifest, problems) = ManifestReader.read(document, id: id, scope: scope)
      try ProblemCheck.run(problems, of: bytes)
      if problems.isEmpty { try check(manifest) }
    }
  }

  /// Checks that the strings that execve(2) receives contain no NUL, which would truncate them.
  private static func check(_ manifest: ApplicationManifest) throws {
    let folder = manifest.workingDirectory.map { [$0] } ?? []
    for text in manifest.command + folder + manifest.environment.flatMap({ [$0.key, $0.value] }) {
      try require(!text.utf8.contains(0), "a NUL would truncate \(text.debugDescription)")
    }
    for name in manifest.environment.keys {
      try require(!name.utf8.contains(0x3D), "a variable's name holds '=': \(name)")
    }
    _ = manifest.manifest(daemonUser: UserID(0))
  }
}
