import LinuxSystem

/// The settings that all processes of a campaign share.
enum Settings {
  static let socket = "/run/taskschedd/socket"
  static let program = "/usr/bin/taskschedd"
  static let units = "/usr/lib/systemd/system"
  /// The program and the directory of units that an upgrade installs.
  static let nextProgram = "/usr/bin/taskschedd.next"
  static let nextUnits = "/usr/lib/systemd/system.next"
  static let agent = "/usr/bin/taskschedd-session"
  static let folder = "/run/chaos"
  /// The runtime directory of the desktop's user, who is the first of ``users``.
  static let session = folder + "/session"
  static let recordFile = folder + "/records"
  static let events = folder + "/events"
  /// The users that run the clients. Each user has a separate seat.
  static let users: [UInt32] = Array(3100..<3108)

  static let backgroundTime: UInt64 = 4_000_000_000
  static let expirationLead: UInt64 = 1_000_000_000
  static let callbackTimeout: UInt64 = 2_000_000_000
  /// The tolerance for late events on an overloaded machine.
  static let slack: UInt64 = 1_000_000_000

  /// Returns the contents of /etc/taskschedd/taskschedd.toml.
  static func text(logLevel: String) -> String {
    """
    log-level = "\(logLevel)"
    operator-group = ""
    [policy]
    BackgroundTime = "4s"
    ExpirationLead = "1s"
    CallbackTimeout = "2s"
    MaxEndedApplications = 8192

    """
  }

  /// Returns the contents of /etc/taskschedd/taskschedd.toml for the campaign of the desktop.
  static func desktop(logLevel: String) -> String {
    """
    log-level = "\(logLevel)"
    operator-group = ""
    [policy]
    SessionGraceTime = "1s"
    FocusSettleTime = "100ms"
    HiddenGraceTime = "500ms"

    """
  }

  /// The longest time that the client library needs to tell the daemon that the last task has
  /// ended.
  static let relief: UInt64 = 250_000_000

  static func application(_ client: Int) -> String { "org.chaos.client\(client)" }
  static func client(_ application: String) -> Int? {
    application.hasPrefix("org.chaos.client") ? Int(application.dropFirst(16)) : nil
  }
  static func user(of client: Int) -> UInt32 { users[client % users.count] }

  /// The means by which a client starts and communicates.
  struct Kind {
    /// Whether the daemon launches the client from a manifest, in a separate cgroup. Otherwise the
    /// client registers itself.
    var isLaunched: Bool
    /// Whether the client uses the client library. Otherwise it uses raw connections, and detects
    /// their loss.
    var usesLibrary: Bool

    init(_ client: Int) {
      isLaunched = client % 3 == 0
      usesLibrary = client / 3 % 2 == 1
    }
  }
}

/// Random decisions that the seed determines (SplitMix64).
struct SeededGenerator {
  private var state: UInt64

  init(seed: UInt64, for part: Int) {
    state = seed &+ UInt64(bitPattern: Int64(part)) &* 0xD134_2543_DE82_EF95
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
  mutating func percent(_ part: Int) -> Bool { below(100) < part }
}
