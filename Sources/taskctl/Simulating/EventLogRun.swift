import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerSimulation
import TaskSchedulerWire

/// The command `taskctl simulate --replay`, which shows a daemon's event log.
struct EventLogRun {
  /// The path of an event log, or of the directory that contains it.
  let path: String
  let isJSON: Bool

  /// The largest event log to read, in bytes. The event log of a daemon is far smaller.
  private static let bytesMax = 1 << 28
  /// The maximum number of attempts to open the current event log. An attempt fails if the daemon
  /// replaces a full event log at that moment.
  private static let attemptsMax = 10

  func run() throws {
    let (path, bytes) = try read()
    let eventLog: EventLogTimeline
    do throws(EventLogRefusal) {
      eventLog = try Self.timeline(bytes)
    } catch {
      throw unreadable("\(path): \(error)")
    }
    try Output.write(
      isJSON
        ? JSONOutput.line(
          TimelineDocument.json(eventLog.timeline, of: facts(of: eventLog, path)), nil)
        : heading(of: eventLog, path)
          + TimelineText.text(eventLog.timeline, .forStandardOutput()))
    if let violation = eventLog.violation {
      Output.complain(
        "taskctl: \(PrintableText.of(path)): event \(violation.eventNumber): \(violation.checker): "
          + PrintableText.of(violation.sentence))
      throw SimulationExit.violation
    }
    if let damage = eventLog.damage {
      throw CommandFailure.failed(
        name: "DamagedEventLog",
        sentence: PrintableText.of(
          "\(path): \(damage); only the records before the damage are shown"))
    }
  }

  private static func timeline(_ bytes: [UInt8]) throws(EventLogRefusal) -> EventLogTimeline {
    try bytes.withUnsafeBytes { bytes in
      Result { () throws(EventLogRefusal) in try EventLogTimeline(bytes) }
    }.get()
  }

  private func heading(of eventLog: EventLogTimeline, _ path: String) -> String {
    let before = eventLog.start.eventCount
    return PrintableText.of(
      "\(path), started by taskschedd \(eventLog.start.writer): "
        + (eventLog.eventCount == 1 ? "1 event" : "\(eventLog.eventCount) events")
        + (before == 0 ? "" : ", after \(before) in earlier event logs"))
      + "\n"
  }

  private func facts(
    of eventLog: EventLogTimeline, _ path: String
  ) -> TimelineDocument.EventLogFacts {
    TimelineDocument.EventLogFacts(
      path: path, writer: eventLog.start.writer,
      beganAtUSec: Int(clamping: eventLog.start.at.nanoseconds / 1000),
      eventsBefore: eventLog.start.eventCount, events: eventLog.eventCount,
      damage: eventLog.damage?.description,
      violation: eventLog.violation.map { "\($0.checker): \($0.sentence)" })
  }

  // MARK: Reading

  /// Reads the event log, to which a running daemon may be writing. Returns its path and content.
  private func read() throws -> (path: String, bytes: [UInt8]) {
    guard FileStatus(path: path)?.isDirectory == true else { return (path, try bytes(of: path)) }
    for _ in 1..<Self.attemptsMax {
      let newest = try newest()
      do throws(BoundedFileError) {
        return (newest, try BoundedFile(path: newest, bytesMax: Self.bytesMax).bytes)
      } catch .missing {
        continue
      } catch {
        throw unreadable("could not read \(newest): \(error.words(limitOf: "an event log"))")
      }
    }
    let newest = try newest()
    return (newest, try bytes(of: newest))
  }

  /// Returns the path of the current event log: the one with the highest number.
  private func newest() throws -> String {
    let names: [String]
    do throws(BoundedFileError) {
      names = try Directory.names(path: path)
    } catch {
      throw unreadable(
        "could not read the directory \(path): \(error.words(limitOf: "an event log"))")
    }
    let prefix = "event-log."
    let numbers = names.compactMap { name in
      name.hasPrefix(prefix) ? UInt64(name.dropFirst(prefix.count)) : nil
    }
    guard let number = numbers.max() else {
      throw unreadable(
        "the directory \(path) contains no event log; taskschedd keeps its own in 'event-log' "
          + "beside its socket")
    }
    return "\(path)/\(prefix)\(number)"
  }

  private func bytes(of path: String) throws -> [UInt8] {
    do throws(BoundedFileError) {
      return try BoundedFile(path: path, bytesMax: Self.bytesMax).bytes
    } catch {
      throw unreadable("could not read \(path): \(error.words(limitOf: "an event log"))")
    }
  }

  private func unreadable(_ sentence: String) -> CommandFailure {
    .failed(name: "UnreadableEventLog", sentence: PrintableText.of(sentence))
  }
}
