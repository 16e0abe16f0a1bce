import Glibc
import LinuxSystem

/// What a client has been told and has done, in words that the verifier reads while it runs, stands
/// still or has been killed.
struct Record {
  enum Field: Int {
    /// Counts the writes; the last word repeats it, so that half a write is seen.
    case version
    case pid
    /// How often its loop has turned: it must not, while it is suspended.
    case ticks
    case connectionsLost
    case callbacks, acknowledgements
    case begins, ends, expirations
    /// Nanoseconds since boot, of this stint in the background: the limit is not before, and, but
    /// for the daemon's absence, not after. 0 where it is not known.
    case limitNotBefore, limitNotAfter
    /// Since when a call waits for its answer; 0 where none does.
    case callSince
    /// 1 once it will not end its tasks: it is to be killed at the limit.
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

  /// Begun, with the answer, and neither ended nor about to be.
  var outstanding: [Int] { words[Self.tasks].filter { $0 > 0 }.map(Int.init) }
  /// Those that were ended last, with the answer.
  var endedLast: [Int] { words[Self.endings].filter { $0 > 0 }.map(Int.init) }

  var hasRoom: Bool { words[Self.tasks].contains(0) }

  mutating func began(_ task: Int) {
    guard let free = Self.tasks.first(where: { words[$0] == 0 }) else { return }
    words[free] = Int64(task)
    self[.begins] += 1
  }

  /// Its end is about to be asked for: from now on it may be gone.
  mutating func ending(_ task: Int) {
    for index in Self.tasks where words[index] == Int64(task) { words[index] = -Int64(task) }
  }

  /// Whether the daemon still has it is not known.
  mutating func released(_ task: Int) {
    for index in Self.tasks where abs(words[index]) == Int64(task) { words[index] = 0 }
  }

  mutating func ended(_ task: Int) {
    released(task)
    words[Self.endings.lowerBound + Int(self[.ends]) % Self.endings.count] = Int64(task)
    self[.ends] += 1
  }

  /// Those of which the daemon knows no longer.
  mutating func forgetTasks() {
    for index in Self.tasks { words[index] = 0 }
    for index in Self.endings { words[index] = 0 }
  }
}

/// The file of all records, one page each; the first page is the campaign's, for all to read.
final class Ledger: Sendable {
  private let descriptor: FileDescriptor
  private static let page = 4096

  /// - Parameter path: made where it does not exist, for every user to write.
  init(path: String) {
    let number = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
    precondition(number >= 0, "open \(path): \(SystemError.describe(errno))")
    descriptor = FileDescriptor(taking: number)
    fchmod(number, 0o666)
  }

  /// What all clients are to do.
  enum Phase: Int64 {
    case work = 0
    /// End all tasks, begin no more.
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
      precondition(count == bytes.count, "writing the ledger: \(SystemError.describe(errno))")
    }
  }

  /// The record of a client; nil where there is none yet.
  func read(slot: Int) -> Record? {
    var record = Record()
    // A client that is stopped has finished its write: the kernel does not stop it within.
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

/// Lines of all processes, each written whole: what was seen that must not be, and what the
/// verifier judges.
final class Events: Sendable {
  /// A line: who wrote it, when, and what.
  struct Line {
    enum Kind: String {
      /// A promise was broken; the text says which.
      case violation
      /// A connection was closed by the daemon. The text is "late" where the client may have been
      /// suspended when it was, "young" where the daemon need not have saved it yet.
      case lost
      /// An expiration came. The text is when it was due, where that can be told.
      case expired
      /// An expiration came, and the client is about to end its tasks: "NOT-BEFORE NOT-AFTER" of
      /// the limit until which it has time for that.
      case warned
      /// It has ended all its tasks.
      case relieved
      /// The client will not end its tasks: "NOT-BEFORE NOT-AFTER" of the limit that kills it;
      /// empty where there is none any more.
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

  /// The lines that were written since `offset`, which is moved to their end.
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
