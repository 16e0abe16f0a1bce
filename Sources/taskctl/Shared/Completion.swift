import ArgumentParser
import Glibc
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire

/// Completes application ids with the ids that the daemon knows.
enum ApplicationCompletion {
  static let kind = CompletionKind.custom { words, _, _ in ids(words) }

  /// Returns the ids, or nothing if no daemon answers within 2 s.
  private static func ids(_ words: [String]) -> [String] {
    let input = ControlInterface.ListApplications.Input()
    guard
      let connection = try? Connection.connect(to: path(words)),
      let output = try? connection.call(
        ControlInterface.ListApplications.self, input, timeout: .seconds(2))
    else { return [] }
    return output.applications.map(\.application).filter(isPlain)
  }

  /// Returns the socket of the daemon that an unfinished command line selects.
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

/// Completes notification ids with those that the daemon knows.
enum NotificationCompletion {
  static let kind = CompletionKind.custom { words, _, _ in ids(words) }

  /// Returns the ids on all pages. Returns nothing if a page takes longer than 2 s.
  private static func ids(_ words: [String]) -> [String] {
    guard let connection = try? Connection.connect(to: ApplicationCompletion.path(words)) else {
      return []
    }
    var ids: [String] = []
    var input = ControlInterface.ListNotifications.Input()
    repeat {
      guard
        let page = try? connection.call(
          ControlInterface.ListNotifications.self, input, timeout: .seconds(2))
      else { return [] }
      ids += page.notifications.map { "\($0.notification.id)" }
      input.after = page.next
    } while input.after != nil
    return ids
  }
}

/// Completes user names with the users of this machine.
enum OwnerCompletion {
  static let kind = CompletionKind.custom { _, _, _ in Users.names().filter(isPlain) }
}

/// Completes a program from PATH, and its arguments with file names.
enum ProgramCompletion {
  static let kind = CompletionKind.custom { words, index, prefix in
    candidates(words: words, index: index, prefix: prefix, path: environment("PATH") ?? "")
  }

  /// Returns the candidates for one word of a command line.
  ///
  /// - Parameters:
  ///   - words: The command line; `taskctl` is its first word.
  ///   - index: The index of the word to complete.
  ///   - prefix: The part of the word before the cursor.
  static func candidates(
    words: [String], index: Int, prefix: String, path: String
  ) -> [String] {
    let isProgram = ProgramArguments.index(in: Array(words.dropFirst().prefix(index))) == index - 1
    let names =
      isProgram && !prefix.contains("/")
      ? path.split(separator: ":").flatMap { programs(in: String($0)) } : files(prefix)
    return Set(names.filter { $0.hasPrefix(prefix) && isPlain($0) }).sorted()
  }

  private static func programs(in directory: String) -> [String] {
    names(in: directory).filter {
      access("\(directory)/\($0)", X_OK) == 0 && !isDirectory("\(directory)/\($0)")
    }
  }

  /// Returns the files whose paths begin with the prefix; directories end with a slash.
  private static func files(_ prefix: String) -> [String] {
    let directory = prefix.lastIndex(of: "/").map { String(prefix[...$0]) } ?? ""
    return names(in: directory.isEmpty ? "." : directory).map { name in
      isDirectory(directory + name) ? "\(directory)\(name)/" : directory + name
    }
  }

  private static func names(in directory: String) -> [String] {
    ((try? Directory.names(path: directory)) ?? []).filter { $0 != "." && $0 != ".." }
  }

  private static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}

/// Returns whether the text contains nothing that a shell would expand in a completion.
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
