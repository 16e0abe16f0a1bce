import Glibc
import LinuxSystem

/// A client's record of its actions and of the events that it has received. It consists of words in
/// a shared file, so that the verifier can read it even when the client is stopped or has been
/// killed.
struct Record {
  enum Field: Int {
    /// The number of writes of the record. The last word of the record repeats this number, so that
    /// the reader detects an incomplete write.
    case version
    case pid
    /// The number of ticks, which the client counts about every 50 ms and at each callback. It must
    /// not change during a suspension.
    case ticks
    case connectionsLost
    case callbacks, acknowledgements
    case begins, ends, expirations
    /// The earliest and latest time at which the daemon may end the client's background time, in
    /// nanoseconds since boot; 0 if unknown. An absence of the daemon may postpone the end.
    case limitNotBefore, limitNotAfter
    /// The time since which the client waits for the answer to a call; 0 if it does not wait.
    case callSince
    /// 1 if the client will not end its tasks, so that the daemon kills it at the limit.
    case isCareless
  }

  static let wordCount = 64
  static let tasksMax = 12
  private static let tasks = 20..<(20 + tasksMax)
  private static let endings = 40..<60

  fileprivate var words = [Int64](repeating: 0, count: wordCount)

  subscript(field: Field) -> Int64 {
    get { words[field.rawValue] }
    set { words[field.rawValue] = newValue }
  }

  var pid: Int32 { Int32(truncatingIfNeeded: self[.pid]) }

  /// The tasks that the daemon has granted, except those that the client has ended or begun to end.
  var outstanding: [Int] { words[Self.tasks].filter { $0 > 0 }.map(Int.init) }
  /// The tasks whose end the daemon has most recently acknowledged.
  var endedLast: [Int] { words[Self.endings].filter { $0 > 0 }.map(Int.init) }

  var hasRoom: Bool { words[Self.tasks].contains(0) }

  mutating func began(_ task: Int) {
    guard let free = Self.tasks.first(where: { words[$0] == 0 }) else { return }
    words[free] = Int64(task)
    self[.begins] += 1
  }

  /// Records that the client is about to end the task. From then on, the daemon need not list the
  /// task.
  mutating func ending(_ task: Int) {
    for index in Self.tasks where words[index] == Int64(task) { words[index] = -Int64(task) }
  }

  /// Removes a task from the record. The daemon may or may not still list the task.
  mutating func released(_ task: Int) {
    for index in Self.tasks where abs(words[index]) == Int64(task) { words[index] = 0 }
  }

  mutating func ended(_ task: Int) {
    released(task)
    words[Self.endings.lowerBound + Int(self[.ends]) % Self.endings.count] = Int64(task)
    self[.ends] += 1
  }

  /// Removes all tasks, because the daemon no longer knows the client.
  mutating func forgetTasks() {
    for index in Self.tasks { words[index] = 0 }
    for index in Self.endings { words[index] = 0 }
  }
}

/// The file of all records, one page each. The first page belongs to the campaign, and all clients
/// read it.
final class RecordFile: Sendable {
  private let descriptor: FileDescriptor
  private static let page = 4096

  /// - Parameter path: the path of the file. If it does not exist, it is created with write access
  ///   for every user.
  init(path: String) {
    let number = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
    precondition(number >= 0, "open \(path): \(SystemError.describe(errno))")
    descriptor = FileDescriptor(taking: number)
    fchmod(number, 0o666)
  }

  /// The phases of the campaign. All clients are in the same phase.
  enum Phase: Int64 {
    case work = 0
    /// The clients end all tasks, and begin no new ones.
    case settle = 1
  }

  var phase: Phase {
    get { Phase(rawValue: read(slot: 0)?[.ticks] ?? 0) ?? .work }
    set {
      var record = Record()
      record[.ticks] = newValue.rawValue
      write(&record, slot: 0)
    }
  }

  func write(_ record: inout Record, slot: Int) {
    record[.version] += 1
    record.words[Record.wordCount - 1] = record[.version]
    record.words.withUnsafeBytes { bytes in
      let count = pwrite(descriptor.rawValue, bytes.baseAddress, bytes.count, slot * Self.page)
      precondition(count == bytes.count, "writing the records: \(SystemError.describe(errno))")
    }
  }

  /// Returns the record of a client; nil if it has none yet.
  func read(slot: Int) -> Record? {
    var record = Record()
    // Tries again after an incomplete write. A stopped client has no incomplete write, because the
    // kernel does not stop a process in the middle of a write.
    for _ in 0..<1000 {
      let count = record.words.withUnsafeMutableBytes { bytes in
        pread(descriptor.rawValue, bytes.baseAddress, bytes.count, slot * Self.page)
      }
      guard count == Record.wordCount * 8 else { return nil }
      if record[.version] == record.words[Record.wordCount - 1] {
        return record[.version] == 0 ? nil : record
      }
      sched_yield()
    }
    return nil
  }
}

/// A file to which all processes append lines: violations, and events for the verifier. A line is
/// never mixed with another one.
final class Events: Sendable {
  /// One line of the file.
  struct Line {
    enum Kind: String {
      /// A violated promise, which the text names.
      case violation
      /// The daemon closed a connection. The text is "late" if the client may have been suspended
      /// at that time, and "young" if the daemon need not have saved the connection yet.
      case lost
      /// An expiration arrived. The text is its due time, if known.
      case expired
      /// The daemon may soon kill the client: a task has expired, or the client is about to begin a
      /// task when the limit may be near. The text is "NOT-BEFORE NOT-AFTER": the earliest and
      /// latest time at which the daemon kills the client if the client has not ended its tasks.
      case warned
      /// The client has ended all its tasks.
      case relieved
      /// The client will not end its tasks. The text is "NOT-BEFORE NOT-AFTER": the earliest and
      /// latest time at which the daemon kills the client; empty if the daemon must no longer kill
      /// the client.
      case careless
      /// The operator is about to terminate the application.
      case terminate
    }
    var kind: Kind
    var client: Int
    var time: UInt64
    var text: String
  }

  private let descriptor: FileDescriptor

  init(path: String) {
    let number = Glibc.open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    precondition(number >= 0, "open \(path): \(SystemError.describe(errno))")
    descriptor = FileDescriptor(taking: number)
    fchmod(number, 0o666)
  }

  func write(_ kind: Line.Kind, _ client: Int, _ text: String = "") {
    let line = "\(kind.rawValue) \(client) \(BootClock.now()) \(text)\n"
    _ = Array(line.utf8).withUnsafeBytes {
      Glibc.write(descriptor.rawValue, $0.baseAddress, $0.count)
    }
  }

  /// Returns the complete lines after the byte `offset`, and moves `offset` to the end of these
  /// lines.
  func read(from offset: inout Int) -> [Line] {
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = pread(descriptor.rawValue, &buffer, buffer.count, offset + text.count)
      if count <= 0 { break }
      text += buffer[..<count]
    }
    guard let end = text.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
    offset += end + 1
    return text[..<end].split(separator: UInt8(ascii: "\n")).compactMap { line in
      let words = String(decoding: line, as: UTF8.self).split(
        separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
      guard words.count == 4, let kind = Line.Kind(rawValue: String(words[0])),
        let client = Int(words[1]), let time = UInt64(words[2])
      else { return nil }
      return Line(kind: kind, client: client, time: time, text: String(words[3]))
    }
  }
}
