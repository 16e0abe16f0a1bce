import TaskSchedulerCore
import TaskSchedulerWire

// The methods about notifications and system changes, for operators and users (contract §9, §10).

extension ControlService {
  func listNotifications(
    _ input: Interface.ListNotifications.Input, _ connection: Connection
  ) throws {
    if input.application == nil, input.owner != nil {
      throw ParameterError(parameter: "owner", problem: "it requires the name of an application")
    }
    let after = try input.after.map { try NotificationID(after: $0) }
    let scope: NotificationScope
    if let application = input.application {
      scope = .application(try keyOfNotifications(application, input.owner, connection.peer))
    } else {
      scope = isOperator(connection.peer) ? .all : .user(UserID(connection.peer.uid))
    }
    do throws(StoreError) {
      let page = try notifications.page(of: scope, after: after)
      connection.reply(
        Interface.ListNotifications.Output(
          notifications: page.notifications.map {
            .init(
              application: $0.application.id.name, owner: Int($0.application.owner.uid),
              notification: .init($0))
          }, next: page.next.map { Int(clamping: $0.number) }))
    } catch {
      throw Interface.Failure.notStored(reason: "\(error)")
    }
  }

  /// Returns the key of an application that the scheduler knows, or that has stored notifications.
  private func keyOfNotifications(
    _ application: String, _ owner: Int?, _ peer: Peer
  ) throws -> ApplicationKey {
    try key(application, owner, peer) { [notifications] in notifications.owners(of: $0) }
  }

  func postNotification(
    _ input: Interface.PostNotification.Input, _ connection: Connection
  ) throws {
    let key = try key(input.application, input.owner, connection.peer)
    let draft: NotificationDraft
    do throws(NotificationRequestError) {
      draft = try NotificationDraft(input.content, input.schedule, notifications)
    } catch {
      throw Interface.Failure.invalidNotification(
        parameter: error.parameter, reason: error.reason)
    }
    let request = requests.open(connection, application: input.application)
    let unshown = notifications.unshownCount(of: key.owner)
    post(.notification(.schedule(request, key, draft, unshown: unshown)))
  }

  func cancelNotifications(
    _ input: Interface.CancelNotifications.Input, _ connection: Connection
  ) throws {
    if input.application == nil, input.owner != nil {
      throw ParameterError(parameter: "owner", problem: "it requires the name of an application")
    }
    let id = try input.notification.map { number in
      guard let id = UInt64(exactly: number) else {
        throw Interface.Failure.unknownNotification(
          application: input.application, notification: number)
      }
      return NotificationID(id)
    }
    let key: ApplicationKey
    if let application = input.application {
      key = try keyOfNotifications(application, input.owner, connection.peer)
    } else if let id {
      key = try self.key(of: id, connection.peer)
    } else {
      throw ParameterError(
        parameter: "notification", problem: "it is required if no application is named")
    }
    let stored: [NotificationID]
    do throws(StoreError) {
      stored = try notifications.ids(of: key, id)
    } catch {
      throw Interface.Failure.notStored(reason: "\(error)")
    }
    let request = requests.open(connection, application: key.id.name)
    post(.notification(.cancel(request, key, id, stored: stored)))
  }

  /// Returns the application of a notification. If the caller is not an operator, another user's
  /// notification counts as unknown.
  private func key(
    of id: NotificationID, _ peer: Peer
  ) throws(ControlInterface.Failure) -> ApplicationKey {
    guard let key = notifications.notification(id)?.application,
      isOperator(peer) || key.owner.uid == peer.uid
    else {
      throw .unknownNotification(application: nil, notification: Int(clamping: id.number))
    }
    return key
  }

  /// The maximum lengths of the name and of the value of a custom change, in bytes.
  private static let changeNameBytesMax = 64
  private static let changeValueBytesMax = 256

  func postSystemChange(
    _ input: Interface.PostSystemChange.Input, _ connection: Connection
  ) throws {
    let isName = input.name.utf8.allSatisfy {
      ApplicationID.isLabelByte($0) || $0 == UInt8(ascii: ".")
    }
    guard isName, (1...Self.changeNameBytesMax).contains(input.name.utf8.count) else {
      throw Interface.Failure.invalidSystemChange(
        parameter: "name",
        reason: "it must have 1 to \(Self.changeNameBytesMax) letters, digits, dots, - and _")
    }
    let value = input.value ?? ""
    let isText = !value.unicodeScalars.contains { $0.properties.generalCategory == .control }
    guard isText, value.utf8.count <= Self.changeValueBytesMax else {
      throw Interface.Failure.invalidSystemChange(
        parameter: "value",
        reason: "it must have at most \(Self.changeValueBytesMax) bytes and no control "
          + "characters")
    }
    let request = requests.open(connection, application: "")
    let owner = isOperator(connection.peer) ? nil : UserID(connection.peer.uid)
    post(
      .systemChanged(
        request, SystemChange(kind: .custom(input.name), value: input.value), for: owner))
  }
}
