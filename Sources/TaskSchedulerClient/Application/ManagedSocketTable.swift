import TaskSchedulerWire

/// The managed sockets of an application and their events, as a value that does no I/O.
struct ManagedSocketTable: Sendable {
  typealias Event = ApplicationInterface.SocketEvent

  enum Action {
    case deliver([ReadySocket])
    /// The application has handled the event, or there is nothing to handle.
    case acknowledge
    /// The application is handling the event, or the library does not yet know the number of the
    /// event's socket.
    case none
  }

  /// All managed sockets, in the order in which the application passed them.
  private(set) var sockets: [ManagedSocket] = []
  /// The sockets by the numbers that the running daemon assigned to them.
  private var socketsByNumber: [Int: ManagedSocket] = [:]
  private var managesInFlight = 0
  /// Whether the library must still pass sockets to a daemon that does not know them any more.
  private var isRestoring = false
  /// Events of sockets whose number is not known yet.
  private var early: [Event] = []
  private var events = HandledEvents()

  // MARK: - Sockets

  mutating func willManage() { managesInFlight += 1 }

  /// Handles the daemon's positive reply to a request to manage a socket. Returns the socket with
  /// this number, and the events that arrived before the numbers of their sockets were known.
  mutating func managed(
    _ number: Int, _ make: () -> ManagedSocket
  ) -> (ManagedSocket, waiting: [Event]) {
    let known = socketsByNumber[number]
    let socket = known ?? make()
    if known == nil { sockets.append(socket) }
    socketsByNumber[number] = socket
    return (socket, manageEnded())
  }

  /// Records that a request to manage a socket has ended, for example because it failed. Returns
  /// the events that arrived before the numbers of their sockets were known.
  mutating func manageEnded() -> [Event] {
    managesInFlight -= 1
    defer { early = [] }
    return early
  }

  mutating func remove(_ socket: ManagedSocket) {
    sockets.removeAll { $0 === socket }
    socketsByNumber = socketsByNumber.filter { $0.value !== socket }
  }

  /// Stores the number that the daemon now uses for a socket.
  mutating func renumber(_ socket: ManagedSocket, to number: Int) {
    socketsByNumber = socketsByNumber.filter { $0.value !== socket }
    socketsByNumber[number] = socket
  }

  /// Removes the numbers, because the daemon does not know this process any more.
  mutating func forgetNumbers() {
    isRestoring = true
    socketsByNumber = [:]
    early = []
    events = HandledEvents()
  }

  /// Ends the restoration of the sockets. Returns the events that arrived before the numbers of
  /// their sockets were known.
  mutating func restored() -> [Event] {
    isRestoring = false
    defer { early = [] }
    return early
  }

  // MARK: - Events

  mutating func received(_ event: Event) -> Action {
    switch events.action(for: event.id) {
    case .deliver: if early.contains(where: { $0.id == event.id }) { return .none }
    case .acknowledge: return .acknowledge
    case .none: return .none
    }
    let ready = event.sockets.compactMap { readiness in
      socketsByNumber[readiness.socket].map {
        ReadySocket(socket: $0, conditions: SocketConditions(readiness))
      }
    }
    if ready.count < event.sockets.count, managesInFlight > 0 || isRestoring {
      early.append(event)
      return .none
    }
    if ready.isEmpty { return .acknowledge }
    events.begin(event.id)
    return .deliver(ready)
  }

  mutating func handled(_ event: Int) { events.handled(event) }
}
