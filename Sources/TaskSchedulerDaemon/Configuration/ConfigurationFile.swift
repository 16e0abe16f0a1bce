import LinuxSystem

/// Reads the files of the configuration, and says in words what is wrong with one.
enum ConfigurationFile {
  /// The longest file that is read. Source: this project; a real one has some kilobytes.
  static let bytesMax = 1 << 20

  /// What stands at a path.
  enum Content {
    case missing
    /// Empty, or a link to /dev/null: it hides the file of the same name in a folder that yields.
    case masked
    case file(BoundedFile)
    case unreadable(ConfigurationProblem)
  }

  static func read(_ path: String) -> Content {
    do {
      let file = try BoundedFile(path: path, bytesMax: bytesMax)
      return file.bytes.isEmpty ? .masked : .file(file)
    } catch .missing(isDangling: false) {
      return .missing
    } catch {
      return .unreadable(ConfigurationProblem(file: path, message: sentence(error)))
    }
  }

  /// The names in a folder that end in `.toml` and do not start with a dot.
  static func tomlNames(in folder: String) -> Result<[String], FolderProblem> {
    do {
      let names = try Folder.names(path: folder)
      return .success(names.filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") })
    } catch {
      let problem = ConfigurationProblem(
        file: folder, message: sentence(error, wanted: "a folder of .toml files"))
      return .failure(FolderProblem(problem: problem))
    }
  }

  struct FolderProblem: Error {
    var problem: ConfigurationProblem
  }

  private static func sentence(
    _ error: BoundedFileError, wanted: String = "a regular file"
  ) -> String {
    switch error {
    case .missing(let isDangling):
      isDangling
        ? "is a link that leads nowhere; mend or remove it, or link it to /dev/null to mask it"
        : "there is no such file"
    case .notAFile(let what): "is \(what); \(wanted) belongs here"
    case .tooLarge(let bytesMax):
      "has more than \(ByteCount.format(bytesMax)) bytes, the most that is read"
    case .failed(let error):
      "cannot be read: \(error)"
    }
  }
}
