import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerWire

/// The calls of `org.taskschedd.Application`. A process can make calls only about its own
/// application (contract §16). The daemon identifies the instance by the process at the other end
/// of the socket.
final class ApplicationService: ApplicationInterface.Implementation {
  typealias Interface = ApplicationInterface

  /// The maximum length of a task's name.
  static let taskNameBytesMax = 256

  let requests: Requests
  private let launches: Launches
  private let agents: SessionAgents
  private let processes: ProcessController
  let sockets: ManagedSockets
  let pictures: SnapshotPictures
  let notifications: LocalNotifications
  let pump: Pump
  private let settings: CurrentSettings

  private var membership: InstanceMembership { processes.membership }

  init(
    requests: Requests, launches: Launches, agents: SessionAgents, processes: ProcessController,
    sockets: ManagedSockets, pictures: SnapshotPictures, notifications: LocalNotifications,
    pump: Pump,
    settings: CurrentSettings
  ) {
    self.requests = requests
    self.launches = launches
    self.agents = agents
    self.processes = processes
    self.sockets = sockets
    self.pictures = pictures
    self.notifications = notifications
    self.pump = pump
    self.settings = settings
  }

  func post(_ event: Event) { pump.post(event) }

  func beginBackgroundTask(
    _ input: Interface.BeginBackgroundTask.Input, _ connection: Connection
  ) throws {
    if let name = input.name { try Self.checkTaskName(name, parameter: "name") }
    let instance = try registered(connection)
    if requests.isForgetful { throw Interface.Failure.stateNotSaved }
    let request = requests.open(connection, application: instance.name)
    post(.application(.beginBackgroundTask(request, instance.id, name: input.name)))
  }

  func endBackgroundTask(
    _ input: Interface.EndBackgroundTask.Input, _ connection: Connection
  ) throws {
    guard let task = UInt64(exactly: input.task) else {
      throw Interface.Failure.unknownTask(task: input.task)
    }
    let instance = try registered(connection)
    let request = requests.open(connection, application: instance.name)
    post(.application(.endBackgroundTask(request, instance.id, TaskID(task))))
  }

  func setAudioSession(
    _ input: Interface.SetAudioSession.Input, _ connection: Connection
  ) throws {
    let instance = try registered(connection)
    if requests.isForgetful { throw Interface.Failure.stateNotSaved }
    let request = requests.open(connection, application: instance.name)
    post(.application(.setAudioSession(request, instance.id, AudioSession(input))))
  }

  func beginCall(_: Interface.BeginCall.Input, _ connection: Connection) throws {
    let instance = try registered(connection)
    if requests.isForgetful { throw Interface.Failure.stateNotSaved }
    let request = requests.open(connection, application: instance.name)
    post(.application(.beginCall(request, instance.id)))
  }

  func endCall(_: Interface.EndCall.Input, _ connection: Connection) throws {
    let instance = try registered(connection)
    let request = requests.open(connection, application: instance.name)
    post(.application(.endCall(request, instance.id)))
  }

  func acknowledge(_ input: Interface.Acknowledge.Input, _ connection: Connection) throws {
    guard let callback = UInt64(exactly: input.callback) else {
      throw Interface.Failure.unknownCallback(callback: input.callback)
    }
    let instance = try registered(connection)
    let request = requests.open(connection, application: instance.name)
    post(.application(.acknowledge(request, instance.id, CallbackID(callback))))
  }

  func getStatus(_: Interface.GetStatus.Input, _ connection: Connection) throws {
    let id = try registered(connection).id
    guard let key = pump.scheduler.application(of: id),
      let status = pump.scheduler.instanceStatus(id, at: pump.now)
    else { throw Interface.Failure.notRegistered }
    connection.reply(
      Interface.GetStatus.Output(
        application: key.id.name, instance: Int(clamping: id.number),
        state: .init(pump.scheduler.state(of: id)),
        backgroundTimeRemainingUSec: status.timeRemaining?.microseconds,
        tasks: status.tasks.map { .init($0) }))
  }

  func register(_ input: Interface.Register.Input, _ connection: Connection) throws {
    guard connection.takesMore else { throw StandardFailure.expectedMore }
    guard let id = ApplicationID(input.application) else {
      throw Interface.Failure.invalidApplicationID(application: input.application)
    }
    if let instance = try instance(of: connection.peer) {
      let request = requests.open(connection, application: id.name)
      return post(.application(.openStream(request, instance.id, named: id)))
    }
    if requests.isForgetful { throw Interface.Failure.stateNotSaved }
    let process = try self.process(of: connection)
    guard !membership.isOurs(process.identity) else {
      throw StandardFailure.permissionDenied
    }
    let uid = connection.peer.uid
    if let reason = try settings.refusal(of: process, uid: uid) {
      throw Interface.Failure.notManageable(reason: reason)
    }
    if try agents.isNeeded(process.identity, in: membership.proc) {
      throw Interface.Failure.notManageable(reason: SessionAgents.refusal(of: process.identity.pid))
    }
    let leader = launches.expect(.init(process: process, uid: uid, origin: .init()))
    let seats = ProcessSeats(proc: membership.proc)
    let seat =
      try seats.terminal(of: leader.pid, uid: uid) ?? seats.session(of: leader.pid, uid: uid)
    let request = requests.open(connection, application: id.name)
    post(
      .application(
        .register(
        request, ApplicationKey(id, owner: UserID(uid)), leader,
        target: input.background == true ? .background : .foreground,
          seat: seat)))
  }

  // MARK: The caller

  /// Returns the instance of the caller, and the id of its application for error messages.
  func registered(
    _ connection: Connection
  ) throws -> (id: InstanceID, name: String) {
    guard let instance = try instance(of: connection.peer) else {
      throw Interface.Failure.notRegistered
    }
    // Either the application made this call before its suspension, or another program has resumed
    // the application. The check detects the second case.
    if processes.isSuspended(instance.id) {
      processes.compareSuspended([instance.id])
    }
    return (instance.id, instance.application)
  }

  /// The number of instances that were added so far. See ``InstanceMembership/generation``.
  var membershipGeneration: UInt64 { membership.generation }

  /// When an instance has ended, and the daemon no longer assigns processes to it, calls `forget`.
  func whenRemoved(_ forget: @escaping (InstanceID) -> Void) { membership.removed = forget }

  /// Returns the instance that a connection's process belongs to; nil if there is none.
  func instance(of peer: Peer) throws(SystemError) -> InstanceProcesses? {
    if let known = peer.instance, !known.isReleased { return known }
    peer.instance = nil
    guard let identity = try peer.identity() else { return nil }
    peer.instance = try membership.instance(of: identity, uid: peer.uid)
    return peer.instance
  }

  /// Returns the process at the other end of a connection. If the kernel reuses the pid, the handle
  /// still refers to the same process.
  private func process(of connection: Connection) throws -> ProcessHandle {
    if let descriptor = try UnixSocket.peerPIDFD(connection.number) {
      return try ProcessHandle(PIDFD(adopting: descriptor), in: membership.proc)
    }
    guard let identity = try connection.peer.identity(),
      let process = try ProcessHandle(identity, in: membership.proc)
    else { throw Interface.Failure.notRegistered }
    return process
  }

  static func checkTaskName(_ name: String, parameter: String) throws(ParameterError) {
    guard name.utf8.count <= taskNameBytesMax else {
      throw ParameterError(
        parameter: parameter, problem: "a task's name must have at most \(taskNameBytesMax) bytes")
    }
    guard !hasControlCharacter(name) else {
      throw ParameterError(
        parameter: parameter, problem: "a task's name must have no control characters")
    }
  }
}

/// Returns whether a text contains a control character.
func hasControlCharacter(_ text: String) -> Bool {
  // Most texts are printable ASCII, for which the daemon need not look up Unicode categories.
  !text.utf8.allSatisfy { 0x20 <= $0 && $0 < 0x7F }
    && text.unicodeScalars.contains { $0.properties.generalCategory == .control }
}

extension ApplicationInterface.MethodName {
  /// Whether the method only reads state. The daemon skips such a call if the client has closed its
  /// connection.
  var isQuery: Bool { [.getStatus, .listNotifications, .listMonitoredRegions].contains(self) }
}
