import Glibc
import LinuxSystem

/// Where journals lie: one file each, `journal.NUMBER`, the highest in force.
///
/// A new one is written under another name and gets its own when it is whole; so whenever the
/// daemon dies, one whole journal is there.
final class JournalFolder {
  let path: String
  /// For as long as this daemon lives, no other uses the folder.
  private let lock: FileDescriptor

  /// Makes the folder where it is missing.
  ///
  /// - Throws: EBUSY where another daemon uses it.
  init(path: String, proc: ProcFS) throws(SystemError) {
    self.path = path
    try Folder.make(path: path)
    // taskctl release has it for some milliseconds.
    let lock = try Folder.lock(path: "\(path)/lock") { holder in
      (try? proc.stat(holder))??.command == "taskctl"
    }
    guard let lock else {
      throw SystemError(call: "another taskschedd uses \(path)", errno: EBUSY)
    }
    self.lock = lock
  }

  func path(of number: UInt64) -> String { "\(path)/journal.\(number)" }

  /// The numbers of the journals in a folder, the highest first.
  static func numbers(in path: String) throws(BoundedFileError) -> [UInt64] {
    try Folder.names(path: path).compactMap { name in
      name.hasPrefix("journal.") ? UInt64(name.dropFirst("journal.".count)) : nil
    }.sorted(by: >)
  }

  var numbers: [UInt64] { (try? Self.numbers(in: path)) ?? [] }

  /// Makes the file of a journal that is to be written, as long as that needs.
  func make(_ number: UInt64, bytesCount: Int) throws(SystemError) -> FileMapping {
    try Folder.remove(path: unfinished(number))
    return try FileMapping.create(path: unfinished(number), bytesCount: bytesCount)
  }

  private func unfinished(_ number: UInt64) -> String { "\(path)/unfinished.\(number)" }

  /// It is whole: it takes the place of all before it.
  func finish(_ number: UInt64) throws(SystemError) {
    try Folder.rename(unfinished(number), to: path(of: number))
    for earlier in numbers where earlier < number { try Folder.remove(path: path(of: earlier)) }
  }

  /// Keeps a journal that nothing can be gone on from, for people; the one set aside before it is
  /// removed. Returns where it lies.
  func setAside(_ number: UInt64) throws(SystemError) -> String {
    let place = "\(path)/refused-journal"
    try Folder.rename(self.path(of: number), to: place)
    return place
  }
}

