import ArgumentParser
import Glibc
import LinuxSystem

/// Finds a program as a shell does.
enum ProgramPath {
  /// The path of the program.
  ///
  /// - Throws: the exit code that a shell would return, having said why.
  static func find(_ program: String) throws -> String {
    let folders = environment("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
    if let path = SpawnRequest.searchPath(program, in: folders) { return path }
    let name = PrintableText.of(program)
    let isThere = folders.split(separator: ":", omittingEmptySubsequences: false).contains {
      isFile($0.isEmpty ? "./\(program)" : "\($0)/\(program)")
    }
    if isThere {
      Output.complain("taskctl: '\(name)' is in PATH, but may not be executed")
      throw ExitCode(ManagedProgram.notExecutable)
    }
    Output.complain("taskctl: there is no program '\(name)' in PATH")
    throw ExitCode(ManagedProgram.notFound)
  }

  /// The same file, wherever the program goes.
  static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    guard let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    return "\(String(cString: folder))/\(path)"
  }

  private static func isFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }
}
