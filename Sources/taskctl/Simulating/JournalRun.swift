import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerJournal
import TaskSchedulerSimulation
import TaskSchedulerWire

/// `taskctl simulate --replay`: reads a daemon's journal, and prints what the policy makes of it.
struct JournalRun {
  /// A journal, or the folder that holds one.
  let path: String
  let isJSON: Bool

  /// A journal is as long as twice what a daemon knows, and half a megabyte.
  private static let bytesMax = 1 << 28
  /// A daemon puts a new journal in place of the one that is full; so often in succession it does
  /// not while one is being opened.
  private static let attemptsMax = 10

  func run() throws {
    let (path, bytes) = try read()
    let journal: JournalTimeline
    do throws(JournalRefusal) {
      journal = try Self.timeline(bytes)
    } catch {
      throw unreadable("\(path): \(error)")
    }
    try Output.write(
      isJSON
        ? JSONOutput.line(
          document: TimelineDocument(journal.timeline, of: facts(of: journal, path)), nil)
        : heading(of: journal, path)
          + TimelineText.text(journal.timeline, .forStandardOutput()))
    if let violation = journal.violation {
      Output.complain(
        "taskctl: \(PrintableText.of(path)): event \(violation.eventNumber): \(violation.checker): "
          + PrintableText.of(violation.sentence))
      throw SimulationExit(SimulationExitCode.violation)
    }
    if let damage = journal.damage {
      throw CommandFailure.failed(
        name: "DamagedJournal",
        sentence: PrintableText.of("\(path): \(damage); shown is what stands before"))
    }
  }

  private static func timeline(_ bytes: [UInt8]) throws(JournalRefusal) -> JournalTimeline {
    try bytes.withUnsafeBytes { bytes in
      Result { () throws(JournalRefusal) in try JournalTimeline(bytes) }
    }.get()
  }

  private func heading(of journal: JournalTimeline, _ path: String) -> String {
    let before = journal.start.eventCount
    return PrintableText.of(
      "\(path), begun by taskschedd \(journal.start.writer) "
        + (before == 0 ? "at its start" : "after \(before) events")
        + (journal.eventCount == 1 ? "; 1 event since" : "; \(journal.eventCount) events since"))
      + "\n"
  }

  private func facts(
    of journal: JournalTimeline, _ path: String
  ) -> TimelineDocument.JournalFacts {
    TimelineDocument.JournalFacts(
      path: path, writer: journal.start.writer,
      beganAtUSec: Int(clamping: journal.start.at.nanoseconds / 1000),
      eventsBefore: journal.start.eventCount, events: journal.eventCount,
      damage: journal.damage?.description,
      violation: journal.violation.map { "\($0.checker): \($0.sentence)" })
  }

  // MARK: Reading

  /// A copy: a daemon that runs goes on writing, each record's length last.
  private func read() throws -> (path: String, bytes: [UInt8]) {
    guard FileFacts(path: path)?.isFolder == true else { return (path, try bytes(of: path)) }
    for _ in 1..<Self.attemptsMax {
      let newest = try newest()
      do throws(BoundedFileError) {
        return (newest, try BoundedFile(path: newest, bytesMax: Self.bytesMax).bytes)
      } catch .missing {
        continue
      } catch {
        throw unreadable("\(newest) cannot be read: \(error.words(limitOf: "a journal"))")
      }
    }
    let newest = try newest()
    return (newest, try bytes(of: newest))
  }

  /// The journal that is in force: the one of the highest number.
  private func newest() throws -> String {
    let names: [String]
    do throws(BoundedFileError) {
      names = try Folder.names(path: path)
    } catch {
      throw unreadable("the folder \(path) cannot be read: \(error.words(limitOf: "a journal"))")
    }
    let prefix = "journal."
    let numbers = names.compactMap { name in
      name.hasPrefix(prefix) ? UInt64(name.dropFirst(prefix.count)) : nil
    }
    guard let number = numbers.max() else {
      throw unreadable(
        "the folder \(path) holds no journal; taskschedd keeps its own in 'journal' beside its"
          + " socket")
    }
    return "\(path)/\(prefix)\(number)"
  }

  private func bytes(of path: String) throws -> [UInt8] {
    do throws(BoundedFileError) {
      return try BoundedFile(path: path, bytesMax: Self.bytesMax).bytes
    } catch {
      throw unreadable("\(path) cannot be read: \(error.words(limitOf: "a journal"))")
    }
  }

  private func unreadable(_ sentence: String) -> CommandFailure {
    .failed(name: "UnreadableJournal", sentence: PrintableText.of(sentence))
  }
}
