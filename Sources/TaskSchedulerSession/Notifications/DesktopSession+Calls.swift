import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerWire

/// Showing and closing notifications, one call at a time.
extension DesktopSession {
  func sendNotifications(
    _ owner: String, _ capabilities: DesktopCapabilities, at now: UInt64
  ) {
    while table.hasWaiting, requests.hasRoom, closing == nil, notifying.mayTry(at: now) {
      guard let (notification, replaced) = table.next() else { return }
      let id = notification.key
      let message = DesktopMessage(notification, replacing: replaced, for: capabilities)
      do throws(SystemError) {
        let call = try bus.call(
          method("Notify", of: owner), timeout: nil,
          arguments: { body throws(SystemError) in try message.append(to: body) },
          answer: { [weak self] in self?.answered(id, $0) })
        requests.sent(id, call, at: now)
      } catch {
        let isFault = error.errno == EINVAL
        fail(id, isFault: isFault, "\(error)")
        if !isFault { return bus.lose("\(error)") }
      }
    }
  }

  private func answered(_ id: NotificationKey, _ answer: BusAnswer) {
    worker?.request()
    requests.answered(id)
    switch answer {
    case .reply(let values):
      notifying = Backoff()
      serviceResponded()
      clearProblem()
      guard let name = values.number() else {
        return fail(id, isFault: true, "the reply to Notify has no notification id")
      }
      shown(id, as: name)
    case .error(let error):
      // The service may accept the notification later, so the agent waits before the next call.
      notifying.tried(at: BootClock.now())
      if error.isTemporary { set(problem: .noService("\(error)")) }
      fail(id, isFault: !error.isServiceUnknown && !error.isTemporary, "\(error)")
    case .dropped:
      fail(id, isFault: false, "the connection to the bus was closed")
    }
  }

  private func shown(_ id: NotificationKey, as name: UInt32) {
    let (answered, forgotten) = table.answered(id, name)
    if let forgotten { report(.closed(forgotten)) }
    switch answered {
    case .shown: if let shown = self.name(of: id) { report(.shown(id, shown)) }
    case .discarded:
      // The agent first reports the notification as shown, so that the daemon does not send it
      // again.
      if let owner {
        let discarded = ServiceName(number: 0, service: identity(of: owner))
        report(.shown(id, discarded.shown))
      }
      report(.closed(id))
    case .cancelled(let name): withdraw(id, name)
    }
  }

  func fail(_ id: NotificationKey, isFault: Bool, _ reason: String) {
    switch table.failed(id, isFault: isFault) {
    case .waits: if problem != nil { unreported.append(id) }
    case .givenUp: report(.failed(id, .refused(reason)))
    case .cancelled(let name): withdraw(id, name)
    }
  }

  /// Completes a Notify call for a notification that the daemon withdrew during the call.
  ///
  /// - Parameter name: The service's id of the notification to close. If nil, the service shows
  ///   none, and the agent reports the notification as closed.
  private func withdraw(_ id: NotificationKey, _ name: UInt32?) {
    if let name { toClose.append((id, name)) } else { report(.closed(id)) }
  }

  func sendCloses(_ owner: String) {
    while requests.hasRoom, closing == nil, !toClose.isEmpty {
      let (id, name) = toClose.removeFirst()
      closing = id
      do throws(SystemError) {
        try bus.call(
          // The agent ignores the result. If the service no longer shows the notification, it
          // returns an error, but the notification is closed in any case.
          method("CloseNotification", of: owner),
          timeout: .nanoseconds(Int64(requests.answerTime)),
          arguments: { body throws(SystemError) in try body.append(name) },
          answer: { [weak self] _ in self?.closeAnswered(id) })
      } catch {
        return bus.lose("\(error)")
      }
    }
  }

  /// Reports a notification as closed, even if the service replied that it does not know the
  /// notification.
  func closeAnswered(_ id: NotificationKey) {
    worker?.request()
    guard id == closing else { return }
    closing = nil
    report(.closed(id))
  }
}
