import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire

/// The calls of `org.taskschedd.Control`. Operators are root, the daemon's own user and the
/// operators' group. Every other user may operate only that user's own applications (contract §16).
final class ControlService: ControlInterface.Implementation {
  typealias Interface = ControlInterface

  let requests: Requests
  let launches: Launches
  let agents: SessionAgents
  private let processes: ProcessController
  private let monitors: Monitors
  let notifications: LocalNotifications
  let memory: MemoryService
  let pictures: SnapshotPictures
  let loginSessions: LoginSessions
  /// Returns the states of the location sources that serve all users.
  let locationSources: () -> [LocationSourceState]
  let pump: Pump
  let settings: CurrentSettings
  let log: Log

  var membership: InstanceMembership { processes.membership }

  init(
    requests: Requests, launches: Launches, agents: SessionAgents, processes: ProcessController,
    monitors: Monitors, notifications: LocalNotifications, memory: MemoryService,
    pictures: SnapshotPictures, loginSessions: LoginSessions,
    locationSources: @escaping () -> [LocationSourceState], pump: Pump,
    settings: CurrentSettings, log: Log
  ) {
    self.requests = requests
    self.launches = launches
    self.agents = agents
    self.processes = processes
    self.monitors = monitors
    self.notifications = notifications
    self.memory = memory
    self.pictures = pictures
    self.loginSessions = loginSessions
    self.locationSources = locationSources
    self.pump = pump
    self.settings = settings
    self.log = log
  }

  func post(_ event: Event) { pump.post(event) }

  // MARK: States

  /// Returns the applications that the caller may see. First checks in the kernel whether the
  /// suspended applications are still stopped.
  func visibleNow(_ peer: Peer) -> [ApplicationStatus] {
    let statuses = visible(peer)
    let suspended = statuses.filter { $0.state == .suspended }.compactMap(\.instance?.id)
    return processes.compareSuspended(suspended) ? visible(peer) : statuses
  }

  /// If the application is suspended, checks in the kernel whether it is still stopped.
  private func compareSuspended(_ key: ApplicationKey) {
    guard let status = pump.scheduler.status(of: key, at: pump.now),
      status.state == .suspended, let id = status.instance?.id
    else { return }
    processes.compareSuspended([id])
  }

  func listApplications(_: Interface.ListApplications.Input, _ connection: Connection) throws {
    let mayAll = isOperator(connection.peer)
    connection.reply(
      Interface.ListApplications.Output(
        applications: described(visibleNow(connection.peer), for: connection.peer),
        sessionAgents: agents.users.map(\.uid).filter { mayAll || $0 == connection.peer.uid }
          .map { Int($0) }))
  }

  func getApplication(_ input: Interface.GetApplication.Input, _ connection: Connection) throws {
    let key = try key(input.application, input.owner, connection.peer)
    compareSuspended(key)
    guard let status = pump.scheduler.status(of: key, at: pump.now) else {
      throw Interface.Failure.unknownApplication(application: input.application, nearest: nil)
    }
    connection.reply(
      Interface.GetApplication.Output(
        application: described(status, for: connection.peer, withUnit: true)))
  }

  func explain(_ input: Interface.Explain.Input, _ connection: Connection) throws {
    let key = try key(input.application, input.owner, connection.peer)
    compareSuspended(key)
    guard let status = pump.scheduler.status(of: key, at: pump.now),
      let explanation = pump.scheduler.explanation(of: key)
    else {
      throw Interface.Failure.unknownApplication(application: input.application, nearest: nil)
    }
    let mayAll = isOperator(connection.peer)
    connection.reply(
      Interface.Explain.Output(
        application: described(status, for: connection.peer, withUnit: true),
        explanation: .init(explanation) { mayAll || $0.uid == connection.peer.uid }))
  }

  func monitor(_ input: Interface.Monitor.Input, _ connection: Connection) throws {
    guard connection.takesMore else { throw StandardFailure.expectedMore }
    let monitor = try limits(of: input, connection.peer)
    let max = settings.configuration.options.monitorsPerUserMax
    let count = monitors.count(of: connection.peer.uid, watching: monitor.application)
    guard count < max else {
      throw Interface.Failure.quotaExceeded(quota: "MaxMonitorsPerUser", limit: max)
    }
    let seen = visibleNow(connection.peer).filter { monitor.sees($0.key) }
    let applications = described(seen, for: connection.peer).map {
      Interface.Monitor.Output(application: $0)
    }
    connection.replySnapshot(applications + [Interface.Monitor.Output(ready: true)])
    guard connection.isOpen else { return }
    monitors.add(connection, monitor)
  }

  /// Returns which applications a monitor may see: the applications of one user or of all users. If
  /// the call contains an id, the monitor sees only the applications with this id.
  private func limits(
    of input: Interface.Monitor.Input, _ peer: Peer
  ) throws -> DaemonState.Monitor {
    if let application = input.application, ApplicationID(application) == nil {
      throw Interface.Failure.invalidApplicationID(application: application)
    }
    let mayAll = isOperator(peer)
    guard let owner = try input.owner.map({ try Self.uid($0) }) else {
      return DaemonState.Monitor(uid: mayAll ? nil : peer.uid, application: input.application)
    }
    guard mayAll || owner == peer.uid else {
      throw Interface.Failure.notPermitted(application: input.application)
    }
    return DaemonState.Monitor(uid: owner, application: input.application)
  }

  func getSettings(_: Interface.GetSettings.Input, _ connection: Connection) throws {
    connection.reply(
      Interface.GetSettings.Output(
        settings: settings.configuration.effectiveSettings.map {
          .init(
            name: $0.name, value: $0.value, default: $0.default, source: $0.source.description)
        }, warnings: settings.warnings))
  }

  func reload(_: Interface.Reload.Input, _ connection: Connection) throws {
    guard isOperator(connection.peer) else {
      throw Interface.Failure.notPermitted(application: nil)
    }
    let problems = settings.reload()
    guard problems.isEmpty else {
      throw Interface.Failure.invalidConfiguration(problems: problems.map(\.description))
    }
    connection.reply(Interface.Reload.Output())
  }

  // MARK: Operations

  func activate(_ input: Interface.Activate.Input, _ connection: Connection) throws {
    let (request, key) = try open(connection, input.application, input.owner)
    post(.operation(.activate(request, key)))
  }

  func deactivate(_ input: Interface.Deactivate.Input, _ connection: Connection) throws {
    let (request, key) = try open(connection, input.application, input.owner)
    post(.operation(.deactivate(request, key)))
  }

  func sendToBackground(
    _ input: Interface.SendToBackground.Input, _ connection: Connection
  ) throws {
    let (request, key) = try open(connection, input.application, input.owner)
    post(.operation(.sendToBackground(request, key)))
  }

  func terminate(_ input: Interface.Terminate.Input, _ connection: Connection) throws {
    let (request, key) = try open(connection, input.application, input.owner)
    post(.operation(.terminate(request, key, byUser: input.byUser ?? false)))
  }

  // MARK: Launching

  func launch(_ input: Interface.Launch.Input, _ connection: Connection) throws {
    if requests.isForgetful { throw Interface.Failure.stateNotSaved }
    let (request, key) = try open(connection, input.application, input.owner)
    let target: LaunchTarget = input.background == true ? .background : .foreground
    post(.operation(.launch(request, key, target: target, reason: .operator)))
  }

  // MARK: Applications and permissions

  var proc: ProcFS { membership.proc }

  func isOperator(_ peer: Peer) -> Bool {
    // Root is an operator in any case, so a change of the operators' group does not matter.
    if peer.uid != 0 { settings.reconsiderOperators() }
    return peer.isOperator {
      settings.isOperator(peer.credentials, groups: (try? peer.groups()) ?? [])
    }
  }

  /// Returns the applications that the caller may see.
  func visible(_ peer: Peer) -> [ApplicationStatus] {
    let all = pump.scheduler.statuses(at: pump.now)
    return isOperator(peer) ? all : all.filter { $0.key.owner.uid == peer.uid }
  }

  private func open(
    _ connection: Connection, _ application: String, _ owner: Int?
  ) throws -> (RequestID, ApplicationKey) {
    let key = try key(application, owner, connection.peer)
    return (requests.open(connection, application: application), key)
  }

  /// Returns the applications in the form of the interface.
  ///
  /// - Parameter withUnit: Whether to look up the units, which is too slow for thousands of
  ///   applications.
  func described(
    _ statuses: [ApplicationStatus], for peer: Peer, withUnit: Bool = false
  ) -> [Interface.Application] {
    let unmanaged = launches.unmanagedProcesses()
    let locationUses = locationUses()
    let mayAll = isOperator(peer)
    return statuses.map { status in
      Interface.Application(
        status, badge: notifications.badge(of: status.key),
        location: locationUses[status.key],
        problem: processes.problem(of: status.key), unmanaged: unmanaged[status.key],
        lowered: status.instance.map { processes.loweredWords(of: $0.id) } ?? [],
        unit: withUnit
          ? status.instance.flatMap { processes.currentUnit(of: $0.id)?.ownName } : nil,
        isVisible: { mayAll || $0.uid == peer.uid })
    }
  }

  private func described(
    _ status: ApplicationStatus, for peer: Peer, withUnit: Bool
  ) -> Interface.Application {
    described([status], for: peer, withUnit: withUnit)[0]
  }

  /// Returns the application that the caller requests, if the caller may operate it. If the caller
  /// is not an operator, the applications of other users count as unknown, and the caller must not
  /// name another user as the owner.
  ///
  /// - Parameter moreOwners: Returns further owners of applications with this id. The scheduler may
  ///   not know these applications.
  func key(
    _ application: String, _ owner: Int?, _ peer: Peer,
    moreOwners: (ApplicationID) -> [UserID] = { _ in [] }
  ) throws -> ApplicationKey {
    guard let id = ApplicationID(application) else {
      throw Interface.Failure.invalidApplicationID(application: application)
    }
    let owner = try owner.map { try Self.uid($0) }
    let mayAll = isOperator(peer)
    var owners = Set(pump.scheduler.owners(of: id) + moreOwners(id)).sorted()
    if !mayAll { owners = owners.filter { $0.uid == peer.uid } }
    if let owner {
      guard mayAll || owner == peer.uid else {
        throw Interface.Failure.notPermitted(application: application)
      }
      owners = owners.filter { $0.uid == owner }
    } else if owners.contains(UserID(peer.uid)) {
      owners = [UserID(peer.uid)]
    }
    guard let first = owners.first else {
      // No owner is known for exactly this id. For a mistyped id, the daemon suggests only an
      // application of the requested owner or of the caller. A search among the applications of
      // all users could take too long.
      let known = pump.scheduler.names(of: UserID(owner ?? peer.uid))
        .filter { $0 != application }
      throw Interface.Failure.unknownApplication(
        application: application, nearest: nearestName(to: application, among: known))
    }
    guard owners.count == 1 else {
      throw Interface.Failure.ambiguousApplication(
        application: application, owners: owners.map { Int($0.uid) })
    }
    return ApplicationKey(id, owner: first)
  }

  /// Checks a uid. 4294967295 is not a uid, because it is -1 in C.
  static func uid(_ owner: Int) throws(ParameterError) -> UInt32 {
    guard let uid = UInt32(exactly: owner), uid != .max else {
      throw ParameterError(parameter: "owner", problem: "a uid must be from 0 to 4294967294")
    }
    return uid
  }
}

extension ControlInterface.MethodName {
  /// Whether the method only reads state. The daemon skips such a call if the client has closed its
  /// connection.
  var isQuery: Bool {
    [
      .listApplications, .getApplication, .explain, .listSwitcher, .getSnapshot, .listNotifications,
      .getLocation, .listSessions, .getMemory, .monitor, .getSettings, .getLog,
    ].contains(self)
  }
}
