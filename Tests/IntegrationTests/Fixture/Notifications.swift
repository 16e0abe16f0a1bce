import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

extension TestApplication {
  /// Schedules a notification, or presents it now if `time` is nil. Returns the answer.
  func ask(
    _ content: JSONValue, at time: WallClockTime? = nil, repeats: String? = nil
  ) throws -> JSONValue {
    var parameters: [JSONValue.Member] = [.init(name: "content", value: content)]
    if let time {
      var schedule: [JSONValue.Member] = [
        .init(name: "date", value: .string(time.date)), .init(name: "timeZone", value: "UTC"),
      ]
      if let repeats { schedule.append(.init(name: "repeats", value: .string(repeats))) }
      parameters.append(.init(name: "schedule", value: .object(schedule)))
    }
    return try call("ScheduleNotification", .object(parameters))
  }

  /// Schedules a notification, or presents it now if `time` is nil. Returns its id.
  @discardableResult
  func notify(
    _ title: String, at time: WallClockTime? = nil, repeats: String? = nil
  ) throws -> Int {
    let answer = try ask(["title": .string(title)], at: time, repeats: repeats)
    guard case .integer(let id)? = answer["parameters"]?["notification"] else {
      throw Unexpected(line: "\(answer)")
    }
    return Int(id)
  }

  /// Returns the application's notifications.
  func notifications() throws -> [ListedNotification] {
    let answer = try call("ListNotifications")
    guard case .array(let list)? = answer["parameters"]?["notifications"] else {
      throw Unexpected(line: "\(answer)")
    }
    return try list.map { try ListedNotification($0) }
  }

  /// Cancels one notification, or all if the id is nil. Returns the cancelled ids.
  func cancel(_ id: Int? = nil) throws -> [Int] {
    let answer = try call(
      "CancelNotifications", ["notification": id.map { .integer(Int64($0)) } ?? nil])
    guard case .array(let ids)? = answer["parameters"]?["cancelled"] else {
      throw Unexpected(line: "\(answer)")
    }
    return ids.compactMap { if case .integer(let id) = $0 { Int(id) } else { nil } }
  }

  /// Waits for the next event, which must report a notification.
  func nextNotification() throws -> (notification: ListedNotification, isChosen: Bool) {
    let event = try nextEvent()
    guard let told = event["parameters"]?["notification"],
      let notification = told["notification"], case .bool(let isChosen)? = told["chosen"]
    else { throw Unexpected(line: "\(event)") }
    return (try ListedNotification(notification), isChosen)
  }

  /// Waits for the next event, which must report system changes. Returns a text for each change:
  /// the kind, or `name` or `name=value` for a custom change. Omits the beginning of a day, because
  /// a test may run at midnight.
  func nextSystemChanges() throws -> [String] {
    var texts: [String] = []
    while texts.isEmpty {
      let event = try nextEvent()
      guard case .array(let changes)? = event["parameters"]?["systemChanges"] else {
        throw Unexpected(line: "\(event)")
      }
      texts = changes.map(Self.text).filter { $0 != "day" }
    }
    return texts
  }

  private static func text(of change: JSONValue) -> String {
    guard case .string(let name)? = change["name"] else {
      if case .string(let kind)? = change["kind"] { return kind }
      return "\(change)"
    }
    if case .string(let value)? = change["value"] { return "\(name)=\(value)" }
    return name
  }
}

/// A notification as a list or an event reports it.
struct ListedNotification {
  let json: JSONValue
  let id: Int
  let title: String
  let state: String
  /// The time at which the notification fires, in microseconds since 1970.
  let firesAt: Int

  init(_ json: JSONValue) throws {
    guard case .integer(let id)? = json["id"], case .string(let state)? = json["state"],
      case .integer(let firesAt)? = json["firesAtUSec"],
      case .string(let title)? = json["content"]?["title"]
    else { throw TestApplication.Unexpected(line: "\(json)") }
    self.json = json
    (self.id, self.title, self.state, self.firesAt) = (Int(id), title, state, Int(firesAt))
  }
}

extension DaemonFixture {
  /// Returns a registered application that is suspended in the background.
  func suspended(
    _ id: String, _ monitor: Monitor, uid: UInt32? = nil
  ) throws -> TestApplication {
    let application = try TestApplication(self, id, "background", uid: uid)
    try application.registered()
    #expect(try application.nextCallback().kind == "didFinishLaunching")
    try monitor.transition(id, to: .suspended)
    #expect(try state(of: application.pid) == .stopped)
    return application
  }

  /// Runs the body, and checks that the suspended program executes no instruction meanwhile.
  func keepsStill<Value>(_ program: TestApplication, _ body: () throws -> Value) throws -> Value {
    let before = try unwrap(try proc.stat(program.pid)).cpuTicks
    let value = try body()
    try beBusy(milliseconds: 100)
    let after = try unwrap(try proc.stat(program.pid))
    #expect(after.state == .stopped)
    #expect(after.cpuTicks == before)
    return value
  }

  /// Returns all notifications of an application, as an operator sees them.
  func notifications(of application: String) throws -> [ApplicationInterface.Notification] {
    try call(ControlInterface.ListNotifications.self, .init(application: application))
      .notifications.map(\.notification)
  }
}

extension Monitor {
  /// Waits until a notification of the application fires.
  func fires(_ application: String, _ notification: Int) throws {
    try next("notification \(notification) fires") {
      $0.kind == .notificationFired && $0.application == application
        && $0.message.contains("notification \(notification) fires")
    }
  }
}
