import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire

/// The connection of one client. The daemon answers the client's calls one at a time, in order.
/// The small properties are declared together, so that the object needs little padding.
final class Connection: WorkSource, CurrentCall {
  /// The use of a connection.
  enum Role {
    case calls
    case eventStream(InstanceProcesses)
    case monitor(DaemonState.Monitor)
    /// The connection on which a session agent receives its orders.
    case agent
  }

  let peer: Peer
  /// The number that identifies the connection in the event log.
  let cookie: UInt64
  var role = Role.calls
  /// Whether systemd's descriptor store has the connection, so that it outlives the daemon.
  var isSaved = false
  var isDeferred = false
  private(set) var isOpen = true
  /// Whether the event log says that the connection loses data if the daemon dies.
  private var isUnsaved = false
  /// The instance of the client's process, as ``InstanceConnections`` found it.
  var knownInstance: InstanceID?
  /// The call that the scheduler must answer.
  var waiting: DaemonState.Waiting?
  private var waitingFor = Connection.reading
  private static let reading: PollEvents = [.input, .inputEnd]
  /// The poll events after which no further data can arrive. A constant, because a set literal
  /// would allocate an array at each use.
  private static let ended: PollEvents = [.hangUp, .inputEnd]
  private let descriptor: FileDescriptor
  /// The poll events that the loop has reported since the daemon last served the connection.
  private var seen: PollEvents = []
  private var source: DescriptorSource?
  private unowned let owner: any ConnectionOwner
  /// The event log of the owner. Access through this property is faster than through `owner`.
  private let eventLog: EventLog
  private var input = MessageInput()
  private var wire: ServerConnection
  /// The bytes to send. The kernel has accepted the bytes before `sent`.
  private var output: [UInt8] = []
  private var sent = 0
  /// The offset in `output` at which an answer with several replies ends. The limit of unread bytes
  /// does not apply to such an answer.
  private var answerEnd = 0
  /// The descriptor to send with the first byte of `output`.
  private var outputDescriptor: OutgoingDescriptor?
  /// The parts of `input` and `output` that count toward the user's limits.
  private var counted = HeldResources()

  /// - Parameters:
  ///   - descriptor: A non-blocking socket.
  ///   - held: The state that an earlier daemon left; nil for a new connection.
  init(
    _ descriptor: consuming FileDescriptor, cookie: UInt64, peer: Peer, service: Service,
    owner: any ConnectionOwner, loop: EventLoop, held: DaemonState.Connection?
  ) throws(SystemError) {
    self.cookie = cookie
    self.descriptor = descriptor
    self.peer = peer
    self.owner = owner
    eventLog = owner.eventLog
    wire = ServerConnection(service: service)
    if let held {
      input = MessageInput(collected: held.input.bytes)
      let takesMore =
        held.stream != nil || held.monitor != nil || held.isAgent
        || held.waiting?.takesMore ?? false
      if takesMore || held.waiting != nil {
        wire.resume(more: takesMore, oneway: held.waiting?.isOneway ?? false)
      }
    }
    source = try loop.watch(
      self.descriptor.rawValue, for: [Self.reading, .onChange]) { [unowned self] in ready($0) }
  }

  var number: Int32 { descriptor.rawValue }
  var takesMore: Bool { wire.takesMore }
  var isOneway: Bool { wire.isOneway }

  /// The state that the next daemon needs; nil if the socket alone is sufficient.
  var held: DaemonState.Connection? {
    var held = DaemonState.Connection()
    switch role {
    case .calls: break
    case .eventStream(let instance): held.stream = instance.id
    case .monitor(let monitor): held.monitor = monitor
    case .agent: held.isAgent = true
    }
    if input.isCollecting { held.input = MessagePart(Array(input.taken)) }
    held.isUnsaved = isUnsaved
    held.waiting = waiting
    return held == DaemonState.Connection() ? nil : held
  }

  /// Takes a descriptor that came with the current call.
  func take(_ index: FileDescriptorIndex) -> FileDescriptor? {
    input.descriptors.take(index.rawValue)
  }

  /// Returns the cookie of a socket that came with the call, or throws the reason why the daemon
  /// does not manage the socket.
  func cookie(ofReceived socket: Int32) throws(SocketRefusal) -> UInt64 {
    try ConnectedSocket.cookie(
      of: socket, listener: owner.listenerNumber, isOwn: owner.hasConnection)
  }

  // MARK: Input

  private func ready(_ events: PollEvents) {
    seen.formUnion(events)
    if owner.admits(self) { serve() }
  }

  /// Reads the data that the client has already sent, without waiting for the loop to report it.
  func takeTurn() { ready(.input) }

  /// Handles the reported readiness.
  func serve() {
    let events = seen
    seen = []
    let start = BootClock.now()
    serve(events)
    updateHeldResources()
    owner.served(self, nanoseconds: BootClock.now() - start)
  }

  /// Whether the daemon can read data from the socket now.
  var hasUnread: Bool { waitingCount > 0 }

  /// The number of bytes to read from the socket.
  private var waitingCount: Int {
    guard isOpen, !wire.isBusy, output.isEmpty else { return 0 }
    return (try? UnixSocket.readableCount(descriptor.rawValue)) ?? 0
  }

  /// Carries out the calls that are in the socket now, and no call that arrives later. Stops at
  /// `end`, in nanoseconds since boot. Returns false if calls are left for this reason.
  func carryOutPending(until end: UInt64) -> Bool {
    let start = BootClock.now()
    var left = waitingCount
    while left > 0, isOpen, BootClock.now() < end, !wire.isBusy, output.isEmpty,
      case .took(let bytes, _) = readNext() {
      left -= bytes
    }
    // If data is left in the socket, make the loop report the data again.
    if isOpen { source?.wait(for: waitingFor.union(.onChange)) }
    updateHeldResources()
    owner.served(self, nanoseconds: BootClock.now() - start)
    return left <= 0 || !isOpen || BootClock.now() < end
  }

  private func serve(_ events: PollEvents) {
    guard isOpen else { return }
    if !output.isEmpty { flush() }
    if isOpen, events.contains(.error) { return close(reason: nil) }
    if isOpen, events.contains(.hangUp), wire.isBusy || !output.isEmpty {
      return close(reason: nil)
    }
    if isOpen, events.contains(.hangUp), !discardUselessCalls() {
      source?.wait(for: waitingFor.union(.onChange))
      return
    }
    let isAtEnd = !events.isDisjoint(with: Self.ended)
    let isWaiting = read(toItsEnd: isAtEnd)
    // The client can send nothing more, so close the connection.
    if isOpen, isWaiting, isAtEnd { close(reason: nil) }
  }

  /// Carries out the calls in the reported data. With `toItsEnd`, reads until the socket is empty.
  ///
  /// - Returns: Whether the connection waits for the client to send.
  private func read(toItsEnd: Bool) -> Bool {
    for _ in 0..<owner.callsAtOnce {
      guard isOpen, !wire.isBusy, output.isEmpty else {
        wait()
        return false
      }
      switch readNext() {
      case .took(_, let mayHaveMore):
        if mayHaveMore || toItsEnd { continue }
        wait()
        return true
      case .nothing:
        wait()
        return true
      case .closed: break
      }
    }
    // If data is left in the socket, make the loop report the data again.
    if isOpen { source?.wait(for: waitingFor.union(.onChange)) }
    return false
  }

  /// The time for which the daemon drops calls before it serves other clients, in nanoseconds.
  private static let dropTime: UInt64 = 500_000

  /// Drops the calls of a client that has closed its connection, up to the first call with an
  /// effect. There may be thousands of calls without an effect.
  ///
  /// - Returns: false if a later turn must drop further calls.
  private func discardUselessCalls() -> Bool {
    // The next bytes belong to a message whose beginning has already been received.
    if input.isCollecting { return true }
    let end = BootClock.now() + Self.dropTime
    while isOpen, BootClock.now() < end {
      let (bytes, mayHaveMore) = input.wholeMessages(number, owner.readBuffer) { message in
        wire.onewayCall(message).map { owner.isUseless($0, on: self) } ?? false
      }
      guard bytes > 0 else { return true }
      do throws(ReceiveError) {
        try input.drop(bytes, number, owner.readBuffer)
      } catch {
        close(reason: String(describing: error))
      }
      if !mayHaveMore { return true }
    }
    return !isOpen
  }

  private enum ReadStep {
    /// The daemon read this number of bytes: it carried out a call, or received part of a message.
    case took(bytes: Int, mayHaveMore: Bool)
    case nothing
    case closed
  }

  private func readNext() -> ReadStep {
    switch input.next(descriptor.rawValue, owner.readBuffer) {
    case .part(let part):
      collect(part)
      return .took(bytes: part.count, mayHaveMore: true)
    case .message(let message):
      let step = ReadStep.took(bytes: input.untakenCount, mayHaveMore: input.mayHaveMore)
      take(message)
      return step
    case .incomplete: return .nothing
    case .closed: close(reason: nil)
    case .failed(let error): close(reason: String(describing: error))
    }
    return .closed
  }

  private func take(_ message: UnsafeRawBufferPointer) {
    let wasCollecting = input.isCollecting
    if input.hasDescriptors, input.untakenCount > 0 {
      // The daemon gets the descriptors only when it receives the message from the socket.
      eventLog.beginCall(self, bytes: 0, phase: .peeked)
      takeMessage()
      if !isOpen { return eventLog.endCall() }
    }
    let action = wire.receive(
      message, fileDescriptorCount: input.descriptors.count, output: &output)
    eventLog.beginCall(
      self, bytes: input.untakenCount, phase: input.untakenCount > 0 ? .peeked : .taken)
    switch action {
    case .call(let call):
      owner.handle(call, on: self)
      takeMessage()
    case .answered:
      input.descriptors.removeAll()
      takeMessage()
      eventLog.willSend(toConnection: cookie)
      flush()
    case .close(let violation):
      close(reason: String(describing: violation))
    }
    // Writing this record can begin a new event log. That must not happen between a call's event
    // and the effects of that event.
    if wasCollecting { eventLog.note(.inputComplete(connection: cookie)) }
    input.forgetMessage()
    eventLog.endCall()
  }

  /// Receives a part of a message from the socket.
  ///
  /// The event log stores the part before the daemon receives it. If the daemon dies between the
  /// two, the socket's peek mark (SO_PEEK_OFF) shows how many bytes of the part are still in the
  /// socket, and the next daemon receives these bytes. A connection with received descriptors does
  /// not outlive the daemon, because the next daemon does not inherit these descriptors.
  private func collect(_ part: UnsafeRawBufferPointer) {
    eventLog.beginCall(
      self, bytes: input.takenCount + part.count,
      phase: input.hasDescriptors ? .taking : .takingPart)
    do {
      try UnixSocket.setPeekMark(number, part.count)
      eventLog.note(.input(MessagePart(Array(part)), connection: cookie))
      try input.takePart(number, owner.readBuffer)
      try UnixSocket.setPeekMark(number, nil)
    } catch {
      close(reason: String(describing: error))
    }
    noteUnsaved()
    eventLog.endCall()
  }

  /// Saves the connection, because the scheduler answers the call later.
  func willWait() {
    owner.save(self)
  }

  /// Removes the message of the current call from its socket. Call this method after the event log
  /// has stored the event of the call, or immediately before the answer.
  func takeMessage() {
    guard isOpen, input.untakenCount > 0 else { return }
    eventLog.setCallPhase(.taking)
    do throws(ReceiveError) {
      try input.take(descriptor.rawValue, owner.readBuffer)
      eventLog.setCallPhase(.taken)
    } catch {
      close(reason: String(describing: error))
    }
  }

  /// Sets the events that the loop reports. The daemon reads no data while a call has no answer
  /// yet, or while a part of an answer is not sent yet.
  ///
  /// The loop reports only changes. Otherwise the kernel would examine every ready socket at each
  /// wait, and there may be thousands. After a change of the watched events, the kernel reports
  /// readiness again.
  private func wait() {
    guard isOpen else { return }
    let next: PollEvents = !output.isEmpty ? .output : wire.isBusy ? [] : Self.reading
    guard next != waitingFor else { return }
    waitingFor = next
    source?.wait(for: next.union(.onChange))
  }

  /// Answers the current call. With `continues`, further answers follow.
  ///
  /// Disconnects a client that leaves too many bytes of earlier answers unread. A single answer can
  /// have any length.
  func reply(_ parameters: some WireValue, continues: Bool = false) {
    guard isOpen, wire.isBusy, hasRoom() else { return }
    takeMessage()
    borrowOutput()
    wire.reply(parameters, continues: continues, output: &output)
    owner.eventLog.willSend(toConnection: cookie)
    flush()
    if !continues { wait() }
    updateHeldResources()
  }

  /// Answers the current call with a descriptor, whose index is 0. The answer is the first in
  /// `output`, because a connection with an unread answer accepts no other call.
  func reply(_ parameters: some WireValue, with descriptor: consuming FileDescriptor) {
    guard isOpen, wire.isBusy else { return }
    precondition(output.isEmpty, "an answer with a descriptor follows another answer")
    outputDescriptor = OutgoingDescriptor(descriptor)
    reply(parameters)
  }

  /// Sends one of several answers. The caller has encoded it, because other clients receive the
  /// same answer.
  ///
  /// - Parameter inTurn: Whether the answer waits for the user's turn if the user has no credit.
  func sendMessage(_ message: [UInt8], inTurn: Bool) {
    guard isOpen, wire.isBusy, hasRoom() else { return }
    borrowOutput()
    output += message
    if !inTurn || owner.admits(self) {
      owner.eventLog.willSend(toConnection: cookie)
      flush()
    }
    updateHeldResources()
  }

  /// Answers the call with several replies that count as one answer.
  func replySnapshot(_ replies: some Sequence<some WireValue>) {
    takeMessage()
    guard isOpen, wire.isBusy else { return }
    borrowOutput()
    for reply in replies { wire.reply(reply, continues: true, output: &output) }
    answerEnd = output.count
    owner.eventLog.willSend(toConnection: cookie)
    flush()
    updateHeldResources()
  }

  /// Answers the call with an error.
  func fail(_ failure: some MethodFailure) {
    takeMessage()
    guard isOpen, wire.isBusy else { return }
    borrowOutput()
    wire.fail(failure, output: &output)
    owner.eventLog.willSend(toConnection: cookie)
    flush()
    wait()
    updateHeldResources()
  }

  /// Closes the connection if too many bytes wait for the client. Returns whether the connection
  /// stays open.
  private func hasRoom() -> Bool {
    let waiting = output.count - max(sent, answerEnd)
    if waiting <= owner.queuedBytesMax { return true }
    close(reason: "the client does not read; \(waiting) bytes are waiting")
    return false
  }

  private func flush() {
    while sent < output.count {
      switch sendOnce() {
      case .success(.bytes(let count)):
        sent += count
        // The kernel has sent the descriptor with the first byte, so later bytes go without it.
        outputDescriptor = nil
      case .success(.wouldBlock):
        dropSent()
        return wait()
      case .success(.closed):
        return close(reason: nil)
      case .failure(let error):
        return close(reason: String(describing: error))
      }
    }
    sent = 0
    answerEnd = 0
    returnOutput()
  }

  private func sendOnce() -> Result<Transfer, SystemError> {
    let descriptors = outputDescriptor.map { [$0.rawValue] } ?? []
    return output.withUnsafeBytes { bytes in
      descriptors.withUnsafeBufferPointer { descriptors in
        Result { () throws(SystemError) in
          try UnixSocket.send(
            descriptor.rawValue, UnsafeRawBufferPointer(rebasing: bytes[sent...]),
            descriptors: descriptors)
        }
      }
    }
  }

  /// Borrows the owner's buffer for answers. The daemon sends most answers at once, so a buffer in
  /// each of thousands of connections would be empty most of the time and waste memory.
  private func borrowOutput() {
    if output.capacity == 0 { swap(&output, &owner.readBuffer.answer) }
  }

  /// Returns the buffer to the owner after its last byte is sent.
  private func returnOutput() {
    guard output.capacity > 0 else { return }
    output.removeAll(keepingCapacity: output.capacity <= ReadBuffer.answerBytesMax)
    swap(&output, &owner.readBuffer.answer)
    output = []
  }

  /// Removes sent bytes. Otherwise the buffer would grow without limit for a client that always
  /// leaves some bytes unread. Each removal moves at most as many bytes as it removes.
  private func dropSent() {
    guard sent >= 1 << 16, sent >= output.count / 2 else { return }
    output.removeSubrange(..<sent)
    answerEnd = max(0, answerEnd - sent)
    sent = 0
  }

  /// Reports the held memory and descriptors. Closes the connection if they exceed a limit.
  private func updateHeldResources() {
    noteUnsaved()
    var now = HeldResources()
    if isOpen {
      now.unfinished = input.collectedCount
      now.unread = output.count
      now.descriptors =
        (input.isCollecting ? input.descriptors.count : 0) + (outputDescriptor == nil ? 0 : 1)
    }
    guard now != counted else { return }
    let change = now - counted
    counted = now
    if let reason = owner.keep(change, for: peer.uid) { close(reason: reason) }
  }

  private func noteUnsaved() {
    let isUnsaved = !output.isEmpty || (input.isCollecting && input.descriptors.count > 0)
    guard isOpen, isUnsaved != self.isUnsaved else { return }
    self.isUnsaved = isUnsaved
    eventLog.note(.unsaved(isUnsaved, connection: cookie))
  }

  func close(reason: String?) {
    guard isOpen else { return }
    isOpen = false
    source = nil
    outputDescriptor = nil
    updateHeldResources()
    owner.closed(self, reason: reason)
    // The shutdown comes last, because the owner may still examine the socket. If systemd has a
    // copy of the socket, shutdown still reaches the client, and systemd then closes its copy.
    UnixSocket.abandon(descriptor.rawValue)
  }
}
