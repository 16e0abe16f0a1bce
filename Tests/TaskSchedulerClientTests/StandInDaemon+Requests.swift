import LinuxSystem
import TaskSchedulerWire

// The stand-in's events and calls for keep-alive, managed sockets, audio, notifications and system
// changes.
extension StandInDaemon {
  // MARK: - Events

  /// Sends an event of the managed sockets with the given numbers, and records that it is
  /// unacknowledged.
  func send(
    ready: [Int], data: Bool = true, urgentData: Bool = false, hangUp: Bool = false,
    error: Bool = false, unwatched: Bool = false
  ) {
    let event = state.update { state in
      state.memory.callbackLast += 1
      let event = Application.SocketEvent(
        id: state.memory.callbackLast,
        sockets: ready.map {
          Application.SocketReadiness(
            socket: $0, data: data, urgentData: urgentData, hangUp: hangUp, error: error,
            unwatched: unwatched)
        })
      state.memory.socketEvents.append(event)
      return event
    }
    stream { .init(socketEvent: event) }
  }

  /// Sends a command, and records that it is unacknowledged.
  func send(command kind: Application.RemoteCommandKind, offsetUSec: Int? = nil) {
    let command = state.update { state in
      state.memory.callbackLast += 1
      let command = Application.RemoteCommand(
        id: state.memory.callbackLast, kind: kind, offsetUSec: offsetUSec)
      state.memory.remoteCommands.append(command)
      return command
    }
    stream { .init(remoteCommand: command) }
  }

  /// Sends an audio interruption, and records that it is unacknowledged.
  func sendInterruption(began: Bool, shouldResume: Bool? = nil) {
    let interruption = state.update { state in
      state.memory.callbackLast += 1
      let interruption = Application.AudioInterruption(
        id: state.memory.callbackLast, began: began, shouldResume: shouldResume)
      state.memory.audioInterruptions.append(interruption)
      return interruption
    }
    stream { .init(audioInterruption: interruption) }
  }

  /// Sends a call event, and records that it is unacknowledged.
  func sendCall(onHold: Bool) {
    let event = state.update { state in
      state.memory.callbackLast += 1
      let event = Application.CallEvent(id: state.memory.callbackLast, onHold: onHold)
      state.memory.callEvents.append(event)
      return event
    }
    stream { .init(call: event) }
  }

  func sendMemoryWarning() {
    stream { .init(memoryWarning: true) }
  }

  func send(_ changes: [Application.SystemChange]) {
    stream { .init(systemChanges: changes) }
  }

  /// Sends a notification event: the notification fires or, if `chosen` is true, the user has
  /// chosen it.
  func send(notification id: Int, chosen: Bool) {
    guard let notification = state.current.memory.notifications.first(where: { $0.id == id })
    else { fatalError("no notification \(id)") }
    stream { .init(notification: .init(notification: notification, chosen: chosen)) }
  }

  /// Waits until all events of sockets are acknowledged.
  func waitForHandling() throws {
    try state.wait("the socket event is handled") { $0.memory.socketEvents.isEmpty }
  }

  /// Waits until all commands are acknowledged.
  func waitForHandledCommands() throws {
    try state.wait("the command is handled") { $0.memory.remoteCommands.isEmpty }
  }

  /// Waits until all audio interruptions and call events are acknowledged.
  func waitForHandledInterruptions() throws {
    try state.wait("the audio interruptions and call events are handled") {
      $0.memory.audioInterruptions.isEmpty && $0.memory.callEvents.isEmpty
    }
  }

  // MARK: - Calls

  /// Carries out a call, and returns its answer. A method without a case in this function changes
  /// nothing, and its answer has no fields.
  func carryOutService(
    _ method: String, _ call: ReceivedCall, _ peer: Peer,
    _ note: (String) throws -> Void
  ) throws -> Answer {
    switch method {
    case "SetKeepAliveTimeout":
      let seconds = try call.decode(Application.SetKeepAliveTimeout.Input.self).seconds
      try note(seconds.map { "\($0)" } ?? "-")
      state.update { $0.memory.keepAliveSeconds = seconds }
      return { $0.reply(Application.SetKeepAliveTimeout.Output()) }
    case "SetAudioSession":
      let input = try call.decode(Application.SetAudioSession.Input.self)
      let options =
        (input.mixWithOthers == true ? " mix" : "") + (input.duckOthers == true ? " duck" : "")
      try note(input.category.rawValue + options)
      return { $0.reply(Application.SetAudioSession.Output()) }
    case "BeginCall", "EndCall":
      try note("")
      state.update { $0.memory.isInCall = method == "BeginCall" }
      return { $0.reply(NoFields()) }
    case "ManageSocket":
      let input = try call.decode(Application.ManageSocket.Input.self)
      try note("")
      return manage(peer.arrivedInode(input.socketFileDescriptor))
    case "SetSnapshot":
      let input = try call.decode(Application.SetSnapshot.Input.self)
      let content = input.snapshotFileDescriptor.flatMap { peer.arrivedContent($0) }
      let image = content.map { String(decoding: $0, as: UTF8.self) } ?? "-"
      try note("\(image) \(input.sensitive == true ? "sensitive" : "shown")")
      return { $0.reply(Application.SetSnapshot.Output()) }
    case "ReleaseSocket":
      let socket = try call.decode(Application.ReleaseSocket.Input.self).socket
      try note("\(socket)")
      return try release(socket)
    case "ScheduleNotification":
      let input = try call.decode(Application.ScheduleNotification.Input.self)
      try note(input.content.title)
      return schedule(input)
    case "ListNotifications":
      try note("")
      let notifications = state.current.memory.notifications
      return { $0.reply(Application.ListNotifications.Output(notifications: notifications)) }
    case "CancelNotifications":
      let id = try call.decode(Application.CancelNotifications.Input.self).notification
      try note(id.map { "\($0)" } ?? "-")
      return try cancel(id)
    default:
      if let answer = try carryOutLocation(method, call, note) { return answer }
      guard case .object(let fields) = call.parameters else { fatalError("no object") }
      try note(fields.map { "\($0.value)" }.joined(separator: " "))
      return { $0.reply(NoFields()) }
    }
  }

  private func manage(_ inode: UInt) -> Answer {
    let number = state.update { state in
      if let known = state.memory.sockets[inode] { return known }
      state.memory.socketLast += 1
      state.memory.sockets[inode] = state.memory.socketLast
      return state.memory.socketLast
    }
    let isReady = state.update { state in
      defer { state.readyEarly = false }
      return state.readyEarly
    }
    if isReady { send(ready: [number]) }
    return { $0.reply(Application.ManageSocket.Output(socket: number)) }
  }

  private func release(_ socket: Int) throws -> Answer {
    let isKnown = state.update { state in
      let count = state.memory.sockets.count
      state.memory.sockets = state.memory.sockets.filter { $0.value != socket }
      return state.memory.sockets.count < count
    }
    guard isKnown else { throw Application.Failure.unknownSocket(socket: socket) }
    return { $0.reply(Application.ReleaseSocket.Output()) }
  }

  private func schedule(_ input: Application.ScheduleNotification.Input) -> Answer {
    let id = state.update { state in
      state.memory.notificationLast += 1
      state.memory.notifications.append(
        .init(
          id: state.memory.notificationLast, content: input.content, schedule: input.schedule,
          state: input.schedule == nil ? .presented : .scheduled,
          firesAtUSec: Int(WallClock.now())))
      return state.memory.notificationLast
    }
    return { $0.reply(Application.ScheduleNotification.Output(notification: id)) }
  }

  private func cancel(_ id: Int?) throws -> Answer {
    let cancelled = state.update { state in
      let cancelled = state.memory.notifications.map(\.id).filter { id == nil || $0 == id }
      state.memory.notifications.removeAll { cancelled.contains($0.id) }
      return cancelled
    }
    if let id, cancelled.isEmpty { throw Application.Failure.unknownNotification(notification: id) }
    return { $0.reply(Application.CancelNotifications.Output(cancelled: cancelled)) }
  }
}
