import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct NotificationTests {
  private let tea = NotificationContent(
    title: "Tea", body: "It is four", sound: "message-new-instant", badge: 1, userData: "pot=2")
  private let atFour = NotificationSchedule(
    date: "2026-11-22T16:00:00", timeZone: "Europe/Berlin", repeats: .day)

  @Test("A notification is scheduled with all that it says, and listed with its id")
  func schedules() throws {
    let fixture = try Fixture()
    let id = try fixture.application.schedule(tea, at: atFour)
    let listed = try fixture.application.scheduledNotifications()
    #expect(listed.map(\.id) == [id])
    #expect(listed.map(\.content) == [tea])
    #expect(listed.map(\.schedule) == [atFour])
  }

  @Test("A notification is presented now, and is not among those that wait for their time")
  func presents() throws {
    let fixture = try Fixture()
    let id = try fixture.application.presentNow(tea)
    #expect(try fixture.application.scheduledNotifications() == [])
    #expect(try fixture.application.notifications().map(\.id) == [id])
    #expect(fixture.daemon.state.current.memory.notifications[0].schedule == nil)
  }

  @Test("One notification is cancelled, or all; an unknown one is an error")
  func cancels() throws {
    let fixture = try Fixture()
    let ids = try (0..<3).map { _ in try fixture.application.schedule(tea, at: atFour) }
    try fixture.application.cancel(ids[1])
    #expect(try fixture.application.notifications().map(\.id) == [ids[0], ids[2]])
    #expect(throws: ApplicationError.refused(.unknownNotification(notification: 2))) {
      try fixture.application.cancel(ids[1])
    }
    try fixture.application.cancelAllNotifications()
    #expect(try fixture.application.notifications() == [])
  }

  @Test("The badge is set")
  func badge() throws {
    let fixture = try Fixture()
    try fixture.application.setApplicationIconBadgeNumber(3)
    #expect(fixture.daemon.state.current.memory.badge == 3)
  }

  @Test("Every request has an asynchronous form")
  func asynchronous() async throws {
    let fixture = try Fixture()
    let application = fixture.application
    let id = try await application.schedule(tea, at: atFour)
    try await application.presentNow(tea)
    #expect(try await application.notifications().count == 2)
    #expect(try await application.scheduledNotifications().map(\.id) == [id])
    try await application.cancel(id)
    try await application.cancelAllNotifications()
    try await application.setApplicationIconBadgeNumber(0)
    #expect(try await application.notifications() == [])
  }

  @Test("One that fires while the application is active is received; one that is chosen is told so")
  func receives() throws {
    let fixture = try Fixture()
    let id = try fixture.application.schedule(tea, at: atFour)
    fixture.daemon.send(notification: id.rawValue, chosen: false)
    fixture.daemon.send(notification: id.rawValue, chosen: true)
    #expect(try fixture.recorder.wait(for: 2) == ["received 1 Tea", "chosen 1 Tea"])
  }

  @Test("A notification whose answer was lost is not scheduled twice, nor mistaken for another")
  func answerLost() throws {
    let fixture = try Fixture()
    let first = try fixture.application.schedule(tea, at: atFour)
    let now = try fixture.application.presentNow(tea)
    for schedule in [atFour, nil] {
      fixture.daemon.state.update { $0.closesAfter = "ScheduleNotification" }
      let id =
        if let schedule {
          try fixture.application.schedule(tea, at: schedule)
        } else {
          try fixture.application.presentNow(tea)
        }
      #expect(id != first && id != now)
    }
    #expect(fixture.daemon.state.current.memory.notifications.count == 4)
  }

  @Test("A refusal of a notification is thrown, with a sentence")
  func refused() throws {
    let fixture = try Fixture()
    let refusal = ApplicationInterface.Failure.notStored(reason: "the disk is full")
    fixture.daemon.refuseNext("ScheduleNotification", with: refusal)
    let error = #expect(throws: ApplicationError.self) {
      try fixture.application.presentNow(tea)
    }
    #expect(error == .refused(refusal))
    #expect(error?.description == "the notification could not be stored: the disk is full")
  }

  @Test("Without a daemon, scheduling a notification is an error")
  func unmanaged() throws {
    let folder = TemporaryDirectory()
    let path = folder.file("socket")
    let application = try ScheduledApplication.register(
      "org.example.test", at: SocketPath(path), ifAvailable: true)
    defer { application.close() }
    #expect(throws: ApplicationError.connection(.noDaemon(path: path))) {
      try application.presentNow(tea)
    }
  }
}
