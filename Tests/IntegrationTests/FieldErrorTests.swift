import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §15, for each field of each method of the interfaces. The tests read the fields from
/// the interface descriptions, and therefore include new fields.
@Suite("§15: Invalid input in each field of each method gets an error that names the field")
struct FieldErrorTests {
  private typealias FieldType = InterfaceDescription.FieldType
  private static let interfaces = [
    ApplicationInterface.description, ControlInterface.description, SessionInterface.description,
  ]
  private static let program = "org.test.program"

  // MARK: Types

  /// Returns an arbitrary value that has the given type.
  private func sample(_ type: FieldType, _ interface: InterfaceDescription) -> JSONValue {
    switch type {
    case .bool: true
    case .int: 0
    case .float: 1.5
    case .string: "a"
    case .object, .any, .dictionary: .object([])
    case .named(let name): sample(named(name, interface), interface)
    case .array(let element): [sample(element, interface)]
    case .optional(let type): sample(type, interface)
    case .structure(let fields):
      .object(fields.map { .init(name: $0.name, value: sample($0.type, interface)) })
    case .enumeration(let names): .string(names[0])
    }
  }

  private func named(_ name: String, _ interface: InterfaceDescription) -> FieldType {
    interface.types.first { $0.name == name }?.type ?? .any
  }

  /// Returns values that do not have the given type. Each path leads to the invalid part of its
  /// value.
  private func mistakes(
    _ type: FieldType, _ interface: InterfaceDescription
  ) -> [(path: String, value: JSONValue)] {
    let numbers: [JSONValue] = [1.5, .number(.infinity), .number(-.infinity), .number(1e19)]
    let none: [JSONValue] =
      switch type {
      case .bool: [0, "true", [], [:]] + numbers
      case .int: [true, "1", [], [:]] + numbers
      case .float: [true, "1", [], [:], .number(.infinity), .number(-.infinity)]
      case .string: [0, true, [], [:], "\u{0}", "a\u{0}b"] + numbers
      case .enumeration: [0, true, [], [:], "", "nonsense"] + numbers
      case .structure: [0, true, [], "a"] + numbers
      case .array: [0, true, [:], "a"] + numbers
      case .object, .any, .dictionary, .named, .optional: []
      }
    let own = none.map { (path: "", value: $0) }
    switch type {
    case .named(let name): return mistakes(named(name, interface), interface)
    case .optional(let type): return mistakes(type, interface)
    case .array(let element):
      return own + mistakes(element, interface).map {
        (path: "[0]" + Self.below($0.path), value: [$0.value])
      }
    case .structure(let fields):
      return own + mistakes(fields: fields, interface)
    case .bool, .int, .float, .string, .enumeration, .object, .any, .dictionary: return own
    }
  }

  /// Returns the text that appends a path to another: `.name` for `name`, and `[0]` for `[0]`.
  private static func below(_ path: String) -> String {
    (path.isEmpty || path.hasPrefix("[") ? "" : ".") + path
  }

  private func mistakes(
    fields: [InterfaceDescription.Field], _ interface: InterfaceDescription
  ) -> [(path: String, value: JSONValue)] {
    guard case .object(let members) = sample(.structure(fields), interface) else { return [] }
    var all: [(String, JSONValue)] = []
    for (index, field) in fields.enumerated() {
      var wrong = members
      for (path, value) in mistakes(field.type, interface) {
        wrong[index].value = value
        all.append((field.name + Self.below(path), .object(wrong)))
      }
      if case .optional = field.type { continue }
      wrong.remove(at: index)
      all.append((field.name, .object(wrong)))
    }
    all.append(("nonsense", .object(members + [.init(name: "nonsense", value: 1)])))
    return all
  }

  @Test("A field of the wrong type, too large a number, a missing or an unknown field is named")
  func types() throws {
    let daemon = try DaemonFixture()
    let client = try RawClient(daemon)
    var count = 0
    for interface in Self.interfaces {
      for method in interface.methods {
        let hasDescriptor = method.input.contains { $0.name.hasSuffix("FileDescriptor") }
        for (path, parameters) in mistakes(fields: method.input, interface) {
          let name = "\(interface.name).\(method.name)"
          let answer = try client.call(
            "{\"method\":\"\(name)\",\"parameters\":\(parameters)}",
            descriptors: hasDescriptor ? [0] : [])
          let comment = "\(name) \(parameters): \(answer ?? .null)"
          #expect(answer?["error"] == "org.varlink.service.InvalidParameter", "\(comment)")
          #expect(answer?["parameters"]?["parameter"] == .string(path), "\(comment)")
          count += 1
        }
      }
    }
    #expect(count > 500)
    #expect(try daemon.applications().isEmpty, "the refused call had no effect")
  }

  // MARK: Values

  /// Values of a field that have the correct type but are invalid, and the error that the daemon
  /// returns for them.
  private struct Useless {
    let field: String
    let values: [JSONValue]
    let error: String
  }

  private static let long = JSONValue.string(String(repeating: "x", count: 5000))
  private static let control = JSONValue.string("a\u{7}b")
  private static func one(_ field: String, _ values: [JSONValue], _ error: String) -> Useless {
    Useless(field: field, values: values, error: error)
  }

  /// The invalid values of fields whose names have the same meaning in all methods.
  private static let useless: [Useless] =
    [
      one("application", ["", "no", ".", "a..b", control, long, "a.b\n"], "InvalidApplicationID"),
      one(
        "owner", [-1, .integer(1 << 32), .integer((1 << 32) - 1), .integer(.min)],
        "InvalidParameter"),
      one("attachment", [-1, 0, .integer(.max), .integer(.min)], "NotAttached"),
      one("after", [-1, .integer(.min)], "InvalidParameter"),
      one("before", [-1, .integer(.min)], "InvalidParameter"),
      one("lines", [-1, .integer(.min)], "InvalidParameter"),
      one("callback", [-1, 0, 99, .integer(.max)], "UnknownCallback"),
      one("task", [-1, 0, 99, .integer(.max)], "UnknownTask"),
      one("socket", [-1, 0, 99, .integer(.max)], "UnknownSocket"),
      one("notification", [-1, 0, 99, .integer(.max)], "UnknownNotification"),
      one("name", [control, long], "InvalidParameter"),
      one("seconds", [0, -1, 1_000_000_001, .number(1e300)], "InvalidParameter"),
      one("badge", [-1, 1_000_000_000], "InvalidParameter"),
      one("socketFileDescriptor", [0, 7, -1], "InvalidParameter"),
      one("processFileDescriptor", [7, -1], "InvalidParameter"),
      one("snapshotFileDescriptor", [0, 7, -1], "InvalidParameter"),
      one("seat", ["", control, long], "InvalidParameter"),
      one("backgroundTask", [control, long], "InvalidParameter"),
      one("backgroundModes[0]", ["", "video", control, long], "InvalidParameter"),
      one("marker", ["", control, long, "a-b"], "InvalidParameter"),
    ]
    + [
      ("content.title", ["", control, long]), ("content.body", [control, long]),
      (
        "content.sound",
        ["", control, long, "../etc/passwd", "file:///x", "bell\n", "/a/../b"]
      ),
      ("content.badge", [-1, 1_000_000_000, .integer(.max)]), ("content.userData", [long]),
      ("schedule.date", ["", "tomorrow", control, long]),
      ("schedule.timeZone", ["", "Europe/Berln", control, long]),
    ].map { one($0, $1, "InvalidNotification") }

  /// The invalid values, by method, of fields whose names have another meaning in other methods.
  private static let uselessOfMethod: [String: [Useless]] = [
    "Application.StartUpdatingLocation": [
      one("distanceFilter", [-1, -0.5, .number(-1e300)], "InvalidParameter")
    ],
    "Application.StartMonitoringRegion": [
      one("region.identifier", ["", control, long], "InvalidParameter"),
      one("region.latitude", [-91, 90.5, .number(1e300)], "InvalidParameter"),
      one("region.longitude", [-180.5, 181, .number(1e300)], "InvalidParameter"),
      one("region.radius", [-100, 0, 99.5, 100_001, .number(1e300)], "InvalidParameter"),
    ],
    "Application.StopMonitoringRegion": [
      one("identifier", ["", "a", control, long], "UnknownRegion")
    ],
    "Control.PostSystemChange": [
      one("name", ["", control, long, "a b"], "InvalidSystemChange"),
      one("value", [control, long], "InvalidSystemChange"),
    ],
    "Session.ReportWindows": [
      one("windows[0].pid", [-1, 0, .integer(1 << 31)], "InvalidParameter"),
      one("windows[0].startTime", [-1, .integer(.min)], "InvalidParameter"),
      one("windows[0].applicationId", [long], "ReportTooLarge"),
    ],
    "Session.ReportAudio": [
      one("confirmed", [-1, .integer(.min)], "InvalidParameter"),
      one("server.path", [long], "ReportTooLarge"),
      one("server.generation", [-1, .integer(.min)], "InvalidParameter"),
      one("streams[0].id", [-1, .integer(.min)], "InvalidParameter"),
      one(
        "streams[0].memory", [-1, 4_294_967_296, .integer(.max), .integer(.min)],
        "InvalidParameter"),
      one(
        "streams[0].volume", [-1, 16_777_217, .integer(.max), .integer(.min)],
        "InvalidParameter"),
      one("streams[0].pid", [-1, 0, .integer(1 << 31)], "InvalidParameter"),
      one("streams[0].startTime", [-1, .integer(.min)], "InvalidParameter"),
    ],
    "Session.ReportPlayers": [
      one("players[0].name", ["", "a", "org.mpris.MediaPlayer2", control], "InvalidParameter"),
      one("players[0].pid", [-1, 0, .integer(1 << 31)], "InvalidParameter"),
      one("players[0].startTime", [-1, .integer(.min)], "InvalidParameter"),
    ],
    "Session.PlayerCalled": [
      one("player", ["", "a", "org.mpris.MediaPlayer2", control], "InvalidParameter")
    ],
    // The valid parameters have the command `play`. Only the command `seek` may have an offset.
    "Session.PlayerCommanded": [one("offsetUSec", [-1, 0, .integer(.max)], "InvalidParameter")],
    // Every number is a valid altitude, so `location.altitude` has no invalid values.
    "Control.PostLocation": [
      one("location.latitude", [-91, 90.5, .number(1e300)], "InvalidParameter"),
      one("location.longitude", [-180.5, 181, .number(1e300)], "InvalidParameter"),
      one("location.accuracy", [0, -0.5], "InvalidParameter"),
      one("location.altitude", [], "InvalidParameter"),
      one("location.speed", [-0.5], "InvalidParameter"),
      one("location.course", [-1, 360, .number(1e300)], "InvalidParameter"),
      one("location.measuredAtUSec", [-1, .integer(.max), .integer(.min)], "InvalidParameter"),
    ],
    "Control.RemoteControl": [
      one("seconds", [1_000_000_001, -1_000_000_001, .number(1e300)], "InvalidParameter")
    ],
  ]

  /// The invalid values of the fields in reports about notifications.
  private static let uselessOfNotifications = [
    one("attachment", [-1, 0, .integer(.max), .integer(.min)], "NotAttached"),
    one("notification", [-1, .integer(.min)], "InvalidParameter"),
    one("shown.id", [-1, .integer(1 << 32)], "InvalidParameter"),
    one("shown.service", [long], "ReportTooLarge"), one("action", [long], "ReportTooLarge"),
    one("activationToken", [long], "ReportTooLarge"), one("reason", [long], "ReportTooLarge"),
  ]

  /// The invalid values of the parts of the field `location`.
  private static let uselessOfLocations =
    [
      ("latitude", [-91, 90.5, .number(1e300)]), ("longitude", [-180.5, 181, .number(1e300)]),
      ("accuracy", [-1, 0, .number(-1e300)]), ("altitude", []), ("speed", [-1, -0.5]),
      ("course", [-1, 360, .number(1e300)]),
      ("measuredAtUSec", [-1, .integer(.max), .integer(.min)]),
    ].map { one("location.\($0)", $1, "InvalidParameter") }

  /// Returns the invalid values of a field, or nil if no table has the field.
  private static func useless(_ field: String, of method: String) -> Useless? {
    if method.hasPrefix("Session.Notification") {
      return uselessOfNotifications.first { $0.field == field }
    }
    return (uselessOfMethod[method] ?? []).first { $0.field == field }
      ?? (useless + uselessOfLocations).first { $0.field == field }
  }

  /// Returns valid parameters of a method.
  private func right(_ method: String, _ agent: TestAgent) -> JSONValue {
    switch method {
    case "Session.ReportWindows":
      ["attachment": .integer(Int64(agent.attachment)), "windows": [], "hasFocus": false]
    case "Session.ReportAudio":
      [
        "attachment": .integer(Int64(agent.attachment)),
        "server": ["path": "/a", "generation": 1, "managesRoles": false], "streams": [],
        "confirmed": 0,
      ]
    case "Session.ReportPlayers":
      ["attachment": .integer(Int64(agent.attachment)), "players": []]
    case "Session.PlayerCalled":
      [
        "attachment": .integer(Int64(agent.attachment)), "player": "org.mpris.MediaPlayer2.a",
        "call": "read",
      ]
    case "Session.PlayerCommanded":
      ["attachment": .integer(Int64(agent.attachment)), "command": "play"]
    case "Session.ReportLocationSource":
      ["attachment": .integer(Int64(agent.attachment)), "available": true]
    case "Session.ReportLocation":
      [
        "attachment": .integer(Int64(agent.attachment)),
        "location": ["latitude": 1, "longitude": 1, "measuredAtUSec": 1],
      ]
    case "Session.NotificationShown":
      [
        "attachment": .integer(Int64(agent.attachment)), "notification": 1,
        "shown": ["id": 1, "service": "a"],
      ]
    case "Session.NotificationFailed":
      [
        "attachment": .integer(Int64(agent.attachment)), "notification": 1, "reason": "a",
        "isRefused": true,
      ]
    case "Session.NotificationChosen", "Session.NotificationClosed":
      ["attachment": .integer(Int64(agent.attachment)), "notification": 1]
    case "Application.ScheduleNotification": ["content": ["title": "a"]]
    case "Application.StartMonitoringRegion":
      ["region": ["identifier": "a", "latitude": 1, "longitude": 1, "radius": 100]]
    case "Control.PostNotification":
      ["application": .string(Self.program), "content": ["title": "a"]]
    case "Control.PostSystemChange": ["name": "a"]
    case "Control.ListSwitcher", "Control.GetLocation": [:]
    case "Control.PostLocation":
      ["location": ["latitude": 1, "longitude": 1, "measuredAtUSec": 1]]
    case "Control.SetLocationAuthorization":
      ["application": .string(Self.program), "authorization": "denied"]
    case "Control.RemoteControl": ["command": "seek", "seconds": 1]
    case "Control.Adopt": ["application": "org.test.adopted", "processFileDescriptor": 0]
    case let other where other.hasPrefix("Control."): ["application": .string(Self.program)]
    case _: [:]
    }
  }

  /// A valid element of each array of objects.
  private static let elements: [String: JSONValue] = [
    "windows": ["pid": 1, "startTime": 0, "visibility": "hidden"],
    "streams": [
      "id": 1, "direction": "playback", "role": "other", "volume": 65536, "pid": 1,
      "startTime": 0, "claimed": true, "running": true, "muted": false, "silent": false,
      "memory": 1,
    ],
    "players": ["name": "org.mpris.MediaPlayer2.a", "pid": 1, "startTime": 0],
  ]

  /// Returns the parameters, with the value at the dotted path. Creates missing objects on the
  /// path.
  private func setting(_ path: Substring, to value: JSONValue, in whole: JSONValue) -> JSONValue {
    if path.hasSuffix("[0]") { return setting(path.dropLast(3), to: [value], in: whole) }
    guard case .object(var members) = whole else { return whole }
    let parts = path.split(separator: ".", maxSplits: 1)
    let name = String(parts[0].split(separator: "[")[0])
    var new = value
    if parts.count > 1, parts[0].hasSuffix("[0]") {
      new = [setting(parts[1], to: value, in: Self.elements[name] ?? [:])]
    } else if parts.count > 1 {
      let around: JSONValue =
        name == "schedule" ? ["date": "2099-01-01T00:00:00", "timeZone": "UTC"] : [:]
      new = setting(parts[1], to: value, in: whole[name] ?? around)
    }
    members.removeAll { $0.name == name }
    return .object(members + [.init(name: name, value: new)])
  }

  @Test("A value that is empty, too long, out of range or invalid gets the error that names it")
  func values() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("read line")
    try daemon.adopt(Self.program, program)
    let application = try TestApplication(daemon, "org.test.caller")
    try application.registered()
    let client = try RawClient(daemon)
    let agent = try TestAgent(daemon)
    let other = try daemon.shell("read line")
    for (method, path) in allPaths {
      if let field = Self.useless(path, of: method) {
        for value in field.values {
          let parameters = setting(field.field[...], to: value, in: right(method, agent))
          let name = "org.taskschedd.\(method)"
          let answer: JSONValue?
          if method.hasPrefix("Application."), method != "Application.Register" {
            answer = try application.call(name, parameters)
          } else {
            let isStream = ["Application.Register", "Control.Monitor"].contains(method)
            let more = isStream ? ",\"more\":true" : ""
            answer = try client.call(
              "{\"method\":\"\(name)\",\"parameters\":\(parameters)\(more)}",
              descriptors: method == "Control.Adopt" ? [other.pidfd.rawValue] : [])
          }
          let comment = "\(name) \(parameters): \(answer ?? .null)"
          #expect(answer?.errorName == field.error, "\(comment)")
          if let named = answer?["parameters"]?["parameter"] {
            #expect(named == .string(field.field), "\(comment)")
          }
        }
      }
    }
    #expect(try daemon.applications().count == 2, "the refused call had no effect")
    #expect(try application.notifications().isEmpty)
  }

  /// Returns the paths of all fields except bools and enumerations.
  private func paths(
    _ fields: [InterfaceDescription.Field], _ interface: InterfaceDescription
  ) -> [String] {
    fields.flatMap { field in paths(field.type, interface).map { field.name + $0 } }
  }

  private func paths(_ type: FieldType, _ interface: InterfaceDescription) -> [String] {
    switch type {
    case .bool, .enumeration: []
    case .int, .float, .string, .object, .any, .dictionary: [""]
    case .named(let name): paths(named(name, interface), interface)
    case .optional(let type): paths(type, interface)
    case .array(let element): paths(element, interface).map { "[0]" + $0 }
    case .structure(let fields): paths(fields, interface).map { "." + $0 }
    }
  }

  /// All pairs of a method, such as `Control.Launch`, and the path of one of its fields.
  private var allPaths: [(method: String, path: String)] {
    Self.interfaces.flatMap { interface in
      let part = interface.name.split(separator: ".").last ?? ""
      return interface.methods.flatMap { method in
        paths(method.input, interface).map { ("\(part).\(method.name)", $0) }
      }
    }
  }

  @Test("The table of invalid values has each field of each method")
  func isComplete() {
    for (method, path) in allPaths {
      #expect(Self.useless(path, of: method) != nil, "\(method): \(path)")
    }
  }

  @Test("The nearest id in an error is never that of another owner's application")
  func nearestOfOtherOwner() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("read line")
    try daemon.adopt(Self.program, program)
    #expect(
      throws: ControlInterface.Failure.unknownApplication(
        application: Self.program, nearest: nil)
    ) { try daemon.application(Self.program, owner: 12_345) }
  }
}
