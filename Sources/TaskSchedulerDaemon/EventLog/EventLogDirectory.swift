import Glibc
import LinuxSystem

/// Where event logs lie: one file each, `event-log.NUMBER`, the highest in force.
///
/// A new one is written under another name and gets its own when it is whole; so whenever the
/// daemon dies, one whole event log is there. The file of the one before is kept as `spare`, and is
/// the next one's: so that can be written, however full the file system is by then.
final class EventLogDirectory {
  /// Another user could write the state that the daemon would take over.
  struct Untrusted: Error, CustomStringConvertible {
    var path: String
    var reason: String

    var description: String { "the event log's directory \(path) (--event-log) \(reason)" }
  }

  let path: String
  /// For as long as this daemon lives, no other uses the folder.
  private let lock: FileDescriptor

  /// Makes the folder where it is missing.
  ///
  /// - Throws: ``Untrusted``; EBUSY where another daemon uses it, ELOOP where
  ///   its `lock` is a link.
  init(path: String, proc: ProcFS) throws {
    self.path = path
    try Folder.make(path: path)
    if let reason = Self.distrust(of: path) {
      throw Untrusted(path: path, reason: reason)
    }
    // taskctl release has it for some milliseconds.
    let lock = try Folder.lock(path: "\(path)/lock") { holder in
      (try? proc.stat(holder))??.command == "taskctl"
    }
    guard let lock else {
      throw SystemError(call: "another taskschedd uses \(path)", errno: EBUSY)
    }
    self.lock = lock
  }

  /// Why the daemon may not go on from what is in the folder: another user who may write it could
  /// name processes there, which the daemon would stop or end. Nil where it may.
  private static func distrust(of path: String) -> String? {
    let own = Users.effectiveUID
    let wanted = own == 0 ? "root" : "root or user \(own)"
    guard let facts = FileFacts(path: path) else { return "cannot be examined" }
    guard facts.owner == own || facts.owner == 0 else {
      return "belongs to user \(facts.owner); it must belong to \(wanted) (chown)"
    }
    guard facts.permissions & 0o022 == 0 else {
      let mode = String(facts.permissions & 0o777, radix: 8)
      return "may be written by others (mode \(mode)); only \(wanted) may write it (chmod go-w)"
    }
    return nil
  }

  func path(of number: UInt64) -> String { "\(path)/event-log.\(number)" }

  /// The numbers of the event logs in a folder, the highest first.
  static func numbers(in path: String) throws(BoundedFileError) -> [UInt64] {
    try Folder.names(path: path).compactMap { name in
      name.hasPrefix("event-log.") ? UInt64(name.dropFirst("event-log.".count)) : nil
    }.sorted(by: >)
  }

  var numbers: [UInt64] { (try? Self.numbers(in: path)) ?? [] }

  /// Makes the file of an event log that is to be written, with zeros in it.
  ///
  /// - Parameters:
  ///   - bytesCount: how long it is to be, or somewhat longer.
  ///   - least: how long it must be, where there is room for no more.
  func make(
    _ number: UInt64, bytesCount: Int, least: Int
  ) throws(SystemError) -> FileMapping {
    let path = unfinished(number)
    try Folder.remove(path: path)
    let bytesCount = Self.length(of: bytesCount)
    if spareBytesCount >= bytesCount, let spare = takeSpare(bytesCount, as: path) { return spare }
    do throws(SystemError) {
      return try FileMapping.create(path: path, bytesCount: bytesCount)
    } catch {
      guard spareBytesCount >= least, let spare = takeSpare(bytesCount, as: path) else {
        throw error
      }
      return spare
    }
  }

  /// Lengths go by steps, so that of two event logs of nearly the same one's file is long enough
  /// for the other.
  private static func length(of bytesCount: Int) -> Int {
    let step = 32 << 10
    return (bytesCount + step - 1) / step * step
  }

  private func unfinished(_ number: UInt64) -> String { "\(path)/unfinished.\(number)" }

  /// It is whole: it takes the place of all before it.
  func finish(_ number: UInt64) throws(SystemError) {
    try Folder.rename(unfinished(number), to: path(of: number))
    let earlier = numbers.filter { $0 < number }
    if let last = earlier.first { try Folder.rename(path(of: last), to: sparePath) }
    for number in earlier.dropFirst() { try Folder.remove(path: path(of: number)) }
  }

  // MARK: The spare one

  private var sparePath: String { "\(path)/spare" }

  private func takeSpare(_ bytesMax: Int, as path: String) -> FileMapping? {
    guard let mapping = try? FileMapping.reuse(path: sparePath, bytesMax: bytesMax),
      (try? Folder.rename(sparePath, to: path)) != nil
    else { return nil }
    return mapping
  }

  /// 0 where there is none.
  private var spareBytesCount: Int {
    guard let facts = FileFacts(path: sparePath), facts.isRegularFile else { return 0 }
    return facts.bytesCount
  }

  /// Sees to it that the next event log can be so long.
  ///
  /// - Throws: ENOSPC, EDQUOT; a shorter one stays.
  func keepSpare(bytesCount: Int) throws(SystemError) {
    let bytesCount = Self.length(of: bytesCount)
    guard spareBytesCount < bytesCount else { return }
    let path = "\(path)/unfinished-spare"
    try Folder.remove(path: path)
    _ = try FileMapping.create(path: path, bytesCount: bytesCount)
    try Folder.rename(path, to: sparePath)
  }

  /// Keeps an event log that nothing can be gone on from, for people; the one set aside before it
  /// is removed. Returns where it lies.
  func setAside(_ number: UInt64) throws(SystemError) -> String {
    let place = "\(path)/refused-event-log"
    try Folder.rename(self.path(of: number), to: place)
    return place
  }
}

