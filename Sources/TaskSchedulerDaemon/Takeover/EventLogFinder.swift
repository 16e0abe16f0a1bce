import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire

/// An event log that a previous daemon left.
final class FoundEventLog {
  let number: UInt64
  let file: MappedEventLog
  let replay: Replay
  /// The processes that a dead daemon may have left stopped. They are read from newer event logs,
  /// which are unusable, and from this event log if it is damaged. nil if this event log is the
  /// newest and is undamaged.
  let unclear: Leftovers?

  init(number: UInt64, file: MappedEventLog, replay: Replay, unclear: Leftovers?) {
    self.number = number
    self.file = file
    self.replay = replay
    self.unclear = unclear
  }
}

extension EventLog {
  /// Continues the event log of a previous daemon, and logs the problems of the event log.
  convenience init(
    continuing found: FoundEventLog, in directory: EventLogDirectory, boot: BootID, log: Log
  ) {
    self.init(
      continuing: found.file, found.number, found.replay, in: directory, boot: boot,
      version: Version.current
    ) { log.write($0) }
  }
}

/// Searches a directory for the event log of an earlier daemon.
struct EventLogFinder {
  let directory: EventLogDirectory
  let boot: BootID
  /// The path of the daemon's socket. A process that has this path in its environment belongs to
  /// this daemon.
  let socketPath: String
  let proc: ProcFS
  let log: Log

  /// Returns the newest usable event log. Renames all newer event logs, which are unusable, so that
  /// they do not keep the daemon from starting. If no event log is usable, resumes the stopped
  /// processes.
  ///
  /// - Throws: EMFILE, ENFILE, ENOMEM or EIO, after which another attempt may succeed.
  func find(at now: Instant) throws(SystemError) -> FoundEventLog? {
    var unclear: Leftovers?
    for number in directory.numbers {
      let file: MappedEventLog
      do throws(SystemError) {
        file = MappedEventLog(try FileMapping.open(path: directory.path(of: number)))
      } catch {
        switch error.errno {
        case EMFILE, ENFILE, ENOMEM, EIO: throw error
        case _:
          let path = directory.path(of: number)
          let bytes = try? BoundedFile.beginning(of: path, bytesMax: Leftovers.bytesMax)
          (bytes ?? []).withUnsafeBytes {
            refuse(number, $0, "it cannot be read: \(error)", &unclear)
          }
        }
        continue
      }
      let bytes = UnsafeRawBufferPointer(file.bytes)
      do throws(EventLogRefusal) {
        let replay = try Replay(
          bytes, boot: boot, now: now, readAhead: RecordPrefetch.begin)
        if let problem = replay.progress.problem {
          refuse(number, bytes, problem, &unclear)
          continue
        }
        if let damage = replay.damage {
          log.write(
            .warning, "using \(directory.path(of: number)) up to the first damage: \(damage)",
            id: .eventLogRefused)
          note(bytes, &unclear)
        }
        return FoundEventLog(number: number, file: file, replay: replay, unclear: unclear)
      } catch {
        refuse(number, bytes, "\(error)", &unclear)
      }
    }
    resume(unclear)
    return nil
  }

  /// Adds to `unclear` the stopped processes that a damaged or unusable event log names.
  private func note(_ bytes: UnsafeRawBufferPointer, _ unclear: inout Leftovers?) {
    unclear = unclear ?? Leftovers()
    if let left = try? Leftovers(bytes, boot: boot) { unclear?.add(left) }
  }

  private func refuse(
    _ number: UInt64, _ bytes: UnsafeRawBufferPointer, _ problem: String,
    _ unclear: inout Leftovers?
  ) {
    note(bytes, &unclear)
    let path = directory.path(of: number)
    let fate: String
    do throws(SystemError) {
      fate = "the daemon renamed it to \(try directory.setAside(number))"
    } catch {
      fate = "the daemon cannot rename it: \(error)"
    }
    log.write(
      .error, "cannot use the event log \(path): \(problem); \(fate)", id: .eventLogRefused)
  }

  /// Resumes the processes that event logs name, and the processes whose environment names this
  /// daemon. No daemon manages these processes any more.
  private func resume(_ unclear: Leftovers?) {
    var outcome = (unclear ?? Leftovers()).resume(in: proc)
    outcome.add(ProcessRelease.resume(EnvironmentMarkers(socket: socketPath), in: proc))
    if unclear != nil || !outcome.resumed.isEmpty {
      log.write(
        .warning,
        "found no usable event log; resumed \(outcome.resumed.count) stopped processes or "
          + "control groups. Applications must register again", id: .eventLogRefused)
    }
    for failure in outcome.failures { log.write(.error, "cannot resume \(failure)") }
  }
}
