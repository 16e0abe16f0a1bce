import Dispatch
import TaskSchedulerWire

// The reports that the daemon must receive, even if it does not answer now: ends of tasks, and
// acknowledgements.
extension ScheduledApplication {
  /// Acknowledges a callback, or another event with an id. Blocks.
  func acknowledge(_ callback: Int) {
    finishRestoring()
    state.withLock { state in
      state.handled(callback)
      state.willReport(acknowledgement: callback)
    }
    if !report(acknowledgement: callback) { reportLater() }
  }

  /// Reports the end of a task. Returns false if the report must be repeated, because the daemon
  /// does not answer.
  func report(end task: Int) -> Bool {
    guard callTwice(ApplicationInterface.EndBackgroundTask.self, .init(task: task)) else {
      return false
    }
    state.withLock { $0.reported(end: task) }
    return true
  }

  private func report(acknowledgement callback: Int) -> Bool {
    guard callTwice(ApplicationInterface.Acknowledge.self, .init(callback: callback)) else {
      return false
    }
    state.withLock { $0.reported(acknowledgement: callback) }
    return true
  }

  /// Makes a call. If the connection fails, repeats the call once on a new connection. Returns
  /// false if both attempts fail. A refusal counts as success, because it means that the daemon no
  /// longer knows the task or callback.
  private func callTwice<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input
  ) -> Bool {
    guard let calls else { return true }
    for _ in 0..<2 {
      do throws(ApplicationError) {
        _ = try calls.call(method, input)
        return true
      } catch {
        if !error.isTransient { return true }
      }
    }
    return false
  }

  /// Sends the reports on the report queue, with growing pauses, until the daemon has received all
  /// of them.
  func reportLater() {
    let isFirst = reportDelays.withLock { delays in
      defer { delays = delays ?? RetryDelays() }
      return delays == nil
    }
    if isFirst { reportQueue.async { self.reportAll() } }
  }

  private func reportAll() {
    let (ends, acknowledgements) = state.withLock {
      ($0.endsUnreported, $0.acknowledgementsUnreported)
    }
    var isDone = true
    for end in ends.sorted() where isDone { isDone = report(end: end) }
    for callback in acknowledgements.sorted() where isDone {
      isDone = report(acknowledgement: callback)
    }
    let pause = reportDelays.withLock { delays -> Duration? in
      if isDone, !state.withLock({ $0.mustReport }) {
        delays = nil
        return nil
      }
      return delays?.take()
    }
    guard let pause, !isClosed(within: .zero) else { return }
    let milliseconds = Int(pause / .milliseconds(1))
    reportQueue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { self.reportAll() }
  }

  // MARK: - Restoration

  /// Passes the keep-alive handler, the audio session, the phone call, the location updates and the
  /// managed sockets to a daemon that does not know this process any more. The daemon stores the
  /// requests for regions and significant location changes durably, so it still knows them.
  func restore() {
    reportQueue.async {
      guard let restoration = self.state.withLock({ $0.restoration }) else { return }
      let isRestored = [
        self.restoreKeepAlive(), self.restoreAudioSession(), self.restoreCall(),
        self.restoreLocationUpdates(), self.restoreSockets(),
      ]
      if !isRestored.contains(false) { self.state.withLock { $0.restored(restoration) } }
    }
  }

  /// Waits until a restoration in progress is complete. Call this before an acknowledgement,
  /// because the daemon may suspend the process after the acknowledgement.
  func finishRestoring() {
    if state.withLock({ $0.restoration }) != nil { reportQueue.sync {} }
  }
}
