// `environ` is a variable; nothing in this program changes it.
@preconcurrency import Glibc

/// The environment of a program that is started for the caller.
enum ProgramEnvironment {
  /// Ours with these variables in place of any of their names.
  static func ours(with variables: [(name: String, value: String)]) -> [String] {
    var entries: [String] = []
    var next = environ
    while let entry = next.pointee {
      entries.append(String(cString: entry))
      next += 1
    }
    return merged(entries, variables)
  }

  /// Entries `NAME=value`.
  static func merged(
    _ entries: [String], _ variables: [(name: String, value: String)]
  ) -> [String] {
    let kept = entries.filter { entry in
      !variables.contains { entry.hasPrefix("\($0.name)=") }
    }
    return kept + variables.map { "\($0.name)=\($0.value)" }
  }
}
