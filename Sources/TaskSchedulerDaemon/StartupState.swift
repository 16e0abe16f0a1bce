import EventLoop
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog

/// The data that a starting daemon reads first: its configuration, and the state that a previous
/// daemon left in the runtime directory.
final class StartupState {
  let log: Log
  let loop: EventLoop
  let proc: ProcFS
  let daemonPriority: DaemonPriority?
  /// The instant at which the daemon began to read the event log.
  let startedAt: Instant
  let configuration: Configuration
  let scheduler: Scheduler
  let eventLog: EventLog
  /// The event log of the previous daemon; nil if there is no usable event log.
  let found: FoundEventLog?

  /// - Throws: ``StartFailure`` if the configuration has mistakes, which the daemon logs;
  ///   ``EventLogDirectory/UntrustedDirectory``; and the errors of the operating system.
  init(_ arguments: Daemon.Arguments) throws {
    let prefetch = ConfigurationPrefetch(from: arguments.paths)
    log = Log(target: arguments.logTarget, level: prefetch.logLevel)
    if prefetch.hasProblems { _ = try Self.whole(prefetch, log) }
    loop = try EventLoop()
    proc = try ProcFS()
    daemonPriority = try DaemonPriority(in: proc, loop: loop)
    let now = Instant(nanoseconds: BootClock.now())
    startedAt = now
    let boot = BootID(try BootIdentity.text())
    var directory: EventLogDirectory?
    if let path = arguments.eventLogPath {
      directory = try EventLogDirectory(path: path, proc: proc)
    }
    var found: FoundEventLog?
    if let directory {
      let finder = EventLogFinder(
        directory: directory, boot: boot, socketPath: arguments.socketPath, proc: proc, log: log)
      found = try finder.find(at: now)
    }
    self.found = found
    // Throws if the configuration has mistakes. A usable event log is still unchanged then.
    configuration = try Self.whole(prefetch, log)
    if let directory, let found {
      scheduler = found.replay.scheduler
      eventLog = EventLog(continuing: found, in: directory, boot: boot, log: log)
      eventLog.setAttempts(found.replay.progress.attempts + 1)
    } else {
      scheduler = Scheduler(policy: configuration.policy)
      eventLog = EventLog(directory, boot: boot, scheduler: scheduler, at: now, log: log)
    }
  }

  private static func whole(_ prefetch: ConfigurationPrefetch, _ log: Log) throws -> Configuration {
    guard let configuration = prefetch.whole(log) else { throw StartFailure.configuration }
    return configuration
  }
}
