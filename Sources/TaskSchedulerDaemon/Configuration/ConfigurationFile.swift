import LinuxSystem

/// Functions that read configuration files, and describe why a file could not be read.
enum ConfigurationFile {
  /// The size limit of a file in bytes. Source: this project; real files have a few kilobytes.
  static let bytesMax = 1 << 20

  /// The result of reading a path.
  enum Content {
    case missing
    /// An empty file or a link to /dev/null. A masked drop-in or manifest hides the files of the
    /// same name in directories of lower precedence.
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

  /// Returns the names in a directory that end in `.toml` and do not start with a dot.
  static func tomlNames(in folder: String) -> Result<[String], DirectoryProblem> {
    do {
      let names = try Directory.names(path: folder)
      return .success(names.filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") })
    } catch {
      let problem = ConfigurationProblem(
        file: folder, message: sentence(error, wanted: "a directory of .toml files"))
      return .failure(DirectoryProblem(problem: problem))
    }
  }

  struct DirectoryProblem: Error {
    var problem: ConfigurationProblem
  }

  private static func sentence(
    _ error: BoundedFileError, wanted: String = "a regular file"
  ) -> String {
    switch error {
    case .missing(let isDangling):
      isDangling
        ? "is a dangling symbolic link; repair or remove it, or link it to /dev/null to mask it"
        : "no such file"
    case .notAFile(let what): "is \(what); it must be \(wanted)"
    case .tooLarge(let bytesMax):
      "has more than \(ByteCount.format(bytesMax)) bytes, the maximum"
    case .failed(let error):
      "could not be read: \(error)"
    }
  }
}
