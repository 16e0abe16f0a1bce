import EventLoop
import LinuxSystem

/// The numbers on the icons of applications, as docks read them. The agent sends the signal Update
/// of com.canonical.Unity.LauncherEntry for each application with a badge.
///
/// Docks forget the badges of a connection that ends. When a dock starts and takes the name
/// com.canonical.Unity, the agent sends all badges again.
struct Badges {
  /// The arguments of a signal.
  struct Update: Equatable {
    var application: String
    var count: Int
  }

  static let interface = "com.canonical.Unity.LauncherEntry"
  static let path = "/org/taskschedd/Badges"
  /// The name that a dock owns.
  static let dock = "com.canonical.Unity"

  private var counts: [String: Int] = [:]
  /// The applications whose badges have not been sent.
  private var unsent: Set<String> = []

  /// Whether no application has a badge and no signal remains to be sent.
  var isEmpty: Bool { counts.isEmpty && unsent.isEmpty }

  mutating func set(_ count: Int, of application: String) {
    guard counts[application] ?? 0 != count else { return }
    counts[application] = count == 0 ? nil : count
    unsent.insert(application)
  }

  /// Handles the end of the connection to the bus, after which docks show none of the badges.
  mutating func disconnected() { unsent = Set(counts.keys) }

  mutating func dockStarted() { unsent.formUnion(counts.keys) }

  /// Returns the signals that must be sent, ordered by application.
  mutating func takeUpdates() -> [Update] {
    defer { unsent = [] }
    return unsent.sorted().map { Update(application: $0, count: counts[$0] ?? 0) }
  }
}

extension Badges.Update {
  /// Appends the arguments of the signal: the application's desktop entry, and the properties of
  /// the badge.
  func append(to body: MessageBody) throws(SystemError) {
    try body.append("application://\(application).desktop")
    try body.array("{sv}") { () throws(SystemError) in
      try body.entry("sv") { () throws(SystemError) in
        try body.append("count")
        try body.variant("x") { () throws(SystemError) in try body.append(Int64(count)) }
      }
      try body.entry("sv") { () throws(SystemError) in
        try body.append("count-visible")
        try body.variant("b") { () throws(SystemError) in try body.append(count > 0) }
      }
    }
  }
}
