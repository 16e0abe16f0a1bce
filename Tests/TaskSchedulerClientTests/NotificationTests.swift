import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct NotificationTests {
  private let tea = NotificationContent(
    title: "Tea", body: "It is four", sound: "message-new-instant", badge: 1, userData: "pot=2")
  private let atFour = NotificationSchedule.at(
    CalendarDate(year: 2026, month: 11, day: 22, hour: 16, timeZone: "Europe/Berlin"),
    repeats: .day)

  @Test("A scheduled notification is listed with its id, content and schedule")
  func schedules() throws {
    let fixture = try Fixture()
    let id = try fixture.application.scheduleNotificationAndWait(tea, for: atFour)
    let listed = try fixture.application.scheduledNotificationsAndWait()
    #expect(listed.map(\.id) == [id])
    #expect(listed.map(\.content) == [tea])
    #expect(listed.map(\.schedule) == [atFour])
    let stored = fixture.daemon.state.current.memory.notifications[0]
    #expect(
      stored.schedule
        == .init(date: "2026-11-22T16:00:00", timeZone: "Europe/Berlin", repeats: .day))
    #expect(
      abs(listed[0].fireDate.timeIntervalSince1970 - Double(stored.firesAtUSec) / 1e6) < 1e-6)
  }

  @Test("A notification that is presented now is not among the scheduled ones")
  func presents() throws {
    let fixture = try Fixture()
    let id = try fixture.application.presentNotificationAndWait(tea)
    #expect(try fixture.application.scheduledNotificationsAndWait() == [])
    #expect(try fixture.application.notificationsAndWait().map(\.id) == [id])
    #expect(fixture.daemon.state.current.memory.notifications[0].schedule == nil)
  }

  @Test("A cancel removes one notification or all; an unknown notification is an error")
  func cancels() throws {
    let fixture = try Fixture()
    let ids = try (0..<3).map { _ in
      try fixture.application.scheduleNotificationAndWait(tea, for: atFour)
    }
    try fixture.application.cancelNotificationAndWait(ids[1])
    #expect(try fixture.application.notificationsAndWait().map(\.id) == [ids[0], ids[2]])
    #expect(throws: ApplicationError.refused(.unknownNotification(ids[1]))) {
      try fixture.application.cancelNotificationAndWait(ids[1])
    }
    try fixture.application.cancelAllNotificationsAndWait()
    #expect(try fixture.application.notificationsAndWait() == [])
  }

  @Test("The library asks the daemon for the badge that the application sets")
  func badge() throws {
    let fixture = try Fixture()
    try fixture.application.setBadgeCountAndWait(3)
    #expect(fixture.daemon.state.current.calls.last == "SetBadge 3")
  }

  @Test("The asynchronous requests about notifications have the same effects")
  func asynchronous() async throws {
    let fixture = try Fixture()
    let application = fixture.application
    let id = try await application.scheduleNotification(tea, for: atFour)
    try await application.presentNotification(tea)
    #expect(try await application.notifications().count == 2)
    #expect(try await application.scheduledNotifications().map(\.id) == [id])
    try await application.cancelNotification(id)
    try await application.cancelAllNotifications()
    try await application.setBadgeCount(0)
    #expect(try await application.notifications() == [])
  }

  @Test("The delegate receives a notification that fires, and one that the user selects")
  func receives() throws {
    let fixture = try Fixture()
    let id = try fixture.application.scheduleNotificationAndWait(tea, for: atFour)
    fixture.daemon.send(notification: id.rawValue, chosen: false)
    fixture.daemon.send(notification: id.rawValue, chosen: true)
    #expect(try fixture.recorder.wait(for: 2) == ["received 1 Tea", "selected 1 Tea"])
  }

  @Test("The library schedules no notification twice after an answer was lost")
  func answerLost() throws {
    let fixture = try Fixture()
    let first = try fixture.application.scheduleNotificationAndWait(tea, for: atFour)
    let now = try fixture.application.presentNotificationAndWait(tea)
    for schedule in [atFour, nil] {
      fixture.daemon.state.update { $0.closesAfter = "ScheduleNotification" }
      let id =
        if let schedule {
          try fixture.application.scheduleNotificationAndWait(tea, for: schedule)
        } else {
          try fixture.application.presentNotificationAndWait(tea)
        }
      #expect(id != first && id != now)
    }
    #expect(fixture.daemon.state.current.memory.notifications.count == 4)
  }

  @Test("A refused notification throws the refusal, with a sentence")
  func refused() throws {
    let fixture = try Fixture()
    let refusal = ApplicationInterface.Failure.notStored(reason: "the disk is full")
    fixture.daemon.refuseNext("ScheduleNotification", with: refusal)
    let error = #expect(throws: ApplicationError.self) {
      try fixture.application.presentNotificationAndWait(tea)
    }
    #expect(error == .refused(.notStored(reason: "the disk is full")))
    #expect(error?.description == "the daemon could not store the change: the disk is full")
  }

  @Test("Without a daemon, a notification throws noDaemon")
  func unmanaged() throws {
    let directory = TemporaryDirectory()
    let path = directory.file("socket")
    let application = try ScheduledApplication.registerAndWait(
      "org.example.test", at: SocketPath(path), ifAvailable: true)
    defer { application.close() }
    #expect(throws: ApplicationError.noDaemon(path: path)) {
      try application.presentNotificationAndWait(tea)
    }
  }
}
