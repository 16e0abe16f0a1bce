import Glibc

/// Making another program of our own process.
public enum Execution {
  /// execve(2). File descriptors without FD_CLOEXEC stay open.
  ///
  /// - Parameters:
  ///   - arguments: with the program's name as the first.
  ///   - environment: entries `KEY=value`; all of it, nothing is inherited.
  /// - Returns: only where it failed; the errno.
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

  /// Puts another open file in place of one of ours: dup2(2).
  public static func place(_ source: Int32, at target: Int32) throws(SystemError) {
    try check("dup2") { dup2(source, target) }
  }

  /// chdir(2).
  public static func enter(_ directory: String) throws(SystemError) {
    try check("chdir \(directory)") { chdir(directory) }
  }
}
