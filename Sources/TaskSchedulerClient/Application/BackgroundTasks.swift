import Dispatch
import LinuxSystem
import TaskSchedulerWire

// Background tasks, and what is owed to the daemon when it is away.
extension ScheduledApplication {
  /// Begins a background task: the application may run on in the background until each task is
  /// ended, or the background time is over. Begin it before the work starts, in any state.
  ///
  /// Every begin is balanced by one `endBackgroundTask`. An application that still has a task
  /// outstanding when its time is over is killed.
  ///
  /// - Parameters:
  ///   - name: for people; shown to operators and in the log (256 bytes at most, no control
  ///     characters).
  ///   - expirationHandler: called on `queue` shortly before the limit (`ExpirationLead`, 5 s by
  ///     default), once in each stint in the background: stop the work and end the task.
  /// - Throws: the quota's refusal; `connection` where the daemon is away for longer than some
  ///   seconds.
  public func beginBackgroundTask(
    named name: String? = nil, expirationHandler: (@Sendable () -> Void)? = nil
  ) throws(ApplicationError) -> BackgroundTaskID {
    guard let line else {
      try throwIfEnded()
      return BackgroundTaskID(ledger.withLock { $0.beginUnmanaged() })
    }
    let startUSec = Int(BootClock.now() / 1_000)
    ledger.withLock { $0.willBegin() }
    var pauses = RetryPauses()
    var isFirst = true
    while true {
      do throws(ApplicationError) {
        try throwIfEnded()
        let task = try begin(named: name, from: startUSec, isFirst: isFirst, line)
        call(ledger.withLock { $0.began(task.id, expired: task.expired, expirationHandler) })
        return BackgroundTaskID(task.id)
      } catch {
        isFirst = false
        if mayTryAgain(after: error), pause(&pauses) { continue }
        ledger.withLock { $0.beginEnded() }
        throw error
      }
    }
  }

  /// One attempt; before one that is not the first, looks for the fruit of those before.
  private func begin(
    named name: String?, from startUSec: Int, isFirst: Bool, _ line: CallLine
  ) throws(ApplicationError) -> (id: Int, expired: Bool) {
    if !isFirst, let task = try findTask(named: name, begunFrom: startUSec, line) { return task }
    let answer = try line.call(
      ApplicationInterface.BeginBackgroundTask.self, .init(name: name))
    return (answer.task, false)
  }

  /// The task of a begin whose answer was lost with its connection, if it was carried out: one of
  /// this name, begun since, that nobody here knows.
  private func findTask(
    named name: String?, begunFrom startUSec: Int, _ line: CallLine
  ) throws(ApplicationError) -> (id: Int, expired: Bool)? {
    let status = try line.call(ApplicationInterface.GetStatus.self, .init())
    let known = ledger.withLock { ledger in
      Set(status.tasks.map(\.id).filter { ledger.knows($0) })
    }
    let task = status.tasks.first {
      $0.name == name && $0.beganAtUSec >= startUSec && !known.contains($0.id)
    }
    return task.map { ($0.id, $0.expired) }
  }

  /// Ends a background task. In the background, the application is suspended as soon as the last
  /// one has ended.
  ///
  /// Where the daemon is away, it is told when it is back; this is no error.
  ///
  /// - Throws: `refused(.unknownTask)` for one that was never begun, has ended or was lost.
  public func endBackgroundTask(_ task: BackgroundTaskID) throws(ApplicationError) {
    let isKnown = ledger.withLock { ledger in
      guard ledger.end(task.rawValue) else { return false }
      if line != nil { ledger.oweEnd(task.rawValue) }
      return true
    }
    guard isKnown else { throw .refused(.unknownTask(task: task.rawValue)) }
    if line != nil, !pay(end: task.rawValue) { payDebtsLater() }
  }

  func acknowledge(_ callback: Int) {
    finishRestoring()
    ledger.withLock { ledger in
      ledger.handled(callback)
      ledger.oweAcknowledgement(callback)
    }
    if !pay(acknowledgement: callback) { payDebtsLater() }
  }

  // MARK: - Debts

  /// True where the daemon knows now, or needs not know any more.
  private func pay(end task: Int) -> Bool {
    guard settle(ApplicationInterface.EndBackgroundTask.self, .init(task: task)) else {
      return false
    }
    ledger.withLock { $0.paidEnd(task) }
    return true
  }

  private func pay(acknowledgement callback: Int) -> Bool {
    guard settle(ApplicationInterface.Acknowledge.self, .init(callback: callback)) else {
      return false
    }
    ledger.withLock { $0.paidAcknowledgement(callback) }
    return true
  }

  /// Calls once, and once more on a new connection. A refusal settles it too: the task or callback
  /// is known no longer.
  private func settle<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input
  ) -> Bool {
    guard let line else { return true }
    for _ in 0..<2 {
      do throws(ApplicationError) {
        _ = try line.call(method, input)
        return true
      } catch {
        if !error.isTransient { return true }
      }
    }
    return false
  }

  /// Pays on a queue of its own, with growing pauses until all is paid.
  func payDebtsLater() {
    let isFirst = debtPauses.withLock { pauses in
      defer { pauses = pauses ?? RetryPauses() }
      return pauses == nil
    }
    if isFirst { debtQueue.async { self.payDebts() } }
  }

  private func payDebts() {
    let (ends, acknowledgements) = ledger.withLock { ($0.endsOwed, $0.acknowledgementsOwed) }
    var isPaid = true
    for end in ends.sorted() where isPaid { isPaid = pay(end: end) }
    for callback in acknowledgements.sorted() where isPaid {
      isPaid = pay(acknowledgement: callback)
    }
    let pause = debtPauses.withLock { pauses -> Duration? in
      if isPaid, !ledger.withLock({ $0.owesAnything }) {
        pauses = nil
        return nil
      }
      return pauses?.take()
    }
    guard let pause, !isClosed(within: .zero) else { return }
    let (seconds, attoseconds) = pause.components
    let milliseconds = Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000)
    debtQueue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { self.payDebts() }
  }
}
