import TaskSchedulerWire

/// What the client knows of its managed sockets and their events: a pure value.
struct SocketLedger: Sendable {
  typealias Event = ApplicationInterface.SocketEvent

  enum Action {
    case deliver([ReadySocket])
    /// It has been handled, or there is nothing to handle.
    case acknowledge
    /// It is being handled, or waits for the answer that says which socket it means.
    case none
  }

  /// How many events that were handled are remembered: those that are delivered again because the
  /// acknowledgement was lost.
  private static let handledMax = 16

  /// All that are managed, in the order in which they were handed over.
  private(set) var sockets: [ManagedSocket] = []
  /// By the numbers that the daemon has for them now.
  private var socketsByNumber: [Int: ManagedSocket] = [:]
  private var managesInFlight = 0
  /// The daemon has forgotten them all, and has not got them all again.
  private var isRestoring = false
  /// Events of sockets whose number has not been told yet.
  private var early: [Event] = []
  private var handling: Set<Int> = []
  /// Newest last.
  private var handledLast: [Int] = []

  // MARK: - Sockets

  mutating func willManage() { managesInFlight += 1 }

  /// - Returns: the socket of that number, and the events to look at again.
  mutating func managed(
    _ number: Int, _ make: () -> ManagedSocket
  ) -> (ManagedSocket, waiting: [Event]) {
    let known = socketsByNumber[number]
    let socket = known ?? make()
    if known == nil { sockets.append(socket) }
    socketsByNumber[number] = socket
    return (socket, manageEnded())
  }

  /// - Returns: the events to look at again.
  mutating func manageEnded() -> [Event] {
    managesInFlight -= 1
    defer { early = [] }
    return early
  }

  mutating func remove(_ socket: ManagedSocket) {
    sockets.removeAll { $0 === socket }
    socketsByNumber = socketsByNumber.filter { $0.value !== socket }
  }

  /// The daemon has it again, by this number.
  mutating func renumber(_ socket: ManagedSocket, to number: Int) {
    socketsByNumber = socketsByNumber.filter { $0.value !== socket }
    socketsByNumber[number] = socket
  }

  /// The daemon knows nothing any more: its numbers mean nothing.
  mutating func forgetNumbers() {
    isRestoring = true
    socketsByNumber = [:]
    early = []
    handling = []
    handledLast = []
  }

  /// The daemon has them all again. Returns the events to look at again.
  mutating func restored() -> [Event] {
    isRestoring = false
    defer { early = [] }
    return early
  }

  // MARK: - Events

  mutating func received(_ event: Event) -> Action {
    if handling.contains(event.id) || early.contains(where: { $0.id == event.id }) { return .none }
    if handledLast.contains(event.id) { return .acknowledge }
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
    handling.insert(event.id)
    return .deliver(ready)
  }

  mutating func handled(_ event: Int) {
    guard handling.remove(event) != nil else { return }
    handledLast.append(event)
    if handledLast.count > Self.handledMax { handledLast.removeFirst() }
  }
}
