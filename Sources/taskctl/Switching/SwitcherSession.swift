import Glibc
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire

/// `taskctl switcher` on a terminal.
///
/// The process blocks its signals and reads them one at a time. It waits in poll(2) for keys, for
/// signals, for changes that the daemon reports, and for the answers to its own calls. It restores
/// the terminal before it ends or stops.
struct SwitcherSession: ~Copyable {
  /// A call that the daemon has not answered yet, with a connection of its own.
  private enum PendingCall {
    case activation(Connection, Connection.Replies<ControlInterface.Activate>)
    case removal(Connection, Connection.Replies<ControlInterface.RemoveFromSwitcher>)

    var descriptor: Int32 {
      switch self {
      case .activation(let connection, _), .removal(let connection, _): connection.descriptor
      }
    }
  }

  /// The time after Esc in which the rest of a key's sequence arrives, in milliseconds.
  private static let sequenceTime: Int32 = 50

  private let query: SwitcherQuery
  private let connection: Connection
  private let monitor: Connection
  private let changes: Connection.Replies<ControlInterface.Monitor>
  private let signals: SignalQueue
  private var pending: [PendingCall] = []
  private var keys = SwitcherKeys()
  private var screen: SwitcherScreen
  private var terminal = FullScreen()
  private var isDone = false
  /// The signal that ends this process.
  private var endingSignal: Int32?

  /// Shows the switcher until the user leaves it. If a signal ends the switcher, the process then
  /// ends itself by the same signal.
  static func run(_ query: SwitcherQuery) throws {
    var session = try SwitcherSession(query)
    try session.run()
    guard let signal = session.endingSignal else { return }
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, signal)
    Glibc.signal(signal, SIG_DFL)
    raise(signal)
    sigprocmask(SIG_UNBLOCK, &set, nil)
  }

  private init(_ query: SwitcherQuery) throws {
    let connection = try Connection.connect(to: query.path)
    let monitor = try Connection.connect(to: query.path)
    // The monitor begins before the list is read, so that no change in between is missed.
    let changes = try monitor.callMore(
      ControlInterface.Monitor.self, .init(owner: query.input.owner), timeout: answerTimeout)
    let list = try query.list(on: connection)
    signals = try SignalQueue(
      [SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH])
    // From now on, request the list of this seat. Otherwise the switcher would change to another
    // seat when the last application leaves this seat.
    var input = query.input
    input.seat = list.seat
    self.query = SwitcherQuery(path: query.path, input: input)
    self.connection = connection
    self.monitor = monitor
    self.changes = changes
    screen = SwitcherScreen(list)
  }

  private mutating func run() throws {
    defer { terminal.end() }
    try terminal.begin()
    while !isDone {
      try terminal.draw(screen.lines(terminal.size, .forStandardOutput()))
      try waitForNext()
    }
  }

  private mutating func waitForNext() throws {
    var entries = [STDIN_FILENO, signals.descriptor.rawValue, monitor.descriptor]
      .map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    entries += pending.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    let timeout = keys.isWaiting ? Self.sequenceTime : -1
    let count = poll(&entries, nfds_t(entries.count), timeout)
    if count < 0, errno != EINTR { throw SystemError(call: "poll", errno: errno) }
    if count == 0, let key = keys.finish() { try press(key) }
    if count > 0, entries[0].revents != 0 { try takeKeys() }
    while let signal = try signals.next() { try take(signal.number) }
    try takeAnswers()
    try takeChanges()
  }

  // MARK: Keys and signals

  private mutating func takeKeys() throws {
    let bytes = try terminal.read()
    // The terminal has been closed.
    if bytes.isEmpty { isDone = true }
    for key in keys.take(bytes) where !isDone { try press(key) }
  }

  private mutating func press(_ key: SwitcherKey) throws {
    screen.move(key)
    switch key {
    case .up, .down, .first, .last: break
    case .activate: try activate()
    case .remove: try remove()
    case .leave: isDone = true
    case .suspend: try stopForShell()
    }
  }

  private mutating func take(_ signal: Int32) throws {
    switch signal {
    case SIGTSTP: try stopForShell()
    // A shell or another program may have changed the terminal while this process was stopped.
    case SIGCONT: try terminal.begin()
    // The next drawing has the new size.
    case SIGWINCH: break
    case _:
      endingSignal = signal
      isDone = true
    }
  }

  private mutating func stopForShell() throws {
    terminal.end()
    kill(getpid(), SIGSTOP)
    try terminal.begin()
  }

  // MARK: Calls

  private mutating func activate() throws {
    guard let selected = screen.selected else { return }
    let connection = try Connection.connect(to: query.path)
    let replies = try connection.callMore(
      ControlInterface.Activate.self,
      .init(application: selected.application, owner: selected.owner))
    pending.append(.activation(connection, replies))
  }

  /// Removes the selected application. The daemon removes the application from the list at once,
  /// and answers when the application has ended.
  private mutating func remove() throws {
    guard let selected = screen.selected else { return }
    let connection = try Connection.connect(to: query.path)
    let replies = try connection.callMore(
      ControlInterface.RemoveFromSwitcher.self,
      .init(application: selected.application, owner: selected.owner, byUser: true))
    pending.append(.removal(connection, replies))
  }

  private mutating func takeAnswers() throws {
    var left: [PendingCall] = []
    for call in pending {
      do {
        switch call {
        case .activation(_, let replies):
          if try replies.nextIfReady() != nil { isDone = true } else { left.append(call) }
        case .removal(_, let replies):
          if try replies.nextIfReady() == nil { left.append(call) }
        }
      } catch let error as ConnectionError {
        throw error
      } catch {
        screen.show(CommandFailure(error)?.text ?? "taskctl: \(PrintableText.of("\(error)"))")
      }
    }
    pending = left
  }

  /// Reads the changes that have arrived. After a change, reads the list again, because the change
  /// may have affected the list.
  private mutating func takeChanges() throws {
    var isChanged = false
    while let reply = try changes.nextIfReady() {
      if reply.change != nil { isChanged = true }
    }
    if isChanged { screen.update(try query.list(on: connection)) }
  }
}
