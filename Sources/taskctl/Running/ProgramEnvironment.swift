// `environ` is a mutable global; nothing in this program changes it.
@preconcurrency import Glibc
import LinuxSystem

/// The environment and the arguments that taskctl passes on to a program.
enum ProgramEnvironment {
  /// Returns the environment of this process, with the given variables added or replaced.
  static func ours(with variables: [(name: String, value: String)]) -> [SystemString] {
    var entries: [SystemString] = []
    var next = environ
    while let entry = next.pointee {
      entries.append(SystemString(cString: entry))
      next += 1
    }
    return merged(entries, variables)
  }

  /// Returns `NAME=value` entries, with the given variables added or replaced.
  static func merged(
    _ entries: [SystemString], _ variables: [(name: String, value: String)]
  ) -> [SystemString] {
    let kept = entries.filter { entry in
      !variables.contains { entry.bytes.starts(with: "\($0.name)=".utf8) }
    }
    return kept + variables.map { SystemString("\($0.name)=\($0.value)") }
  }

  /// Returns the last arguments of this process, byte for byte.
  static func lastArguments(_ count: Int) -> [SystemString] {
    let all = Int(CommandLine.argc)
    return (max(0, all - count)..<all).compactMap { index in
      CommandLine.unsafeArgv[index].map { SystemString(cString: $0) }
    }
  }
}
