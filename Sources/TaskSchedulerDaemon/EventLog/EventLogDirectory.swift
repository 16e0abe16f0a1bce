import Glibc
import LinuxSystem
import TaskSchedulerEventLog

/// The directory of the event logs. Each event log is a file `event-log.NUMBER`; the file with the
/// highest number is current.
///
/// The daemon writes a new event log under another name, and renames it when it is complete. A
/// complete event log therefore exists at whatever instant the daemon dies. The daemon renames the
/// file of the previous event log to `spare`, and writes the next event log into this file. It can
/// therefore write the next event log even if the file system is full.
final class EventLogDirectory: EventLogFiles {
  /// The error if another user could change the state that the daemon takes over.
  struct UntrustedDirectory: Error, CustomStringConvertible {
    var path: String
    var reason: String

    var description: String { "the event log's directory \(path) (--event-log) \(reason)" }
  }

  let path: String
  /// The lock that keeps other daemons out of the directory while this daemon lives.
  private let lock: FileDescriptor

  /// Creates the directory if it does not exist, and locks it.
  ///
  /// - Throws: ``UntrustedDirectory``; EBUSY if another daemon uses the directory; ELOOP if the
  ///   file `lock` in the directory is a symbolic link.
  init(path: String, proc: ProcFS) throws {
    self.path = path
    try Directory.make(path: path)
    if let reason = Self.reasonToDistrust(of: path) {
      throw UntrustedDirectory(path: path, reason: reason)
    }
    // `taskctl release` holds the lock for some milliseconds, so wait until it has ended.
    let lock = try Directory.lock(path: "\(path)/lock") { holder in
      (try? proc.stat(holder))??.command == "taskctl"
    }
    guard let lock else {
      throw SystemError(call: "another taskschedd uses \(path)", errno: EBUSY)
    }
    self.lock = lock
  }

  /// Returns the reason why the daemon must not take over the state in the directory; nil if it
  /// may. Another user with write access could make the daemon stop or kill any process.
  private static func reasonToDistrust(of path: String) -> String? {
    let own = Users.effectiveUID
    let wanted = own == 0 ? "root" : "root or user \(own)"
    guard let facts = FileStatus(path: path) else { return "cannot be examined" }
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

  /// Returns the numbers of the event logs in a directory, the highest first.
  static func numbers(in path: String) throws(BoundedFileError) -> [UInt64] {
    try Directory.names(path: path).compactMap { name in
      name.hasPrefix("event-log.") ? UInt64(name.dropFirst("event-log.".count)) : nil
    }.sorted(by: >)
  }

  var numbers: [UInt64] { (try? Self.numbers(in: path)) ?? [] }
  var numberLast: UInt64? { numbers.first }

  func make(
    _ number: UInt64, bytesCount: Int, least: Int
  ) throws(SystemError) -> any EventLogFile {
    MappedEventLog(try map(number, bytesCount: bytesCount, least: least))
  }

  private func map(
    _ number: UInt64, bytesCount: Int, least: Int
  ) throws(SystemError) -> FileMapping {
    let path = unfinished(number)
    try Directory.remove(path: path)
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

  /// Rounds a length up to a multiple of 32 KiB. The file of one event log is then long enough for
  /// another event log of nearly the same length.
  private static func length(of bytesCount: Int) -> Int {
    let step = 32 << 10
    return (bytesCount + step - 1) / step * step
  }

  private func unfinished(_ number: UInt64) -> String { "\(path)/unfinished.\(number)" }

  func finish(_ number: UInt64) throws(SystemError) {
    try Directory.rename(unfinished(number), to: path(of: number))
    let earlier = numbers.filter { $0 < number }
    if let last = earlier.first { try Directory.rename(path(of: last), to: sparePath) }
    for number in earlier.dropFirst() { try Directory.remove(path: path(of: number)) }
  }

  // MARK: The spare file

  private var sparePath: String { "\(path)/spare" }

  private func takeSpare(_ bytesMax: Int, as path: String) -> FileMapping? {
    guard let mapping = try? FileMapping.reuse(path: sparePath, bytesMax: bytesMax),
      (try? Directory.rename(sparePath, to: path)) != nil
    else { return nil }
    return mapping
  }

  /// The length of the spare file, in bytes; 0 if there is none.
  private var spareBytesCount: Int {
    guard let facts = FileStatus(path: sparePath), facts.isRegularFile else { return 0 }
    return facts.bytesCount
  }

  /// Makes the spare file at least `bytesCount` bytes long.
  ///
  /// - Throws: ENOSPC or EDQUOT if there is no space. An existing spare file then keeps its length.
  func keepSpare(bytesCount: Int) throws(SystemError) {
    let bytesCount = Self.length(of: bytesCount)
    guard spareBytesCount < bytesCount else { return }
    let path = "\(path)/unfinished-spare"
    try Directory.remove(path: path)
    _ = try FileMapping.create(path: path, bytesCount: bytesCount)
    try Directory.rename(path, to: sparePath)
  }

  /// Renames an unusable event log, so that an operator can examine it, and returns the new path.
  /// Replaces an event log that was set aside earlier.
  func setAside(_ number: UInt64) throws(SystemError) -> String {
    let place = "\(path)/refused-event-log"
    try Directory.rename(self.path(of: number), to: place)
    return place
  }
}


/// A file of an event log, mapped into memory.
final class MappedEventLog: EventLogFile {
  private let mapping: FileMapping

  init(_ mapping: consuming FileMapping) { self.mapping = mapping }

  var bytes: UnsafeMutableRawBufferPointer { mapping.bytes }
}
