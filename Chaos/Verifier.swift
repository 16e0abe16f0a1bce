import Glibc
import LinuxSystem
import TaskSchedulerWire

/// The state that the campaign keeps about one client.
final class Client {
  let number: Int
  let kind: Settings.Kind
  /// The child process, if the client registers itself.
  var process: PIDFD?
  var startedAt: UInt64 = 0
  /// The time at which the campaign first found that the process had ended; nil while it runs.
  var endedAt: UInt64?
  var lastEndUSec = 0
  /// The last time at which the operator was about to terminate the application.
  var terminateAt: UInt64 = 0
  /// The earliest and latest time at which the client's background time can end, according to the
  /// client, in nanoseconds since boot.
  struct Limit {
    var notBefore: UInt64
    var notAfter: UInt64

    init?(_ text: String) {
      let words = text.split(separator: " ").compactMap { UInt64($0) }
      guard words.count == 2 else { return nil }
      (notBefore, notAfter) = (words[0], words[1])
    }
  }

  /// The limit that the client reported when it decided not to end its tasks.
  var careless: Limit?
  /// The limit in the client's last event `warned`. The limit does not apply after `relievedAt`,
  /// the time at which the client had ended all its tasks.
  var warned: Limit?
  var relievedAt: UInt64?
  /// The process and its ticks, if the client was suspended at the last check and the operator has
  /// not operated it since. The ticks must not change.
  var suspended: (pid: Int32, ticks: Int64)?

  init(_ number: Int) {
    self.number = number
    kind = Settings.Kind(number)
  }
}

/// Compares the daemon's answers with the records of the clients and with the states of their
/// processes.
struct Verifier {
  typealias Application = ControlInterface.Application

  let recordFile: RecordFile
  let proc: ProcFS
  let clients: [Client]
  /// Reports a violation.
  var report: (_ text: String, _ client: Int?) -> Void
  /// Reports a violation that stolen CPU time may excuse.
  var reportLate: (_ text: String, _ client: Int?) -> Void
  /// Counts a client that the daemon killed at the limit while the client was still ending its
  /// tasks.
  var tooSlow: () -> Void

  /// Compares all clients once, while the operator is paused.
  mutating func check(touched: Set<Int>, outages: Outages) throws {
    let before = clients.map { recordFile.read(slot: $0.number + 1) }
    let listed = try list()
    let after = clients.map { recordFile.read(slot: $0.number + 1) }
    for client in clients {
      let application = listed[client.number]
      if let end = application?.lastEnd { verify(end, of: client, outages) }
      guard let first = before[client.number], let second = after[client.number],
        first.pid == second.pid, client.endedAt == nil, isAlive(first.pid)
      else {
        client.suspended = nil
        continue
      }
      // The client has not registered yet, or the daemon is terminating it.
      if first[.callbacks] == 0 || application?.instance?.ending != nil { continue }
      guard let instance = application?.instance, instance.pid == Int(first.pid) else {
        report("the daemon no longer manages a running process", client.number)
        client.suspended = nil
        continue
      }
      compareTasks(client, instance, first, second)
      compareSuspension(client, application?.state, instance, second, touched)
    }
  }

  func list() throws -> [Int: Application] {
    let output = try Daemon.call(ControlInterface.ListApplications.self, .init())
    return Dictionary(
      output.applications.compactMap { application in
        Settings.client(application.application).map { ($0, application) }
      }, uniquingKeysWith: { $1 })
  }

  func isAlive(_ pid: Int32) -> Bool {
    guard let stat = (try? proc.stat(pid)) ?? nil else { return false }
    return !stat.hasEnded
  }

  // MARK: Ends

  /// Checks that the operator or the client has caused the end of the client.
  private func verify(_ end: ControlInterface.End, of client: Client, _ outages: Outages) {
    guard end.atUSec > client.lastEndUSec else { return }
    client.lastEndUSec = end.atUSec
    let at = UInt64(end.atUSec) * 1000
    switch end.reason {
    case .terminatedByOperator where client.terminateAt > 0: break
    case .backgroundTimeExpired:
      verifyExpiry(at: at, of: client, outages)
    // A client that gets no CPU time cannot acknowledge in time.
    case .callbackTimeout: reportLate(describeTimeout(at: at, of: client, outages), client.number)
    case let reason: report("ended by \(reason.rawValue), without cause", client.number)
    }
  }

  /// Describes a kill by callbackTimeout with the facts that show which process was slow.
  private func describeTimeout(at: UInt64, of client: Client, _ outages: Outages) -> String {
    let ran = outages.lateness(of: at, due: at - Settings.callbackTimeout) / 1_000_000
    var text = "ended by callbackTimeout, without cause: a daemon ran for \(ran) of the last "
    text += "\(Settings.callbackTimeout / 1_000_000) ms"
    guard let record = recordFile.read(slot: client.number + 1) else { return text }
    text += "; process \(record.pid): \(record[.callbacks]) callbacks received, "
    text += "\(record[.acknowledgements]) acknowledged"
    let since = UInt64(record[.callSince])
    if since > 0, since < at { text += ", a call unanswered for \((at - since) / 1_000_000) ms" }
    return text
  }

  private func verifyExpiry(at: UInt64, of client: Client, _ outages: Outages) {
    let hadEnded = client.relievedAt.map { $0 + Settings.relief < at } ?? (client.warned == nil)
    guard let limit = client.careless ?? (hadEnded ? nil : client.warned) else {
      // A client of the library first records that its tasks have ended, and then tells the daemon.
      // If the client lacks CPU time between the two, a kill is no defect of the daemon. A raw
      // client records the end only after the daemon's answer.
      let report = client.kind.usesLibrary ? reportLate : report
      return report(
        "ended by backgroundTimeExpired, though it had ended its tasks", client.number)
    }
    if client.careless == nil { tooSlow() }
    if at + 2_000_000 < limit.notBefore {
      let early = (limit.notBefore - at) / 1_000_000
      report("killed at its limit, \(early) ms early", client.number)
    }
    client.careless = nil
    guard limit.notAfter > 0 else { return }
    let late = outages.lateness(of: at, due: outages.latestLimit(due: limit.notAfter))
    if late > Settings.slack {
      reportLate("killed \(late / 1_000_000) ms after its limit", client.number)
    }
  }

  // MARK: Tasks

  private func compareTasks(
    _ client: Client, _ instance: ControlInterface.Instance, _ first: Record, _ second: Record
  ) {
    let listed = Set(instance.tasks.map(\.id))
    for task in Set(first.outstanding).intersection(second.outstanding).sorted()
    where !listed.contains(task) {
      report("task \(task) was granted, but the daemon does not list it", client.number)
    }
    for task in first.endedLast where listed.contains(task) {
      report("task \(task) has ended, but the daemon lists it", client.number)
    }
  }

  // MARK: Suspension

  private func compareSuspension(
    _ client: Client, _ state: ControlInterface.State?, _ instance: ControlInterface.Instance,
    _ record: Record, _ touched: Set<Int>
  ) {
    let isSuspended = state == .suspended && !instance.suspending
    if let known = client.suspended, known.pid == record.pid, !touched.contains(client.number) {
      if state != .suspended {
        report(
          "was suspended, but is now \(state?.rawValue ?? "gone") without cause", client.number)
      } else if record[.ticks] != known.ticks {
        report("ran while it was suspended: \(record[.ticks] - known.ticks) ticks", client.number)
      }
    }
    client.suspended = isSuspended ? (record.pid, record[.ticks]) : nil
    if isSuspended, !isStopped(record.pid) {
      report("is reported as suspended, but is not stopped", client.number)
    }
    if !isSuspended, !instance.suspending, isStopped(record.pid), staysStopped(client, record.pid) {
      report("is reported as \(state?.rawValue ?? "gone"), but is stopped", client.number)
    }
  }

  /// Returns whether the process stays stopped for a second although the daemon does not report a
  /// suspension.
  private func staysStopped(_ client: Client, _ pid: Int32) -> Bool {
    for _ in 0..<20 {
      guard isAlive(pid), isStopped(pid), let application = try? list()[client.number],
        application.instance?.pid == Int(pid), application.state != .suspended,
        application.instance?.suspending == false
      else { return false }
      _ = poll(nil, 0, 50)
    }
    return true
  }

  /// Returns whether no thread can run, because all are stopped or the cgroup is frozen.
  func isStopped(_ pid: Int32) -> Bool { proc.isStopped(pid) }
}
