import Glibc

/// Changes to the program and the descriptors of this process.
public enum Execution {
  /// Replaces the program of this process: execve(2). Descriptors without FD_CLOEXEC stay open.
  ///
  /// - Parameters:
  ///   - arguments: The arguments; the first is the program's name.
  ///   - environment: Entries `KEY=value`. The program inherits no other entries.
  /// - Returns: The errno. Does not return if it succeeds.
  public static func replace(
    _ path: String, arguments: [SystemString], environment: [SystemString]
  ) -> Int32 {
    withCStrings(arguments) { argv in
      withCStrings(environment) { envp in
        _ = execve(path, argv, envp)
        return errno
      }
    }
  }

  /// Makes the descriptor `target` refer to the open file of `source`: dup2(2).
  public static func place(_ source: Int32, at target: Int32) throws(SystemError) {
    try check("dup2") { dup2(source, target) }
  }

  /// Changes the working directory: chdir(2).
  public static func enter(_ directory: String) throws(SystemError) {
    try check("chdir \(directory)") { chdir(directory) }
  }
}
