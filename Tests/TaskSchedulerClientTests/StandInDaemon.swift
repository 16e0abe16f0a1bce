import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport

/// A stand-in for the daemon, in the process of the test. It implements the interface, but not the
/// rules of the contract: the test decides which events the stand-in sends.
final class StandInDaemon: Sendable {
  typealias Application = ApplicationInterface

  /// The state of the stand-in. A test can pass the state to another stand-in, as if the daemon had
  /// been restarted.
  struct Memory: Sendable {
    var instance = 7
    var state = Application.State.inactive
    var remainingUSec: Int?
    var taskLast = 0
    var tasks: [Application.BackgroundTask] = []
    var callbackLast = 0
    /// The callback that was sent and not yet acknowledged.
    var callback: Application.Callback?
    var keepAliveSeconds: Double?
    var socketLast = 0
    /// The numbers of the managed sockets, by inode.
    var sockets: [UInt: Int] = [:]
    /// The socket events that were sent and not yet acknowledged.
    var socketEvents: [Application.SocketEvent] = []
    /// The commands that were sent and not yet acknowledged.
    var remoteCommands: [Application.RemoteCommand] = []
    /// The audio interruptions that were sent and not yet acknowledged.
    var audioInterruptions: [Application.AudioInterruption] = []
    /// The call events that were sent and not yet acknowledged.
    var callEvents: [Application.CallEvent] = []
    /// Whether the application has a phone call.
    var isInCall = false
    var location = LocationMemory()
    var notificationLast = 0
    var notifications: [Application.Notification] = []
  }

  struct State: Sendable {
    var memory: Memory
    /// All calls so far, such as `Register org.example.a` or `EndBackgroundTask 3`.
    var calls: [String] = []
    /// The errors with which the stand-in answers the next calls of a method, by method name.
    var refusals: [String: [any MethodFailure & Sendable]] = [:]
    /// At the next call of this method, the stand-in closes the connection instead of answering.
    var closesAfter: String?
    /// Whether the next task expires before the answer to its `BeginBackgroundTask`.
    var expiresEarly = false
    /// Whether the next managed socket has an event before the answer to its `ManageSocket`.
    var readyEarly = false
    var stream: Int?
    var connections: [Int: Peer] = [:]
    var connectionLast = 0
    var isStopped = false
  }

  let path: String
  let state: Watched<State>
  private let stopEvent: FileDescriptor

  static let service = Service(
    vendor: "taskschedd", product: "stand-in", version: "0", url: "",
    interfaces: [Application.description])

  /// Listens at the path, until `stop()`.
  init(at path: String, memory: Memory = Memory()) throws {
    self.path = path
    state = Watched(State(memory: memory))
    stopEvent = try FileDescriptor.event()
    let listener = try UnixSocket.listen(path: path, mode: 0o600).take()
    startThread { self.accept(from: FileDescriptor(taking: listener)) }
  }

  /// Closes all connections and the socket, and returns the state.
  @discardableResult
  func stop() -> Memory {
    let (peers, memory) = state.update { state in
      state.isStopped = true
      state.stream = nil
      return (Array(state.connections.values), state.memory)
    }
    try? UnixSocket.unlink(path: path)
    withUnsafeBytes(of: UInt64(1)) { _ = try? stopEvent.write($0) }
    for peer in peers { peer.hangUp() }
    _ = try? state.wait("all connections are gone") { $0.connections.isEmpty }
    return memory
  }

  // MARK: - Events

  /// Sends a callback, and records that it is unacknowledged.
  func send(_ kind: Application.CallbackKind, reason: Application.LaunchReason? = nil) {
    let callback = state.update { state in
      state.memory.callbackLast += 1
      let callback = Application.Callback(
        id: state.memory.callbackLast, kind: kind, launchReason: reason)
      state.memory.callback = callback
      return callback
    }
    stream { .init(callback: callback) }
  }

  /// Expires a task.
  func expire(_ task: Int) {
    state.update { state in
      for index in state.memory.tasks.indices where state.memory.tasks[index].id == task {
        state.memory.tasks[index].expired = true
      }
    }
    stream { .init(expiration: .init(task: task, backgroundTimeRemainingUSec: 5_000_000)) }
  }

  /// Ends the event stream with an error.
  func failStream(_ failure: some MethodFailure) {
    state.update { $0.streamPeer }?.fail(failure)
  }

  /// Closes the event stream without an error.
  func breakStream() {
    state.update { state in
      defer { state.stream = nil }
      return state.streamPeer
    }?.hangUp()
  }

  /// Closes the connections for calls.
  func breakCalls() {
    let peers = state.update { state in
      state.connections.filter { $0.key != state.stream }.map(\.value)
    }
    for peer in peers { peer.hangUp() }
  }

  /// Writes bytes to the event stream.
  func sendRaw(_ bytes: [UInt8]) {
    state.update { $0.streamPeer }?.send(bytes)
  }

  func refuseNext(_ method: String, with failure: some MethodFailure & Sendable) {
    state.update { $0.refusals[method, default: []].append(failure) }
  }

  /// Waits until the stand-in has received a call the given number of times or more. Returns how
  /// often it has received the call.
  @discardableResult
  func waitForCall(_ call: String, count: Int = 1) throws -> Int {
    try state.wait("\(count) × \(call)") { state in
      state.calls.count { $0 == call } >= count
    }.calls.count { $0 == call }
  }

  func stream(_ output: @Sendable () -> Application.Register.Output) {
    state.update { $0.streamPeer }?.reply(output(), continues: true)
  }

  // MARK: - Connections

  private func accept(from listener: consuming FileDescriptor) {
    let listener = listener
    while true {
      var entries = [
        pollfd(fd: listener.rawValue, events: Int16(POLLIN), revents: 0),
        pollfd(fd: stopEvent.rawValue, events: Int16(POLLIN), revents: 0),
      ]
      _ = poll(&entries, 2, -1)
      if entries[1].revents != 0 { return }
      guard let socket = try? UnixSocket.accept(listener.rawValue) else { continue }
      let peer = Peer(socket)
      let number = state.update { state -> Int? in
        if state.isStopped { return nil }
        state.connectionLast += 1
        state.connections[state.connectionLast] = peer
        return state.connectionLast
      }
      guard let number else { return peer.hangUp() }
      startThread { self.serve(peer, number) }
    }
  }

  private func serve(_ peer: Peer, _ number: Int) {
    while let call = peer.nextCall() {
      answer(call, peer, number)
    }
    state.update { state in
      if state.stream == number { state.stream = nil }
      state.connections[number] = nil
    }
  }

  private func answer(_ call: ReceivedCall, _ peer: Peer, _ number: Int) {
    let short = String(call.method.split(separator: ".").last!)
    let (closes, refusal) = state.update { state -> (Bool, (any MethodFailure & Sendable)?) in
      let closes = state.closesAfter == short
      if closes { state.closesAfter = nil }
      if state.refusals[short]?.isEmpty ?? true { return (closes, nil) }
      return (closes, state.refusals[short]?.removeFirst())
    }
    do {
      let reply = try carryOut(short, call, refusal, peer, number)
      if closes { return peer.hangUp() }
      reply(peer)
    } catch let failure as any MethodFailure {
      peer.fail(failure)
    } catch {
      fatalError("\(error)")
    }
  }

  typealias Answer = (Peer) -> Void

  private func carryOut(
    _ method: String, _ call: ReceivedCall, _ refusal: (any MethodFailure)?, _ peer: Peer,
    _ number: Int
  ) throws -> Answer {
    func note(_ rest: String) throws {
      let line = rest.isEmpty ? method : "\(method) \(rest)"
      state.update { $0.calls.append(line) }
      if let refusal { throw refusal }
    }
    switch method {
    case "Register":
      let input = try call.decode(Application.Register.Input.self)
      try note(input.application + (input.background == true ? " background" : ""))
      return register(input, number)
    case "Acknowledge":
      let id = try call.decode(Application.Acknowledge.Input.self).callback
      try note("\(id)")
      return try acknowledge(id)
    case "BeginBackgroundTask":
      let name = try call.decode(Application.BeginBackgroundTask.Input.self).name
      try note(name ?? "-")
      return begin(name)
    case "EndBackgroundTask":
      let id = try call.decode(Application.EndBackgroundTask.Input.self).task
      try note("\(id)")
      return try end(id)
    case "GetStatus":
      try note("")
      let memory = state.current.memory
      return {
        $0.reply(
          Application.GetStatus.Output(
            application: "org.example.test", instance: memory.instance, state: memory.state,
            backgroundTimeRemainingUSec: memory.remainingUSec, tasks: memory.tasks))
      }
    default: return try carryOutService(method, call, peer, note)
    }
  }
}

extension StandInDaemon {
  private func register(
    _ input: Application.Register.Input, _ number: Int
  ) -> (Peer) -> Void {
    { peer in
      let memory = self.state.current.memory
      let registration = Application.Registration(
        application: input.application, instance: memory.instance, state: memory.state,
        launchReason: memory.location.launchRegion == nil ? .user : .location,
        launchRegion: memory.location.launchRegion, backgroundModes: [],
        backgroundTimeRemainingUSec: memory.remainingUSec, tasks: memory.tasks)
      peer.reply(Application.Register.Output(registered: registration), continues: true)
      if let callback = memory.callback {
        peer.reply(Application.Register.Output(callback: callback), continues: true)
      }
      for event in memory.socketEvents {
        peer.reply(Application.Register.Output(socketEvent: event), continues: true)
      }
      for command in memory.remoteCommands {
        peer.reply(Application.Register.Output(remoteCommand: command), continues: true)
      }
      for interruption in memory.audioInterruptions {
        peer.reply(
          Application.Register.Output(audioInterruption: interruption), continues: true)
      }
      for event in memory.callEvents {
        peer.reply(Application.Register.Output(call: event), continues: true)
      }
      for event in memory.location.events { peer.reply(event, continues: true) }
      self.state.update { $0.stream = number }
    }
  }

  private func acknowledge(_ id: Int) throws -> (Peer) -> Void {
    let isAwaited = state.update { state in
      if let index = state.memory.socketEvents.firstIndex(where: { $0.id == id }) {
        state.memory.socketEvents.remove(at: index)
        return true
      }
      if let index = state.memory.remoteCommands.firstIndex(where: { $0.id == id }) {
        state.memory.remoteCommands.remove(at: index)
        return true
      }
      if let index = state.memory.audioInterruptions.firstIndex(where: { $0.id == id }) {
        state.memory.audioInterruptions.remove(at: index)
        return true
      }
      if let index = state.memory.callEvents.firstIndex(where: { $0.id == id }) {
        state.memory.callEvents.remove(at: index)
        return true
      }
      if state.memory.location.acknowledge(id) { return true }
      guard state.memory.callback?.id == id else { return false }
      state.memory.callback = nil
      return true
    }
    guard isAwaited else { throw Application.Failure.unknownCallback(callback: id) }
    return { $0.reply(Application.Acknowledge.Output()) }
  }

  private func begin(_ name: String?) -> (Peer) -> Void {
    let (id, remaining, expires) = state.update { state in
      state.memory.taskLast += 1
      let expires = state.expiresEarly
      state.memory.tasks.append(
        .init(
          id: state.memory.taskLast, name: name, beganAtUSec: Int(BootClock.now() / 1_000),
          expired: false))
      return (state.memory.taskLast, state.memory.remainingUSec, expires)
    }
    if expires { expire(id) }
    return {
      $0.reply(
        Application.BeginBackgroundTask.Output(
          task: id, backgroundTimeRemainingUSec: remaining))
    }
  }

  private func end(_ id: Int) throws -> (Peer) -> Void {
    let isKnown = state.update { state in
      guard let index = state.memory.tasks.firstIndex(where: { $0.id == id }) else { return false }
      state.memory.tasks.remove(at: index)
      return true
    }
    guard isKnown else { throw Application.Failure.unknownTask(task: id) }
    return { $0.reply(Application.EndBackgroundTask.Output()) }
  }
}

extension StandInDaemon.State {
  fileprivate var streamPeer: Peer? { stream.flatMap { connections[$0] } }
}
