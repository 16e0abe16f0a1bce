import Glibc

/// Changes to the program and the descriptors of this process.
public enum Execution {
  /// execve(2). File descriptors without FD_CLOEXEC stay open.
  ///
  /// - Parameters:
  ///   - arguments: with the program's name as the first.
  ///   - environment: entries `KEY=value`. The program inherits no others.
  /// - Returns: the errno. Does not return if it succeeds.
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

  /// Replaces an open file of this process: dup2(2).
  public static func place(_ source: Int32, at target: Int32) throws(SystemError) {
    try check("dup2") { dup2(source, target) }
  }

  /// chdir(2).
  public static func enter(_ directory: String) throws(SystemError) {
    try check("chdir \(directory)") { chdir(directory) }
  }
}
