import Glibc
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire

/// Supervises the child as sudo(8) and time(1) do. A signal from the terminal reaches the whole
/// process group, so the program handles it. taskctl forwards SIGTERM and SIGHUP.
///
/// A program that the daemon has suspended handles no signal. taskctl then handles the signals
/// instead: Ctrl-C and Ctrl-\ terminate the program, Ctrl-Z returns to the shell, and the shell's
/// `fg` brings the application to the foreground.
///
/// There are no signal handlers and no threads. The process blocks the signals and reads them one
/// at a time. It waits in poll(2) for signals and for the daemon's replies.
struct Supervision: ~Copyable {
  /// The end of the child.
  struct Outcome {
    /// The exit code as a shell would return it.
    var code: Int32
    /// Whether taskctl terminated the suspended program, because of Ctrl-C, Ctrl-\ or SIGTERM.
    var isByUser: Bool
  }

  private let signals: SignalQueue
  /// The terminal signals that were ignored when taskctl started. For example, `&` in a shell
  /// script makes a program ignore SIGINT and SIGQUIT.
  private let ignored: Set<Int32>
  private var terminal = Terminal()
  private var monitor: ProgramMonitor
  /// The notices to print; nil for none.
  private let notices: SuspensionNotices?
  private var isAnnounced = false
  /// The signal for which taskctl terminated the suspended program.
  private var endedBy: Int32?

  /// Blocks the signals that taskctl handles. Call this after the child exists, because the child
  /// must keep its own signal mask.
  init(_ monitor: ProgramMonitor, notices: SuspensionNotices?) throws(SystemError) {
    ignored = Set([SIGINT, SIGQUIT, SIGTSTP].filter(Self.isIgnored))
    // A background process group that writes a notice to its terminal must not be stopped.
    signal(SIGTTOU, SIG_IGN)
    signals = try SignalQueue([
      SIGCHLD, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGCONT,
    ])
    self.monitor = monitor
    self.notices = notices
  }

  /// Waits until the child has ended, without reaping it.
  ///
  /// When a signal from the terminal stops the child, this process stops too, so that the shell
  /// sees a stopped job. SIGSTOP means that the daemon has suspended the child, and the wait
  /// continues.
  mutating func waitForEnd(of child: borrowing PIDFD) throws -> Outcome {
    while true {
      // `leave` keeps the status, so that this call does not reap a child that has ended. If the
      // child has only stopped, a second call must consume the report.
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

  /// Returns how the instance ended, as the daemon reports it.
  mutating func end() -> ControlInterface.End? { monitor.waitForEnd() }

  /// Waits for a signal or a reply of the daemon, and handles it.
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

  private mutating func take(_ signal: SignalQueue.ReceivedSignal, _ child: borrowing PIDFD) throws
  {
    switch signal.number {
    case SIGINT, SIGQUIT:
      if isSuspended, !ignored.contains(signal.number) { try end(by: signal.number, child) }
    case SIGTSTP:
      if isSuspended, !ignored.contains(signal.number) { stopForShell() }
    case SIGCONT: continued()
    case SIGTERM where isSuspended: try end(by: signal.number, child)
    // When the terminal hangs up, the kernel sends SIGHUP to the whole process group. A forwarded
    // signal would reach the program twice.
    case SIGTERM, SIGHUP:
      if !signal.isFromKernel { _ = try child.send(signal: signal.number) }
    default: break
    }
  }

  /// Whether the daemon has suspended the program, according to its latest report.
  private var isSuspended: Bool {
    mutating get {
      monitor.refresh()
      announce()
      return monitor.state == .suspended
    }
  }

  private func stopForShell() { kill(getpid(), SIGSTOP) }

  /// Handles SIGCONT, which `fg` and `bg` send.
  private mutating func continued() {
    guard isSuspended else { return }
    do {
      if terminal.isOurs {
        _ = try monitor.call(
          ControlInterface.Activate.self,
          .init(application: monitor.application, owner: monitor.owner))
      } else {
        // `bg` has resumed processes that must stay suspended. During any call, the daemon notices
        // this and suspends them again.
        _ = try monitor.call(
          ControlInterface.GetApplication.self,
          .init(application: monitor.application, owner: monitor.owner))
      }
    } catch {
      complain(error)
    }
  }

  /// Terminates the suspended program on behalf of the user.
  private mutating func end(by signal: Int32, _ child: borrowing PIDFD) throws {
    do {
      _ = try monitor.call(
        ControlInterface.Terminate.self,
        .init(application: monitor.application, owner: monitor.owner, byUser: true))
      endedBy = signal
    } catch ConnectionError.noDaemon {
      // There is no daemon to carry out the request. Only SIGKILL ends a suspended program.
      endedBy = signal
      _ = try child.send(signal: SIGKILL)
    } catch {
      complain(error)
    }
  }

  /// Prints a notice after each suspension and each resumption of the program.
  private mutating func announce() {
    let isSuspended = monitor.state == .suspended
    guard isSuspended != isAnnounced, endedBy == nil else { return }
    // At the end of the program, taskctl prints another message.
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

/// The notices of `run` on a terminal about suspension and resumption.
struct SuspensionNotices {
  let application: String
  /// The command that reaches the daemon: `taskctl`, or `taskctl --user`.
  let command: String

  func suspended(because cause: String?) {
    Output.complain(suspendedLine(because: cause))
  }

  func goesOn() {
    Output.complain("taskctl: \(PrintableText.of(application)) is resumed")
  }

  /// Returns the notice without its newline.
  func suspendedLine(because cause: String?) -> String {
    let name = PrintableText.of(application)
    return "taskctl: \(name) is suspended: \(Self.words(cause)). Ctrl-C terminates it, Ctrl-Z"
      + " returns to the shell; '\(command) foreground \(name)' or fg resumes it"
  }

  private static func words(_ cause: String?) -> String {
    switch cause {
    case "otherActivated": "another application was activated at its seat"
    case "sendAway": "it was sent to the background"
    case _: "nothing entitles it to run in the background"
    }
  }
}
