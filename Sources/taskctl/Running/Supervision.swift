import Glibc
import LinuxSystem

/// Watches our child as `sudo` and `time` do: what the terminal sends reaches the whole process
/// group and is the program's business; SIGTERM and SIGHUP are passed on.
///
/// No handler and no thread: the signals are blocked and taken one at a time.
struct Supervision {
  private var signals = sigset_t()

  /// Takes over the signals of this process. The child must exist already: it has its own.
  init() {
    for number in [SIGINT, SIGQUIT, SIGTSTP] { signal(number, SIG_IGN) }
    sigemptyset(&signals)
    for number in [SIGCHLD, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
    let result = pthread_sigmask(SIG_BLOCK, &signals, nil)
    precondition(result == 0, "blocking signals fails only for a wrong argument")
  }

  /// Waits until the child has ended, and leaves it to be reaped.
  ///
  /// When it is stopped from the terminal, we stop too, so that the shell sees its job stopped. A
  /// child stopped by SIGSTOP is suspended by the daemon: we go on waiting.
  func waitForEnd(of child: borrowing PIDFD) throws -> ProcessExit {
    while true {
      // Without `leave` it would be reaped; with it, a stop must be taken by a second call.
      switch try child.wait([.nonblocking, .stopped, .leave]) {
      case .ended(let status): return status
      case .stopped(let number):
        _ = try child.wait([.nonblocking, .stopped])
        if [SIGTSTP, SIGTTIN, SIGTTOU].contains(number) { kill(getpid(), SIGSTOP) }
      case .continued, nil: try passOnNext(to: child)
      }
    }
  }

  /// Waits for a signal, and passes it on unless it is about the child.
  private func passOnNext(to child: borrowing PIDFD) throws {
    var signals = signals
    var information = siginfo_t()
    let number = sigwaitinfo(&signals, &information)
    guard number == SIGTERM || number == SIGHUP else { return }
    // What the kernel sends for a terminal that hung up went to the whole group.
    if information.si_code == SI_KERNEL { return }
    try child.send(signal: number)
  }
}
