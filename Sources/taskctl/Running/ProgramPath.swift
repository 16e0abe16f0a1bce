import ArgumentParser
import Glibc
import LinuxSystem

/// Finds a program as a shell does.
enum ProgramPath {
  /// Returns the path of the program.
  ///
  /// - Throws: The exit code that a shell would return, after printing the reason.
  static func find(_ program: String) throws -> String {
    let directories = environment("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
    if let path = SpawnRequest.searchPath(program, in: directories) { return path }
    let name = PrintableText.of(program)
    let isThere = directories.split(separator: ":", omittingEmptySubsequences: false).contains {
      isFile($0.isEmpty ? "./\(program)" : "\($0)/\(program)")
    }
    if isThere {
      Output.complain("taskctl: '\(name)' is in PATH but is not executable")
      throw ExitCode(ManagedProgram.notExecutable)
    }
    Output.complain("taskctl: '\(name)' is not in PATH")
    throw ExitCode(ManagedProgram.notFound)
  }

  /// Returns the absolute form of a path.
  static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    guard let directory = getcwd(nil, 0) else { return path }
    defer { free(directory) }
    return "\(String(cString: directory))/\(path)"
  }

  private static func isFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }
}
