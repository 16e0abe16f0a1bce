import Glibc
import LinuxSystem
import TaskSchedulerWire

// What must hold when the last kill is over.
extension Campaign {
  /// Every application runs when it is activated, ends its tasks, and the daemon knows it.
  func settle() throws {
    say("settling")
    let touched = try endOperating()
    try look(touched: touched)
    ledger.phase = .settle
    var ticks: [Int: Int64] = [:]
    for client in clients where isSettling(client) {
      ticks[client.number] = ledger.read(slot: client.number + 1)?[.ticks]
      do {
        _ = try Daemon.call(
          ControlInterface.Activate.self, .init(application: Settings.application(client.number)))
      } catch ControlInterface.Failure.invalidTransition {
        // It is active.
      } catch let failure as ControlInterface.Failure {
        found("cannot be activated at the end: \(failure.name)", client.number)
      }
    }
    wait(seconds: 8) { client in
      guard let record = ledger.read(slot: client.number + 1) else { return false }
      return record[.ticks] != ticks[client.number]
    } else: { found("is frozen at the end: it does not run though it was activated", $0.number) }
    wait(seconds: 8) { client in
      ledger.read(slot: client.number + 1)?.outstanding.isEmpty ?? true
    } else: { found("has not ended its tasks at the end", $0.number) }
    try look(touched: Set(clients.map(\.number)))
    try awaitBalance()
  }

  /// What was begun and delivered has been ended and acknowledged, as the daemon sees it too. The
  /// library pays what it owes within its pauses.
  private func awaitBalance() throws {
    let end = BootClock.now() + 8_000_000_000
    while true {
      let open = try verifier.list().filter { number, application in
        guard let instance = application.instance, isSettling(clients[number]) else { return false }
        return !instance.tasks.isEmpty || instance.callbacksPending > 0
      }
      if open.isEmpty { return }
      if BootClock.now() > end {
        for (number, application) in open.sorted(by: { $0.key < $1.key }) {
          let tasks = application.instance?.tasks.map(\.id) ?? []
          let callbacks = application.instance?.callbacksPending ?? 0
          found("is not balanced at the end: tasks \(tasks), \(callbacks) callbacks", number)
        }
        return
      }
      _ = poll(nil, 0, 50)
    }
  }

  /// A clean stop leaves nothing stopped.
  func stop() throws {
    let processes = clients.filter { client in
      ledger.read(slot: client.number + 1).map { verifier.isAlive($0.pid) } ?? false
    }
    let systemctl = try Daemon.systemctl("stop", "taskschedd.service", "taskschedd.socket")
    guard try systemctl.wait() == .ended(.exited(code: 0)) else {
      return found("the daemon could not be stopped", nil)
    }
    let frozen = processes.filter { client in
      guard let pid = ledger.read(slot: client.number + 1)?.pid else { return false }
      return verifier.isAlive(pid) && verifier.isStopped(pid)
    }
    for client in frozen { found("stays stopped after the daemon's clean stop", client.number) }
  }

  private func isSettling(_ client: Client) -> Bool {
    guard client.endedAt == nil, let record = ledger.read(slot: client.number + 1) else {
      return false
    }
    return record[.isCareless] == 0 && verifier.isAlive(record.pid)
  }

  private func wait(
    seconds: UInt64, until isReached: (Client) -> Bool, else failed: (Client) -> Void
  ) {
    let end = BootClock.now() + seconds * 1_000_000_000
    for client in clients where isSettling(client) {
      while !isReached(client) {
        guard BootClock.now() < end else {
          failed(client)
          break
        }
        _ = poll(nil, 0, 5)
      }
    }
  }

  func summarize() {
    let records = clients.compactMap { ledger.read(slot: $0.number + 1) }
    func sum(_ field: Record.Field) -> Int64 { records.reduce(0) { $0 + $1[field] } }
    let sorted = restarts.sorted()
    let milliseconds = { (time: UInt64?) in "\(((time ?? 0) + 500_000) / 1_000_000) ms" }
    let part = { percent in sorted.isEmpty ? nil : sorted[(sorted.count - 1) * percent / 100] }
    say(
      """

      \(clients.count) clients, the daemon killed \(kills) times, \(killsAtStart) of them \
      within 60 ms of its start
        restart, from the last kill until a call is served: median \
      \(milliseconds(part(50))), 95 % within \(milliseconds(part(95))), longest \
      \(milliseconds(sorted.last))
        in between \(orderlyRestarts.count) times systemctl restart, from the daemon's end until a \
      call is served: longest \(milliseconds(orderlyRestarts.max()))
        connections closed: \(lost) (one for each kill may be)
        of the processes that run now: \(sum(.begins)) tasks begun, \(sum(.ends)) seen to have \
      ended, \(sum(.callbacks)) callbacks, \(sum(.acknowledgements)) acknowledged
        in all: \(expirations) expirations, \(ends) ends of processes, \(tooSlow) of them \
      killed while they were still ending their tasks
        of the processors' time that was wanted, others took \(Int(stolenTime.share * 100)) %; \
      \(excused) times something was late for it
      """)
    if lost > kills { found("more connections were closed than there were kills", nil) }
    if findings.isEmpty {
      say("  nothing lost, nothing early, nothing frozen")
    } else {
      say("\n\(findings.count) findings:\n\(findings.text)")
    }
  }
}
