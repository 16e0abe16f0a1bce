import Glibc
import LinuxSystem
import TaskSchedulerWire

// The checks after the last kill.
extension Campaign {
  /// Activates every application. Checks that every application then runs, that it has ended its
  /// tasks, and that its state is the one that the daemon reports.
  func waitUntilSettled() throws {
    say("settling")
    let touched = try endOperating()
    try check(touched: touched)
    recordFile.phase = .settle
    var ticks: [Int: Int64] = [:]
    for client in clients where isSettling(client) {
      ticks[client.number] = recordFile.read(slot: client.number + 1)?[.ticks]
      do {
        _ = try Daemon.call(
          ControlInterface.Activate.self, .init(application: Settings.application(client.number)))
      } catch ControlInterface.Failure.invalidTransition {
        // The application is already active.
      } catch let failure as ControlInterface.Failure {
        found("cannot be activated at the end: \(failure.name)", client.number)
      }
    }
    wait(seconds: 8) { client in
      guard let record = recordFile.read(slot: client.number + 1) else { return false }
      return record[.ticks] != ticks[client.number]
    } else: { found("is frozen at the end: it does not run though it was activated", $0.number) }
    wait(seconds: 8) { client in
      recordFile.read(slot: client.number + 1)?.outstanding.isEmpty ?? true
    } else: { found("has not ended its tasks at the end", $0.number) }
    try check(touched: Set(clients.map(\.number)))
    try awaitBalance()
  }

  /// Waits until the daemon lists no task and no unacknowledged callback. The library may send a
  /// client's last calls some time after the client has ended its tasks.
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

  /// Stops the daemon cleanly, and checks that no application's process remains suspended.
  func stop() throws {
    let processes = clients.filter { client in
      recordFile.read(slot: client.number + 1).map { verifier.isAlive($0.pid) } ?? false
    }
    let systemctl = try Daemon.systemctl("stop", "taskschedd.service", "taskschedd.socket")
    guard try systemctl.wait() == .ended(.exited(code: 0)) else {
      return found("the daemon could not be stopped", nil)
    }
    let frozen = processes.filter { client in
      guard let pid = recordFile.read(slot: client.number + 1)?.pid else { return false }
      return verifier.isAlive(pid) && verifier.isStopped(pid)
    }
    for client in frozen { found("stays stopped after the daemon's clean stop", client.number) }
  }

  private func isSettling(_ client: Client) -> Bool {
    guard client.endedAt == nil, let record = recordFile.read(slot: client.number + 1) else {
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
    let records = clients.compactMap { recordFile.read(slot: $0.number + 1) }
    func sum(_ field: Record.Field) -> Int64 { records.reduce(0) { $0 + $1[field] } }
    let sorted = restarts.sorted()
    let milliseconds = { (time: UInt64?) in "\(((time ?? 0) + 500_000) / 1_000_000) ms" }
    let part = { percent in sorted.isEmpty ? nil : sorted[(sorted.count - 1) * percent / 100] }
    say(
      """

      \(clients.count) clients, the daemon killed \(kills) times, \(killsAtStart) of them \
      within 60 ms of its start
        restart time from the last kill until the daemon serves a call: median \
      \(milliseconds(part(50))), 95 % within \(milliseconds(part(95))), longest \
      \(milliseconds(sorted.last))
        \(orderlyRestarts.count) restarts by systemctl, from the daemon's end until it serves a \
      call: longest \(milliseconds(orderlyRestarts.max()))
        connections closed: \(lost) (at most one for each kill is permitted)
        processes that run now: \(sum(.begins)) tasks begun, \(sum(.ends)) tasks ended, \
      \(sum(.callbacks)) callbacks received, \(sum(.acknowledgements)) acknowledged
        all processes: \(expirations) expirations, \(ends) ends, \(tooSlow) of them kills at the \
      limit while the client was still ending its tasks
        other guests of the hypervisor took \(Int(stolenTime.share * 100)) % of the CPU time that \
      this machine needed; \(excused) late events are ignored for this reason
      """)
    if lost > kills { found("more connections were closed than there were kills", nil) }
    if findings.isEmpty {
      say("  no findings: no promise was violated")
    } else {
      say("\n\(findings.count) findings:\n\(findings.text)")
    }
  }
}
