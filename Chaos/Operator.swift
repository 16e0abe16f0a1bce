import Glibc
import LinuxSystem
import TaskSchedulerWire

/// A person at the switch, who is never content: activates, sends away, interrupts and, seldom,
/// terminates applications, one after the other, in a process of its own.
///
/// For each line on its standard input it stops after the operation that is under way, and writes
/// the numbers of the applications that it has touched since it went on; then it waits for another
/// line before it goes on.
struct Operator {
  private let clients: Int
  private var chance: Chance
  private let events = Events(path: Settings.events)
  private var connection: RawConnection?
  private var touched: Set<Int> = []

  init(clients: Int, seed: UInt64) {
    self.clients = clients
    chance = Chance(seed: seed, for: -1)
  }

  mutating func run() {
    while true {
      var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      guard poll(&input, 1, Int32(chance.below(10))) == 1 else {
        operate()
        continue
      }
      guard hasLine() else { return }
      let numbers = touched.sorted().map(String.init).joined(separator: " ")
      print(numbers)
      fflush(nil)
      touched = []
      guard hasLine() else { return }
    }
  }

  /// Waits for a line, which is empty. Read past it, and poll(2) would not see the next.
  private func hasLine() -> Bool {
    var byte: UInt8 = 0
    return read(STDIN_FILENO, &byte, 1) == 1
  }

  private mutating func operate() {
    let client = chance.below(clients)
    let part = chance.below(1000)
    let method =
      switch part {
      case ..<600: "Activate"
      case ..<800: "SendToBackground"
      case ..<990: "Deactivate"
      case _: "Terminate"
      }
    touched.insert(client)
    if method == "Terminate" { events.write(.terminate, client) }
    guard let answer = call(method, Settings.application(client)) else { return }
    switch answer.errorName {
    case nil, "InvalidTransition"?, "Terminating"?, "NotLaunchable"?: break
    // It has not registered yet, or not again.
    case "UnknownApplication"?: break
    case _?: events.write(.violation, client, "\(method) was answered by \(answer)")
    }
  }

  /// Nil where the connection was lost; whether it was carried out is not known then.
  private mutating func call(_ method: String, _ application: String) -> JSONValue? {
    guard let connection = connection ?? RawConnection() else { return nil }
    self.connection = connection
    if connection.send("org.taskschedd.Control." + method, ["application": .string(application)]) {
      for _ in 0..<200 {
        switch connection.receive(within: 100_000_000) {
        case .message(let message): return message
        case .nothing: continue
        case .closed:
          self.connection = nil
          events.write(.lost, clients, connection.isYoung ? "young" : "")
          return nil
        }
      }
      events.write(.violation, clients, "\(method) of \(application) was not answered")
    } else {
      events.write(.lost, clients, connection.isYoung ? "young" : "")
    }
    self.connection = nil
    return nil
  }
}
