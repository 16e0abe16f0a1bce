import FoundationEssentials
import TaskSchedulerWire

/// The program that generates the Swift types of the interfaces. Its only argument is the directory
/// of the package; the default is the working directory.
@main
enum GenerateInterfaces {
  static func main() throws {
    let root = CommandLine.arguments.count == 2 ? CommandLine.arguments[1] : "."
    try GeneratedSources(root: root).write()
  }
}

/// The generated files of a package.
struct GeneratedSources {
  /// The directory of the package.
  let root: String
  static let interfaces = "Sources/TaskSchedulerWire/Interfaces"
  static let directory = "Sources/TaskSchedulerWire/Generated"

  init(root: String) {
    self.root = root
  }

  /// Writes all files, and removes generated files of declarations that no longer exist.
  func write() throws {
    let texts = try self.texts()
    for path in existing() where texts[path] == nil {
      try FileManager.default.removeItem(atPath: "\(root)/\(path)")
    }
    for (path, text) in texts {
      let place = URL(filePath: "\(root)/\(path)")
      try FileManager.default.createDirectory(
        at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: place)
    }
  }

  /// Returns the files that ``write()`` would create, change or remove.
  func outdated() throws -> [String] {
    let texts = try self.texts()
    let wrong = texts.filter { path, text in
      let data = try? Data(contentsOf: URL(filePath: "\(root)/\(path)"))
      return data != Data(text.utf8)
    }
    return (Array(wrong.keys) + existing().filter { texts[$0] == nil }).sorted()
  }

  /// Returns the texts of all files by their paths relative to the package.
  private func texts() throws -> [String: String] {
    let interfaces = try self.interfaces()
    var texts: [String: String] = [:]
    for (path, text) in try InterfaceFiles(interfaces).texts {
      texts["\(Self.directory)/\(path)"] = text
    }
    return texts
  }

  private func existing() -> [String] {
    let paths = try? FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(Self.directory)")
    return (paths ?? []).filter { $0.hasSuffix(".swift") }.map { "\(Self.directory)/\($0)" }
  }

  private func interfaces() throws -> [InterfaceDescription] {
    let directory = "\(root)/\(Self.interfaces)"
    return try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
      .filter { $0.hasSuffix(".varlink") }.map { name in
        let data = try Data(contentsOf: URL(filePath: "\(directory)/\(name)"))
        do {
          return try InterfaceDescription(text: String(decoding: data, as: UTF8.self))
        } catch {
          throw GeneratorError(description: "\(name), \(error)")
        }
      }
  }
}
