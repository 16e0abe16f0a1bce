import ArgumentParser
import Glibc
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire

/// Completes application ids with those that the daemon knows.
enum ApplicationCompletion {
  static let kind = CompletionKind.custom { words, _, _ in ids(words) }

  /// The ids; none where no daemon answers quickly.
  private static func ids(_ words: [String]) -> [String] {
    let input = ControlInterface.ListApplications.Input()
    guard
      let connection = try? Connection.connect(to: path(words)),
      let output = try? connection.call(
        ControlInterface.ListApplications.self, input, timeout: .seconds(2))
    else { return [] }
    return output.applications.map(\.application).filter(isPlain)
  }

  /// The daemon that the command line so far speaks of.
  static func path(_ words: [String]) -> SocketPath {
    if let option = words.firstIndex(of: "--socket"), option + 1 < words.count {
      return SocketPath(words[option + 1])
    }
    if let word = words.first(where: { $0.hasPrefix("--socket=") }) {
      return SocketPath(String(word.dropFirst("--socket=".count)))
    }
    if words.contains("--user") { return .user }
    if words.contains("--system") { return .system }
    return .standard
  }
}

/// Completes the numbers of notifications with those that the daemon has.
enum NotificationCompletion {
  static let kind = CompletionKind.custom { words, _, _ in
    let input = ControlInterface.ListNotifications.Input()
    guard
      let connection = try? Connection.connect(to: ApplicationCompletion.path(words)),
      let output = try? connection.call(
        ControlInterface.ListNotifications.self, input, timeout: .seconds(2))
    else { return [] }
    return output.notifications.map { "\($0.notification.id)" }
  }
}

/// Completes users with those of this machine.
enum OwnerCompletion {
  static let kind = CompletionKind.custom { _, _, _ in Users.names().filter(isPlain) }
}

/// Completes a program with those of PATH, and its arguments with files.
enum ProgramCompletion {
  static let kind = CompletionKind.custom { words, index, prefix in
    candidates(words: words, index: index, prefix: prefix, path: environment("PATH") ?? "")
  }

  /// - Parameters:
  ///   - words: the command line, `taskctl` first.
  ///   - index: that of the word to complete.
  ///   - prefix: what of that is there.
  static func candidates(
    words: [String], index: Int, prefix: String, path: String
  ) -> [String] {
    let isProgram = ProgramWords.index(in: Array(words.dropFirst().prefix(index))) == index - 1
    let names =
      isProgram && !prefix.contains("/")
      ? path.split(separator: ":").flatMap { programs(in: String($0)) } : files(prefix)
    return Set(names.filter { $0.hasPrefix(prefix) && isPlain($0) }).sorted()
  }

  private static func programs(in folder: String) -> [String] {
    names(in: folder).filter {
      access("\(folder)/\($0)", X_OK) == 0 && !isFolder("\(folder)/\($0)")
    }
  }

  /// The files whose paths may begin so, folders with a slash.
  private static func files(_ prefix: String) -> [String] {
    let folder = prefix.lastIndex(of: "/").map { String(prefix[...$0]) } ?? ""
    return names(in: folder.isEmpty ? "." : folder).map { name in
      isFolder(folder + name) ? "\(folder)\(name)/" : folder + name
    }
  }

  private static func names(in folder: String) -> [String] {
    ((try? Folder.names(path: folder)) ?? []).filter { $0 != "." && $0 != ".." }
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}

/// Whether a shell, which evaluates what it is given to complete with, finds nothing special in it.
private func isPlain(_ text: String) -> Bool {
  let others = Set("-_./+,:@%=".utf8)
  return !text.isEmpty
    && text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: others.contains(byte) || byte >= 0x80
      }
    }
}
