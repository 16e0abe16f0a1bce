import Glibc
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire

/// Watches our child as `sudo` and `time` do: what the terminal sends reaches the whole process
/// group and is the program's business; SIGTERM and SIGHUP are passed on.
///
/// A program that the daemon has suspended takes no signal. While it is suspended, taskctl takes
/// them: Ctrl-C and Ctrl-\ end the program, Ctrl-Z returns to the shell, and the shell's `fg`
/// brings the application to the foreground.
///
/// No handler and no thread: the signals are blocked and taken one at a time, and poll(2) waits for
/// them and for what the daemon says.
struct Supervision: ~Copyable {
  /// What the child ended with.
  struct Outcome {
    /// As a shell would return it.
    var code: Int32
    /// Whether it ended because of what was typed while it was suspended.
    var isByUser: Bool
  }

  private let signals: SignalQueue
  /// Those that were ignored when we started, as nohup and a shell's `&` do.
  private let ignored: Set<Int32>
  private var terminal = Terminal()
  private var monitor: ProgramMonitor
  /// nil where nothing is to be said.
  private let notices: SuspensionNotices?
  private var isAnnounced = false
  /// The signal by which the user has ended the suspended program.
  private var endedBy: Int32?

  /// Takes over the signals of this process. The child must exist already: it has its own.
  init(_ monitor: ProgramMonitor, notices: SuspensionNotices?) throws(SystemError) {
    ignored = Set([SIGINT, SIGQUIT, SIGTSTP].filter(Self.isIgnored))
    // Notices may be written from the background of a terminal.
    signal(SIGTTOU, SIG_IGN)
    signals = try SignalQueue([
      SIGCHLD, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGCONT,
    ])
    self.monitor = monitor
    self.notices = notices
  }

  /// Waits until the child has ended, and leaves it to be reaped.
  ///
  /// When it is stopped from the terminal, we stop too, so that the shell sees its job stopped. A
  /// child stopped by SIGSTOP is suspended by the daemon: we go on waiting.
  mutating func waitForEnd(of child: borrowing PIDFD) throws -> Outcome {
    while true {
      // Without `leave` it would be reaped; with it, a stop must be taken by a second call.
      switch try child.wait([.nonblocking, .stopped, .leave]) {
      case .ended(let status):
        let code = endedBy.map { 128 + $0 } ?? status.shellCode
        return Outcome(code: code, isByUser: endedBy != nil)
      case .stopped(let number):
        _ = try child.wait([.nonblocking, .stopped])
        if [SIGTSTP, SIGTTIN, SIGTTOU].contains(number) { stopForShell() }
      case .continued, nil: try waitForNext(child)
      }
    }
  }

  /// How the instance ended, as the daemon saw it.
  mutating func end() -> ControlInterface.End? { monitor.waitForEnd() }

  /// Waits for signals and for what the daemon says, and takes both.
  private mutating func waitForNext(_ child: borrowing PIDFD) throws {
    var entries = [
      pollfd(fd: signals.descriptor.rawValue, events: Int16(POLLIN), revents: 0),
      pollfd(fd: monitor.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&entries, nfds_t(entries.count), -1) < 0 {
      if errno != EINTR { throw SystemError(call: "poll", errno: errno) }
    }
    monitor.takeReplies()
    announce()
    while let signal = try signals.next() { try take(signal, child) }
  }

  private mutating func take(_ signal: SignalQueue.Arrival, _ child: borrowing PIDFD) throws {
    switch signal.number {
    case SIGINT, SIGQUIT:
      if isSuspended, !ignored.contains(signal.number) { try end(by: signal.number, child) }
    case SIGTSTP:
      if isSuspended, !ignored.contains(signal.number) { stopForShell() }
    case SIGCONT: continued()
    case SIGTERM where isSuspended: try end(by: signal.number, child)
    // What the kernel sends for a terminal that hung up went to the whole group.
    case SIGTERM, SIGHUP:
      if !signal.isFromKernel { _ = try child.send(signal: signal.number) }
    default: break
    }
  }

  /// Whether the daemon has suspended the program, by the newest that it says.
  private var isSuspended: Bool {
    mutating get {
      monitor.refresh()
      announce()
      return monitor.state == .suspended
    }
  }

  private func stopForShell() { kill(getpid(), SIGSTOP) }

  /// After SIGCONT, as `fg` and `bg` send it.
  private mutating func continued() {
    guard isSuspended else { return }
    do {
      if terminal.isOurs {
        _ = try monitor.call(
          ControlInterface.Activate.self,
          .init(application: monitor.application, owner: monitor.owner))
      } else {
        // `bg` has let processes run that are to stand still: asked, the daemon sees it.
        _ = try monitor.call(
          ControlInterface.GetApplication.self,
          .init(application: monitor.application, owner: monitor.owner))
      }
    } catch {
      complain(error)
    }
  }

  /// Ends the suspended program, on behalf of the user.
  private mutating func end(by signal: Int32, _ child: borrowing PIDFD) throws {
    do {
      _ = try monitor.call(
        ControlInterface.Terminate.self,
        .init(application: monitor.application, owner: monitor.owner, byUser: true))
      endedBy = signal
    } catch ConnectionError.noDaemon {
      // No daemon suspends it any more, nor could one end it.
      endedBy = signal
      _ = try child.send(signal: SIGKILL)
    } catch {
      complain(error)
    }
  }

  /// Says that the program was suspended, or goes on, once each.
  private mutating func announce() {
    let isSuspended = monitor.state == .suspended
    guard isSuspended != isAnnounced, endedBy == nil else { return }
    // The end is told by other words.
    if !isSuspended, monitor.state == .notRunning { return }
    isAnnounced = isSuspended
    if isSuspended {
      terminal.programIsSuspended()
      notices?.suspended(because: monitor.cause)
    } else {
      terminal.programGoesOn()
      notices?.goesOn()
    }
  }

  private func complain(_ error: any Error) {
    Output.complain(CommandFailure(error)?.text ?? "taskctl: \(PrintableText.of("\(error)"))")
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}

/// What `run` says at a terminal when its program is suspended, and when it goes on.
struct SuspensionNotices {
  let application: String
  /// The command that reaches the daemon: `taskctl`, or `taskctl --user`.
  let command: String

  func suspended(because cause: String?) {
    Output.complain(suspendedLine(because: cause))
  }

  func goesOn() {
    Output.complain("taskctl: \(PrintableText.of(application)) goes on")
  }

  /// The line without its end.
  func suspendedLine(because cause: String?) -> String {
    let name = PrintableText.of(application)
    return "taskctl: \(name) is suspended: \(Self.words(cause)). Ctrl-C ends it, Ctrl-Z returns to"
      + " the shell; '\(command) foreground \(name)' or fg resumes it"
  }

  private static func words(_ cause: String?) -> String {
    switch cause {
    case "otherActivated": "another application was activated at its seat"
    case "sendAway": "it was sent to the background"
    case _: "nothing entitles it to run in the background"
    }
  }
}
