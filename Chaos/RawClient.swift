import Glibc
import LinuxSystem
import TaskSchedulerWire

/// An application on two raw connections. It detects problems that a library would hide: closed
/// connections, duplicate callbacks, missing answers.
final class RawClient: Workload.Transport {
  private static let interface = "org.taskschedd.Application."
  /// The maximum time that a running client waits for an answer.
  private static let answerTime: UInt64 = 10_000_000_000

  private struct Callback {
    enum Acknowledgement {
      case none
      /// The client has sent the acknowledgement, but the daemon may not have received it.
      case sent
      case answered
    }
    var id: Int
    var kind: String
    var acknowledgement = Acknowledgement.none
  }

  private let work: Workload
  private var events: RawConnection?
  private var calls: RawConnection?
  private var instance: Int?
  private var last: Callback?
  /// The time at which the client acknowledges the last callback.
  private var acknowledgeAt: UInt64?
  private var isDraining = false

  init(_ work: Workload) {
    self.work = work
  }

  func run() -> Never {
    while true {
      guard let events else {
        register()
        continue
      }
      let pause = min(work.pause, acknowledgeAt.map { remaining(until: $0) } ?? .max)
      switch events.receive(within: pause) {
      case .message(let message): take(message)
      case .nothing: break
      case .closed:
        lost(events)
        self.events = nil
        continue
      }
      if let due = acknowledgeAt, remaining(until: due) == 0 { acknowledge() }
      work.turn(self)
    }
  }

  private func remaining(until instant: UInt64) -> UInt64 {
    let now = BootClock.now()
    return instant > now ? instant - now : 0
  }

  private func lost(_ connection: RawConnection) {
    let excuse = work.hasPaused ? "late" : connection.isYoung ? "young" : ""
    work.events.write(.lost, work.client, excuse)
    work.change { $0[.connectionsLost] += 1 }
  }

  // MARK: Registration

  private func register() {
    guard let connection = RawConnection(),
      connection.send(
        Self.interface + "Register", ["application": .string(Settings.application(work.client))],
        more: true)
    else {
      _ = poll(nil, 0, 20)
      return
    }
    var waited: UInt64 = 0
    while waited < Self.answerTime {
      switch connection.receive(within: Workload.tickTime) {
      case .nothing: waited += Workload.tickTime
      case .closed: return lost(connection)
      case .message(let message):
        guard let registered = message["parameters"]?["registered"] else {
          // The daemon may already be terminating the client, and then refuses to register it.
          if message.errorName != "Terminating" {
            work.violation("Register was answered by \(message)")
          }
          _ = poll(nil, 0, 100)
          return
        }
        events = connection
        return compare(registered)
      }
    }
    work.violation("Register was not answered")
  }

  /// Called when the client has registered again after it lost its connection. Compares the reply
  /// with the client's record: the daemon must still know the instance and all outstanding tasks.
  private func compare(_ registered: JSONValue) {
    let instance = registered["instance"]?.integer
    defer { self.instance = instance }
    guard let known = self.instance else { return }
    if known != instance {
      last = nil
      acknowledgeAt = nil
      return work.forgotten(
        "instance \(known) is forgotten: registered anew as \(instance ?? 0)")
    }
    let listed = Self.tasks(registered)
    for task in work.record.outstanding where !listed.contains(task) {
      work.violation("task \(task) is not in the new registration")
    }
  }

  private static func tasks(_ value: JSONValue) -> [Int] {
    guard case .array(let tasks)? = value["tasks"] else { return [] }
    return tasks.compactMap { $0["id"]?.integer }
  }

  // MARK: Events

  private func take(_ message: JSONValue) {
    if let callback = message["parameters"]?["callback"] {
      guard let id = callback["id"]?.integer, let kind = callback["kind"]?.string else {
        return work.violation("an unreadable callback: \(message)")
      }
      take(callback: id, kind)
    } else if let expiration = message["parameters"]?["expiration"] {
      let remaining = expiration["backgroundTimeRemainingUSec"]?.integer
      work.expired(
        expiration["task"]?.integer ?? 0, remaining: remaining.map { UInt64($0) * 1000 }, self)
    } else if message["parameters"]?["registered"] == nil,
      // A memory warning is permitted, because the machine that runs the campaign may be short of
      // memory.
      message["parameters"]?["memoryWarning"] == nil {
      work.violation("the event stream sent \(message)")
      events = nil
    }
  }

  private func take(callback id: Int, _ kind: String) {
    if let last, last.id == id {
      if last.kind != kind { work.violation("callback \(id) was \(last.kind), now \(kind)") }
      if last.acknowledgement == .answered {
        if isDraining { return }
        work.violation("callback \(id) \(kind) came again after the reply to its acknowledgement")
      }
    } else {
      if let last, last.acknowledgement == .none {
        work.violation("callback \(id) \(kind) came before \(last.id) was acknowledged")
      }
      if let last, last.id > id { work.violation("callback \(id) came after \(last.id)") }
      work.received(kind)
      last = Callback(id: id, kind: kind)
    }
    acknowledgeAt = BootClock.now() + UInt64(work.chance.below(60)) * 1_000_000
  }

  private func acknowledge() {
    acknowledgeAt = nil
    guard let callback = last else { return }
    let isRepeated = callback.acknowledgement != .none
    last?.acknowledgement = .sent
    guard let answer = call("Acknowledge", ["callback": .integer(Int64(callback.id))]) else {
      // The answer was lost. The daemon delivers the callback again if it has not received the
      // acknowledgement.
      return
    }
    switch answer.errorName {
    case nil:
      last?.acknowledgement = .answered
      work.change { $0[.acknowledgements] += 1 }
      drain()
    case "UnknownCallback"? where isRepeated: last?.acknowledgement = .answered
    case "NotRegistered"?: notRegistered()
    case _?: work.violation("Acknowledge \(callback.id) was answered by \(answer)")
    }
  }

  /// Reads the available events without counting a repeated callback as a violation. A new daemon
  /// may have repeated the callback just before it received and answered the acknowledgement.
  private func drain() {
    isDraining = true
    while case .message(let message)? = events?.receive(within: 0) { take(message) }
    isDraining = false
  }

  private func notRegistered() {
    work.violation("the daemon no longer knows the client")
    // Makes the client register again. The reply then shows whether the daemon still knows the
    // instance and its tasks.
    events = nil
  }

  // MARK: Calls

  /// Returns the answer to a call, or nil if the connection was lost.
  private func call(_ method: String, _ parameters: JSONValue) -> JSONValue? {
    guard let connection = calls ?? RawConnection() else {
      _ = poll(nil, 0, 20)
      return nil
    }
    calls = connection
    var waited: UInt64 = 0
    if connection.send(Self.interface + method, parameters) {
      while waited < Self.answerTime {
        switch connection.receive(within: Workload.tickTime) {
        case .message(let message): return message
        case .nothing: waited += Workload.tickTime
        case .closed: waited = .max
        }
      }
    } else {
      waited = .max
    }
    calls = nil
    if waited == .max { lost(connection) } else { work.violation("\(method) was not answered") }
    return nil
  }

  func begin(_ name: String) -> (task: Int, remaining: UInt64?)? {
    guard let answer = call("BeginBackgroundTask", ["name": .string(name)]) else {
      return findTask(name)
    }
    if let task = answer["parameters"]?["task"]?.integer {
      let remaining = answer["parameters"]?["backgroundTimeRemainingUSec"]?.integer
      return (task, remaining.map { UInt64($0) * 1000 })
    }
    switch answer.errorName {
    // The client made the call just before it was suspended or terminated.
    case "InvalidState"?, "Terminating"?: break
    case "NotRegistered"?: notRegistered()
    case _: work.violation("BeginBackgroundTask was answered by \(answer)")
    }
    return nil
  }

  /// Returns the task with the given name if the daemon lists it. The client calls this if the
  /// answer with the task's id was lost.
  private func findTask(_ name: String) -> (task: Int, remaining: UInt64?)? {
    guard case .array(let tasks)? = call("GetStatus", [:])?["parameters"]?["tasks"] else {
      return nil
    }
    return tasks.first { $0["name"]?.string == name }?["id"]?.integer.map { ($0, nil) }
  }

  func end(_ task: Int) -> Workload.Ending {
    for attempt in 0..<2 {
      guard let answer = call("EndBackgroundTask", ["task": .integer(Int64(task))])
      else { continue }
      switch answer.errorName {
      case nil: return .ended
      // The daemon carried out the first attempt, but its answer was lost.
      case "UnknownTask"? where attempt > 0: return .ended
      case "Terminating"?, "InvalidState"?: return .unknown
      case "NotRegistered"?:
        notRegistered()
        return .unknown
      case _?:
        work.violation("EndBackgroundTask \(task) was answered by \(answer)")
        return .ended
      }
    }
    return .unknown
  }
}
