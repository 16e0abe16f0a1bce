import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire

/// Takes the calls of a connection, and hears of its end.
protocol ConnectionOwner: AnyObject {
  var readBuffer: ReadBuffer { get }
  var eventLog: EventLog { get }
  /// The socket that the daemon listens on.
  var listenerNumber: Int32 { get }
  /// Whether a connection of the daemon has this cookie.
  func hasConnection(_ cookie: UInt64) -> Bool
  var queuedBytesMax: Int { get }
  /// Calls answered without returning to the loop, so that nobody keeps others waiting.
  var callsAtOnce: Int { get }
  /// Counts what is kept for a client, or no longer; why that is too much, or nil.
  func keep(_ change: Kept, for user: UInt32) -> String?
  /// Whether it is this connection's turn; else it is served later.
  func admits(_ connection: Connection) -> Bool
  /// It has been served, for so long.
  func served(_ connection: Connection, nanoseconds: UInt64)
  /// To answer by `reply` or `fail`, now or later.
  func handle(_ call: ReceivedCall, on connection: Connection)
  /// Whether a oneway call does nothing, so that it need not be carried out for a client that has
  /// closed its connection.
  func isInVain(_ call: ReceivedCall, on connection: Connection) -> Bool
  /// It is to outlive the daemon.
  func save(_ connection: Connection)
  /// - Parameter reason: what went wrong; nil where the peer closed it.
  func closed(_ connection: Connection, reason: String?)
}

/// One client's connection: its calls are answered one at a time, in order.
final class Connection: TurnTaker, LoggedCall {
  /// What it is used for.
  enum Role {
    case calls
    case eventStream(InstanceProcesses)
    case monitor(Holdings.Monitor)
  }

  let peer: Peer
  /// What the event log calls it.
  let cookie: UInt64
  /// Whether systemd holds it too, over our death.
  var isSaved = false
  var role = Role.calls
  /// The instance that its process was found to belong to, as ``Speakers`` keeps it.
  var speaksFor: InstanceID?
  /// The last call that the policy was asked to answer.
  var request: RequestID?
  private let descriptor: FileDescriptor
  private var source: DescriptorSource?
  private unowned let owner: any ConnectionOwner
  /// The owner's, which lives as long: each call uses it several times.
  private let eventLog: EventLog
  private var input = MessageInput()
  private var wire: ServerConnection
  /// What the kernel has not taken yet, from `sent` on.
  private var output: [UInt8] = []
  private var sent = 0
  /// How far `output` belongs to a single answer, which may be of any length.
  private var answerEnd = 0
  /// What of `input` and `output` is counted for its user.
  private var kept = Kept()
  private var waitingFor = Connection.reading
  private static let reading: PollEvents = [.input, .inputEnd]
  private(set) var isOpen = true
  /// What it was seen to be ready for since it was served last.
  private var seen: PollEvents = []
  var isPutOff = false
  /// Whether the event log says that some of it is in our memory alone.
  private var isUnsaved = false

  /// - Parameters:
  ///   - descriptor: is non-blocking.
  ///   - held: what is known of one that an earlier daemon has left.
  init(
    _ descriptor: consuming FileDescriptor, cookie: UInt64, peer: Peer, service: Service,
    owner: any ConnectionOwner, loop: EventLoop, held: Holdings.Connection?
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
        held.stream != nil || held.monitor != nil
        || held.waiting?.method == Requests.Method.register.rawValue
      if takesMore || held.waiting != nil {
        wire.resume(more: takesMore, oneway: held.waiting?.isOneway ?? false)
      }
    }
    source = try loop.watch(self.descriptor.rawValue, for: [Self.reading, .onChange]) {
      [unowned self] events in ready(events)
    }
  }

  var number: Int32 { descriptor.rawValue }
  var takesMore: Bool { wire.takesMore }
  var isOneway: Bool { wire.isOneway }

  /// What the next daemon has to know of it; nil where its socket tells all.
  var held: Holdings.Connection? {
    var held = Holdings.Connection()
    switch role {
    case .calls: break
    case .eventStream(let instance): held.stream = instance.id
    case .monitor(let monitor): held.monitor = monitor
    }
    if input.isCollecting { held.input = MessagePart(Array(input.taken)) }
    held.isUnsaved = isUnsaved
    return held == Holdings.Connection() ? nil : held
  }

  /// Claims a descriptor that came with the call that is being answered.
  func take(_ index: FileDescriptorIndex) -> FileDescriptor? {
    input.descriptors.take(index.rawValue)
  }

  /// Returns the cookie of a socket that came with the call.
  ///
  /// - Throws: the reason why the daemon does not manage the socket, such as that it is its own.
  func cookie(ofReceived socket: Int32) throws(SocketRefusal) -> UInt64 {
    try ConnectedSocket.cookie(
      of: socket, listener: owner.listenerNumber, isOwn: owner.hasConnection)
  }

  // MARK: In

  private func ready(_ events: PollEvents) {
    seen.formUnion(events)
    if owner.admits(self) { serve() }
  }

  /// Takes what it has sent already, before the loop tells of it.
  func takeTurn() { ready(.input) }

  /// Does what it has been seen to be ready for.
  func serve() {
    let events = seen
    seen = []
    let start = BootClock.now()
    serve(events)
    countKept()
    owner.served(self, nanoseconds: BootClock.now() - start)
  }

  /// Whether something waits in its socket that can be taken now.
  var hasUnheard: Bool { waitingCount > 0 }

  /// Bytes.
  private var waitingCount: Int {
    guard isOpen, !wire.isBusy, output.isEmpty else { return 0 }
    return (try? UnixSocket.readableCount(descriptor.rawValue)) ?? 0
  }

  /// Takes what waits in its socket, and nothing that comes meanwhile.
  ///
  /// - Parameter end: when it is to stop (CLOCK_BOOTTIME).
  func hear(until end: UInt64) {
    let start = BootClock.now()
    var left = waitingCount
    while left > 0, isOpen, BootClock.now() < end, !wire.isBusy, output.isEmpty,
      case .took(let bytes, _) = readNext() {
      left -= bytes
    }
    // The loop has told of what is there: it is asked to tell again.
    if isOpen { source?.wait(for: waitingFor.union(.onChange)) }
    countKept()
    owner.served(self, nanoseconds: BootClock.now() - start)
  }

  private func serve(_ events: PollEvents) {
    guard isOpen else { return }
    if !output.isEmpty { flush() }
    if isOpen, events.contains(.error) { return close(reason: nil) }
    if isOpen, events.contains(.hangUp), wire.isBusy || !output.isEmpty {
      return close(reason: nil)
    }
    if isOpen, events.contains(.hangUp), !dropCallsInVain() {
      source?.wait(for: waitingFor.union(.onChange))
      return
    }
    let isAtEnd = !events.isDisjoint(with: [.hangUp, .inputEnd])
    let isWaiting = read(toItsEnd: isAtEnd)
    // Nothing more can come: an unfinished message stays one.
    if isOpen, isWaiting, isAtEnd { close(reason: nil) }
  }

  /// Takes what has been seen to be there; `toItsEnd`, looks for more until there is none.
  ///
  /// Returns whether it waits for the peer to send.
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
    // There may be more, of which the loop has told already: it is asked to tell again.
    if isOpen { source?.wait(for: waitingFor.union(.onChange)) }
    return false
  }

  /// Nanoseconds of dropping before others have their turn.
  private static let dropTime: UInt64 = 500_000

  /// The peer is gone. Takes the calls off its socket that would do nothing but be answered, as far
  /// as they come before one that does more: they may be thousands.
  ///
  /// Returns whether it has come to such a one, or to the end.
  private func dropCallsInVain() -> Bool {
    // What comes next is the rest of a message, whose beginning was taken.
    if input.isCollecting { return true }
    let end = BootClock.now() + Self.dropTime
    while isOpen, BootClock.now() < end {
      let (bytes, mayHaveMore) = input.wholeMessages(number, owner.readBuffer) { message in
        wire.onewayCall(message).map { owner.isInVain($0, on: self) } ?? false
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
    /// So many bytes of the socket: a call, which has been carried out, or a part of one.
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
      // They are in the message's place in the socket, and come with it alone.
      eventLog.beginCall(self, bytes: 0, phase: .peeked)
      takeMessage()
      if !isOpen { return eventLog.endCall() }
    }
    let action = wire.receive(
      message, fileDescriptorCount: input.descriptors.count, output: &output)
    eventLog.beginCall(
      self, bytes: input.untakenCount, phase: input.untakenCount > 0 ? .peeked : .taken,
      isOneway: wire.isOneway)
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
    // Not when it is taken: between a call's event and what the policy makes of it no event log is
    // to be begun.
    if wasCollecting { eventLog.note(.inputWhole(connection: cookie)) }
    input.forgetMessage()
    eventLog.endCall()
  }

  /// Takes a part of a message off the socket.
  ///
  /// The event log has it first. How much of it was taken only the socket knows, by its mark: the
  /// next daemon takes the rest. Descriptors do not outlive us, nor does a connection with them.
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

  /// Its call waits for an answer that comes later.
  func willWait() {
    owner.save(self)
  }

  /// Takes the message of the call that is being carried out off the socket: what it asks for is in
  /// the event log, or it is about to be answered.
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

  /// While a call waits for its answer or answers for their reader, nothing more is read.
  ///
  /// The loop tells of changes only: of thousands of sockets that stay ready, each look at one
  /// would cost a look at all. A change of what is waited for is told anew if it is there already.
  private func wait() {
    guard isOpen else { return }
    let next: PollEvents = !output.isEmpty ? .output : wire.isBusy ? [] : Self.reading
    guard next != waitingFor else { return }
    waitingFor = next
    source?.wait(for: next.union(.onChange))
  }

  // MARK: Out

  /// Answers the call; with `continues`, one of several times.
  ///
  /// Whoever has not read what came before is disconnected. A single answer may be of any length.
  func reply(_ parameters: some WireValue, continues: Bool = false) {
    guard isOpen, wire.isBusy, hasRoom() else { return }
    takeMessage()
    borrowOutput()
    wire.reply(parameters, continues: continues, output: &output)
    owner.eventLog.willSend(toConnection: cookie)
    flush()
    if !continues { wait() }
    countKept()
  }

  /// Sends one of several answers that is written already, because others get it, too.
  ///
  /// - Parameter inTurn: whether its user waits for a turn where that has none left.
  func tell(_ message: [UInt8], inTurn: Bool) {
    guard isOpen, wire.isBusy, hasRoom() else { return }
    borrowOutput()
    output += message
    if !inTurn || owner.admits(self) {
      owner.eventLog.willSend(toConnection: cookie)
      flush()
    }
    countKept()
  }

  /// Answers the call with several replies that belong together, as one answer.
  func replySnapshot(_ replies: some Sequence<some WireValue>) {
    takeMessage()
    guard isOpen, wire.isBusy else { return }
    borrowOutput()
    for reply in replies { wire.reply(reply, continues: true, output: &output) }
    answerEnd = output.count
    owner.eventLog.willSend(toConnection: cookie)
    flush()
    countKept()
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
    countKept()
  }

  /// Closes the connection where too much waits for its peer already.
  private func hasRoom() -> Bool {
    let waiting = output.count - max(sent, answerEnd)
    if waiting <= owner.queuedBytesMax { return true }
    close(reason: "the client does not read; \(waiting) bytes are waiting")
    return false
  }

  private func flush() {
    while sent < output.count {
      let result = output.withUnsafeBytes { bytes in
        Result { () throws(SystemError) in
          try UnixSocket.send(
            descriptor.rawValue, UnsafeRawBufferPointer(rebasing: bytes[sent...]))
        }
      }
      switch result {
      case .success(.bytes(let count)):
        sent += count
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

  /// Takes the buffer that the owner lends for answers: most are sent at once, and a buffer for
  /// each of thousands of connections would be empty.
  private func borrowOutput() {
    if output.capacity == 0 { swap(&output, &owner.readBuffer.answer) }
  }

  /// Gives it back, once all of it is sent.
  private func returnOutput() {
    guard output.capacity > 0 else { return }
    output.removeAll(keepingCapacity: output.capacity <= ReadBuffer.answerBytesMax)
    swap(&output, &owner.readBuffer.answer)
    output = []
  }

  /// Whoever always leaves a little unread must not make it grow for ever. Bytes are moved less
  /// often than they are sent.
  private func dropSent() {
    guard sent >= 1 << 16, sent >= output.count / 2 else { return }
    output.removeSubrange(..<sent)
    answerEnd = max(0, answerEnd - sent)
    sent = 0
  }

  /// Tells the owner what is kept for the peer now. Where its user has too much kept already, this
  /// connection, which waits for more, is closed.
  private func countKept() {
    noteUnsaved()
    var now = Kept()
    if isOpen {
      now.unfinished = input.collectedCount
      now.unread = output.count
      now.descriptors = input.isCollecting ? input.descriptors.count : 0
    }
    guard now != kept else { return }
    let change = now - kept
    kept = now
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
    countKept()
    owner.closed(self, reason: reason)
    // Last, for whoever is told of it may ask why. systemd may hold the socket too: the peer is
    // told all the same, and systemd lets go.
    UnixSocket.abandon(descriptor.rawValue)
  }
}
