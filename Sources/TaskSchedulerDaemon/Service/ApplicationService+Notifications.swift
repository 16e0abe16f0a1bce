import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerWire

// The calls that keep a suspended application reachable (contract §6, §7, §9).

extension ApplicationService {
  func setKeepAliveTimeout(
    _ input: Interface.SetKeepAliveTimeout.Input, _ connection: Connection
  ) throws {
    let interval = try input.seconds.map { try Self.interval($0) }
    let instance = try registered(connection)
    if interval != nil, requests.isForgetful { throw Interface.Failure.stateNotSaved }
    let request = requests.open(connection, application: instance.name)
    post(.application(.setKeepAlive(request, instance.id, interval: interval)))
  }

  /// The longest keep-alive interval, in seconds: 31 years.
  private static let keepAliveSecondsMax = 1e9

  private static func interval(_ seconds: Double) throws(ParameterError) -> Duration {
    guard seconds > 0, seconds <= keepAliveSecondsMax else {
      throw ParameterError(
        parameter: "seconds", problem: "an interval must be more than 0 and at most 1000000000 s")
    }
    return .seconds(seconds)
  }

  func manageSocket(_ input: Interface.ManageSocket.Input, _ connection: Connection) throws {
    guard let descriptor = connection.take(input.socketFileDescriptor) else {
      throw ParameterError(
        parameter: "socketFileDescriptor", problem: "the call has no such descriptor")
    }
    let instance = try registered(connection)
    if requests.isForgetful { throw Interface.Failure.stateNotSaved }
    let cookie: UInt64
    do {
      cookie = try connection.cookie(ofReceived: descriptor.rawValue)
      dropClosed(instance.id)
      try sockets.add(descriptor, as: cookie, of: instance.id)
    } catch {
      throw Interface.Failure.invalidSocket(reason: "\(error)")
    }
    let request = requests.open(connection, application: instance.name)
    post(.socket(.manage(request, instance.id, SocketID(cookie))))
  }

  /// Removes the managed sockets that the application has closed, so that they do not count toward
  /// the quota.
  private func dropClosed(_ id: InstanceID) {
    let count = pump.scheduler.sockets(of: id).count
    guard count >= pump.scheduler.policy.socketsPerApplicationMax else { return }
    let closed = sockets.removeClosed(of: id).map { SocketID($0) }
    if !closed.isEmpty { post(.socket(.closed(id, closed))) }
  }

  func releaseSocket(_ input: Interface.ReleaseSocket.Input, _ connection: Connection) throws {
    guard let socket = UInt64(exactly: input.socket) else {
      throw Interface.Failure.unknownSocket(socket: input.socket)
    }
    let instance = try registered(connection)
    let request = requests.open(connection, application: instance.name)
    post(.socket(.release(request, instance.id, SocketID(socket))))
  }

  // MARK: Notifications

  func scheduleNotification(
    _ input: Interface.ScheduleNotification.Input, _ connection: Connection
  ) throws {
    let draft: NotificationDraft
    do throws(NotificationRequestError) {
      draft = try NotificationDraft(input.content, input.schedule, notifications)
    } catch {
      throw Interface.Failure.invalidNotification(
        parameter: error.parameter, reason: error.reason)
    }
    let (key, name) = try speaker(connection)
    let request = requests.open(connection, application: name)
    let unshown = notifications.unshownCount(of: key.owner)
    post(.notification(.schedule(request, key, draft, unshown: unshown)))
  }

  func listNotifications(
    _ input: Interface.ListNotifications.Input, _ connection: Connection
  ) throws {
    let after = try input.after.map { try NotificationID(after: $0) }
    let (key, _) = try speaker(connection)
    do throws(StoreError) {
      let page = try notifications.page(of: .application(key), after: after)
      connection.reply(
        Interface.ListNotifications.Output(
          notifications: page.notifications.map { .init($0) },
          next: page.next.map { Int(clamping: $0.number) }))
    } catch {
      throw Interface.Failure.notStored(reason: "\(error)")
    }
  }

  func cancelNotifications(
    _ input: Interface.CancelNotifications.Input, _ connection: Connection
  ) throws {
    let id = try input.notification.map { number in
      guard let id = UInt64(exactly: number) else {
        throw Interface.Failure.unknownNotification(notification: number)
      }
      return NotificationID(id)
    }
    let (key, name) = try speaker(connection)
    let stored: [NotificationID]
    do throws(StoreError) {
      stored = try notifications.ids(of: key, id)
    } catch {
      throw Interface.Failure.notStored(reason: "\(error)")
    }
    let request = requests.open(connection, application: name)
    post(.notification(.cancel(request, key, id, stored: stored)))
  }

  func setBadge(_ input: Interface.SetBadge.Input, _ connection: Connection) throws {
    guard (0...NotificationDraft.badgeMax).contains(input.badge) else {
      throw ParameterError(
        parameter: "badge", problem: "a badge must be from 0 to \(NotificationDraft.badgeMax)")
    }
    let (key, name) = try speaker(connection)
    let request = requests.open(connection, application: name)
    post(.notification(.setBadge(request, key, input.badge)))
  }

  /// Returns the application of the caller, and the name of the application for error messages.
  func speaker(_ connection: Connection) throws -> (ApplicationKey, String) {
    let instance = try registered(connection)
    guard let key = pump.scheduler.application(of: instance.id) else {
      throw Interface.Failure.notRegistered
    }
    return (key, instance.name)
  }
}

extension NotificationID {
  /// Creates the id after which a page of notifications begins. 0 stands for the first page.
  init(after number: Int) throws(ParameterError) {
    guard let number = UInt64(exactly: number) else {
      throw ParameterError(parameter: "after", problem: "it must be an id of a notification, or 0")
    }
    self.init(number)
  }
}
