import Glibc
import LinuxSystem
import TaskSchedulerWire

/// The operator of a campaign, which runs in a separate process. It continuously activates
/// applications, interrupts them, and sends them to the background. Sometimes it terminates one.
///
/// A line on its standard input pauses the operator: it completes the current operation, and prints
/// the numbers of the applications that it has operated since the last pause. The next line ends
/// the pause.
struct Operator {
  private let clients: Int
  private var chance: SeededGenerator
  private let events = Events(path: Settings.events)
  private var connection: RawConnection?
  private var touched: Set<Int> = []

  init(clients: Int, seed: UInt64) {
    self.clients = clients
    chance = SeededGenerator(seed: seed, for: -1)
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

  /// Waits for an empty line; returns false at the end of the input. Reads a single byte, because
  /// poll(2) would not report a further line that is already in a buffer.
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
    // The application has not registered yet, or not again after its restart.
    case "UnknownApplication"?: break
    case _?: events.write(.violation, client, "\(method) was answered by \(answer)")
    }
  }

  /// Returns the answer to a call. Returns nil if the connection was lost: the daemon may or may
  /// not have carried out the call.
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
