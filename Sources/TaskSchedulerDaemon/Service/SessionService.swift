import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerWire

/// Receives what session agents report about notifications. The attachment in the input is the
/// current one of the user. An error that a method throws is the answer to the agent.
protocol AgentNotificationReceiver: AnyObject {
  func notificationShown(
    _ input: SessionInterface.NotificationShown.Input, of user: UserID) throws
  func notificationChosen(
    _ input: SessionInterface.NotificationChosen.Input, of user: UserID) throws
  func notificationClosed(
    _ input: SessionInterface.NotificationClosed.Input, of user: UserID) throws
  func notificationFailed(
    _ input: SessionInterface.NotificationFailed.Input, of user: UserID) throws
}

/// The calls of `org.taskschedd.Session`. A session agent reports about the session of its own
/// user, which the socket identifies (contract §20).
final class SessionService: SessionInterface.Implementation {
  typealias Interface = SessionInterface

  static let windowsMax = 1024
  static let applicationIDBytesMax = 256

  private let agents: SessionAgents
  private let applications: ApplicationService
  /// The receiver of reports about notifications; nil if the daemon shows notifications without the
  /// agent.
  weak var notifications: (any AgentNotificationReceiver)?

  init(agents: SessionAgents, applications: ApplicationService) {
    self.agents = agents
    self.applications = applications
  }

  func attach(_: Interface.Attach.Input, _ connection: Connection) throws {
    guard connection.takesMore else { throw StandardFailure.expectedMore }
    if let instance = try applications.instance(of: connection.peer) {
      throw Interface.Failure.agentIsManaged(application: instance.application)
    }
    agents.attach(connection)
  }

  // MARK: Windows

  func reportWindows(_ input: Interface.ReportWindows.Input, _ connection: Connection) throws {
    guard input.windows.count <= Self.windowsMax else {
      throw Interface.Failure.reportTooLarge(parameter: "windows", limit: Self.windowsMax)
    }
    let windows = try input.windows.enumerated().map {
      try Self.window($0.element, parameter: "windows[\($0.offset)]")
    }
    let user = try user(input.attachment, connection)
    agents.report(windows, hasFocus: input.hasFocus, of: user.uid)
    connection.reply(NoFields())
  }

  func forgetWindows(_ input: Interface.ForgetWindows.Input, _ connection: Connection) throws {
    let user = try user(input.attachment, connection)
    agents.forgetWindows(of: user.uid)
    connection.reply(NoFields())
  }

  private static func window(
    _ window: Interface.Window, parameter: String
  ) throws -> ReportedProcessWindow {
    guard let pid = Int32(exactly: window.pid), pid > 0 else {
      throw ParameterError(parameter: "\(parameter).pid", problem: "a pid is from 1 to 2147483647")
    }
    guard let startTime = UInt64(exactly: window.startTime) else {
      throw ParameterError(
        parameter: "\(parameter).startTime", problem: "a start time is not negative")
    }
    if let id = window.applicationId, id.utf8.count > applicationIDBytesMax {
      throw Interface.Failure.reportTooLarge(
        parameter: "\(parameter).applicationId", limit: applicationIDBytesMax)
    }
    return ReportedProcessWindow(
      process: ProcessIdentity(pid: pid, startTime: startTime),
      visibility: .init(window.visibility), applicationID: window.applicationId)
  }

  // MARK: Notifications

  func notificationShown(
    _ input: Interface.NotificationShown.Input, _ connection: Connection
  ) throws {
    try pass(input.attachment, connection, Interface.NotificationShown.name) {
      try $0.notificationShown(input, of: $1)
    }
  }

  func notificationChosen(
    _ input: Interface.NotificationChosen.Input, _ connection: Connection
  ) throws {
    try pass(input.attachment, connection, Interface.NotificationChosen.name) {
      try $0.notificationChosen(input, of: $1)
    }
  }

  func notificationClosed(
    _ input: Interface.NotificationClosed.Input, _ connection: Connection
  ) throws {
    try pass(input.attachment, connection, Interface.NotificationClosed.name) {
      try $0.notificationClosed(input, of: $1)
    }
  }

  func notificationFailed(
    _ input: Interface.NotificationFailed.Input, _ connection: Connection
  ) throws {
    try pass(input.attachment, connection, Interface.NotificationFailed.name) {
      try $0.notificationFailed(input, of: $1)
    }
  }

  /// Passes a report to the receiver, and answers the agent. A daemon without a receiver sends no
  /// orders about notifications, and does not implement the methods.
  private func pass(
    _ attachment: Int, _ connection: Connection, _ method: String,
    _ report: (any AgentNotificationReceiver, UserID) throws -> Void
  ) throws {
    guard let notifications else { throw StandardFailure.methodNotImplemented(method: method) }
    try report(notifications, user(attachment, connection))
    connection.reply(NoFields())
  }

  /// Returns the user of the caller, if the attachment is the current one of that user.
  private func user(
    _ attachment: Int, _ connection: Connection
  ) throws(Interface.Failure) -> UserID {
    let uid = connection.peer.uid
    guard agents.isCurrent(attachment, of: uid) else { throw .notAttached }
    return UserID(uid)
  }
}

extension Connection: AgentConnection {
  var uid: UInt32 { peer.uid }

  var isAgent: Bool {
    get { if case .agent = role { true } else { false } }
    set { role = newValue ? .agent : .calls }
  }

  func process() throws(SystemError) -> ProcessIdentity? { try peer.identity() }

  func send(_ order: SessionInterface.Attach.Output) { reply(order, continues: true) }

  func end(_ failure: SessionInterface.Failure) { fail(failure) }
}

extension WindowVisibility {
  init(_ visibility: SessionInterface.Visibility) {
    switch visibility {
    case .focused: self = .focused
    case .visible: self = .visible
    case .hidden: self = .hidden
    }
  }
}
