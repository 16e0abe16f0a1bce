import EventLoop
import LinuxSystem

/// The processes of X11 windows in Xwayland. ``SwaySource`` knows the windows, and asks this object
/// for their processes. The object connects to the X server when it is first asked.
final class XClients {
  private enum Answer {
    case asked
    /// The server's answer: nil if the server does not know the pid.
    case pid(Int32?)
  }

  private let display: String?
  private let loop: EventLoop
  private var connection: XConnection?
  private var isReady = false
  private var answers: [UInt32: Answer] = [:]
  private var changed: (() -> Void)?

  init(display: String?, loop: EventLoop) {
    self.display = display
    self.loop = loop
  }

  /// Sets the handler for new pids. It is called from the loop.
  func listen(_ changed: @escaping () -> Void) { self.changed = changed }

  /// Returns the pid of a window's process; nil if the server does not know the pid, or has not
  /// answered yet.
  func pid(of window: UInt32) -> Int32? {
    switch answers[window] {
    case .pid(let pid): return pid
    case .asked: return nil
    case nil:
      answers[window] = .asked
      ask(window)
      return nil
    }
  }

  /// Removes all windows except these.
  func keep(_ windows: [UInt32]) {
    let kept = Set(windows)
    answers = answers.filter { kept.contains($0.key) }
  }

  private func ask(_ window: UInt32) {
    if isReady {
      request(window)
      connection?.flush()
    } else if connection == nil, let display {
      // Without a connection, the processes stay unknown.
      connection = try? XConnection(display: display, loop: loop) { [weak self] in self?.heard($0) }
    }
  }

  private func request(_ window: UInt32) {
    connection?.readPID(of: window) { [weak self] pid in
      guard let self, answers[window] != nil else { return }
      answers[window] = .pid(pid)
      if pid != nil { changed?() }
    }
  }

  private func heard(_ occurrence: XConnection.Occurrence) {
    switch occurrence {
    case .ready:
      isReady = true
      for window in answers.keys { request(window) }
    case .event, .caughtUp: break
    case .ended:
      // The next server uses the same numbers for other windows. The next X11 window in sway causes
      // a new connection.
      connection = nil
      isReady = false
      answers = [:]
    }
  }
}
