import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerWire

/// Who speaks on a connection, as the kernel recorded it when it was made; never what it says.
final class Peer {
  let credentials: PeerCredentials
  /// The process with that pid when the connection was accepted, where the kernel offers no pidfd.
  let identity: ProcessIdentity?
  /// Supplementary groups.
  let groups: [UInt32]
  /// The instance that it was found to belong to.
  var instance: InstanceProcesses?
  private var knownOperator: Bool?

  var uid: UInt32 { credentials.uid }

  init(credentials: PeerCredentials, groups: [UInt32], identity: ProcessIdentity?) {
    self.credentials = credentials
    self.groups = groups
    self.identity = identity
  }

  func isOperator(_ find: () -> Bool) -> Bool {
    if let knownOperator { return knownOperator }
    let found = find()
    knownOperator = found
    return found
  }

  /// The operators' group may have changed.
  func forgetOperator() {
    knownOperator = nil
  }
}

/// Takes the calls of a connection, and hears of its end.
protocol ConnectionOwner: AnyObject {
  var readBuffer: ReadBuffer { get }
  var queuedBytesMax: Int { get }
  /// Counts bytes that are kept for a client, or no longer; why that is too much, or nil.
  func keep(_ bytesChange: Int, for user: UInt32) -> String?
  /// Whether it is this connection's turn; else it is served later.
  func admits(_ connection: Connection) -> Bool
  /// It has been served, for so long.
  func served(_ connection: Connection, nanoseconds: UInt64)
  /// To answer by `reply` or `fail`, now or later.
  func handle(_ call: ReceivedCall, on connection: Connection)
  /// - Parameter reason: what went wrong; nil where the peer closed it.
  func closed(_ connection: Connection, reason: String?)
}

/// One client's connection: its calls are answered one at a time, in order.
final class Connection {
  /// What it is used for.
  enum Role {
    case calls
    case eventStream(InstanceProcesses)
    case monitor
  }

  let peer: Peer
  var role = Role.calls
  /// The last call that the policy was asked to answer.
  var request: RequestID?
  private let descriptor: FileDescriptor
  private var source: DescriptorSource?
  private unowned let owner: any ConnectionOwner
  private var input = MessageInput()
  private var wire: ServerConnection
  /// What the kernel has not taken yet, from `sent` on.
  private var output: [UInt8] = []
  private var sent = 0
  /// How far `output` belongs to a single answer, which may be of any length.
  private var answerEnd = 0
  /// What of `input` and `output` is counted for its user.
  private var keptBytes = 0
  private var waitingFor = Connection.reading
  private static let reading: PollEvents = [.input, .inputEnd]
  private(set) var isOpen = true
  /// What it was seen to be ready for since it was served last.
  private var seen: PollEvents = []
  /// Whether it waits for a turn.
  var isPutOff = false
  /// Calls answered without returning to the loop, so that nobody keeps others waiting.
  private static let callsAtOnceMax = 16

  init(
    _ descriptor: consuming FileDescriptor, peer: Peer, service: Service,
    owner: any ConnectionOwner, loop: EventLoop
  ) throws(SystemError) {
    self.descriptor = descriptor
    self.peer = peer
    self.owner = owner
    wire = ServerConnection(service: service)
    source = try loop.watch(self.descriptor.rawValue, for: [Self.reading, .onChange]) {
      [unowned self] events in ready(events)
    }
  }

  var number: Int32 { descriptor.rawValue }
  var takesMore: Bool { wire.takesMore }

  /// Claims a descriptor that came with the call that is being answered.
  func take(_ index: FileDescriptorIndex) -> FileDescriptor? {
    input.descriptors.take(index.rawValue)
  }

  // MARK: In

  private func ready(_ events: PollEvents) {
    seen.formUnion(events)
    if owner.admits(self) { serve() }
  }

  /// Does what it has been seen to be ready for.
  func serve() {
    let events = seen
    seen = []
    let start = BootClock.now()
    serve(events)
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
    let isAtEnd = !events.isDisjoint(with: [.hangUp, .inputEnd])
    let isWaiting = read(toItsEnd: isAtEnd)
    // Nothing more can come: an unfinished message stays one.
    if isOpen, isWaiting, isAtEnd { close(reason: nil) }
  }

  /// Takes what has been seen to be there; `toItsEnd`, looks for more until there is none.
  ///
  /// Returns whether it waits for the peer to send.
  private func read(toItsEnd: Bool) -> Bool {
    for _ in 0..<Self.callsAtOnceMax {
      guard isOpen, !wire.isBusy, output.isEmpty else {
        wait()
        return false
      }
      switch input.next(descriptor.rawValue, owner.readBuffer) {
      case .message(let message):
        let hasMore = input.mayHaveMore
        take(message)
        if !hasMore, !toItsEnd {
          wait()
          return true
        }
      case .incomplete:
        wait()
        return true
      case .closed:
        close(reason: nil)
      case .failed(let error):
        close(reason: String(describing: error))
      }
    }
    // There may be more, of which the loop has told already: it is asked to tell again.
    if isOpen { source?.wait(for: waitingFor.union(.onChange)) }
    return false
  }

  private func take(_ message: UnsafeRawBufferPointer) {
    let count = input.descriptors.count
    switch wire.receive(message, fileDescriptorCount: count, output: &output) {
    case .call(let call):
      owner.handle(call, on: self)
    case .answered:
      input.descriptors.removeAll()
      flush()
    case .close(let violation):
      close(reason: String(describing: violation))
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
  func reply(_ parameters: some Encodable, continues: Bool = false) {
    guard isOpen, wire.isBusy else { return }
    let waiting = output.count - max(sent, answerEnd)
    guard waiting <= owner.queuedBytesMax else {
      return close(reason: "it does not read: \(waiting) bytes wait for it")
    }
    wire.reply(parameters, continues: continues, output: &output)
    flush()
    if !continues { wait() }
    countKept()
  }

  /// Answers the call with several replies that belong together, as one answer.
  func replySnapshot(_ replies: some Sequence<some Encodable>) {
    guard isOpen, wire.isBusy else { return }
    for reply in replies { wire.reply(reply, continues: true, output: &output) }
    answerEnd = output.count
    flush()
    countKept()
  }

  /// Answers the call with an error.
  func fail(_ failure: some MethodFailure) {
    guard isOpen, wire.isBusy else { return }
    wire.fail(failure, output: &output)
    flush()
    wait()
    countKept()
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
    output.removeAll(keepingCapacity: output.capacity <= 512)
    sent = 0
    answerEnd = 0
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
    let bytes = isOpen ? input.collectedCount + output.count : 0
    guard bytes != keptBytes else { return }
    let change = bytes - keptBytes
    keptBytes = bytes
    if let reason = owner.keep(change, for: peer.uid) { close(reason: reason) }
  }

  func close(reason: String?) {
    guard isOpen else { return }
    isOpen = false
    source = nil
    countKept()
    owner.closed(self, reason: reason)
  }
}
