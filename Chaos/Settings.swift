import LinuxSystem

/// What all processes of a campaign agree on.
enum Settings {
  static let socket = "/run/taskschedd/socket"
  static let program = "/usr/bin/taskschedd"
  /// What an upgrade puts in its place.
  static let nextProgram = "/usr/bin/taskschedd.next"
  static let folder = "/run/chaos"
  static let ledger = folder + "/ledger"
  static let events = folder + "/events"
  /// The users that the clients run as, each with a seat.
  static let users: [UInt32] = Array(3100..<3108)

  static let backgroundTime: UInt64 = 4_000_000_000
  static let expirationLead: UInt64 = 1_000_000_000
  static let callbackTimeout: UInt64 = 2_000_000_000
  /// How much later than its limit something may be on a machine that has more to do than CPUs.
  static let slack: UInt64 = 1_000_000_000

  /// For /etc/taskschedd/taskschedd.toml.
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

  /// How long after a client's library has taken the end of its last task the daemon may not have
  /// been told yet.
  static let relief: UInt64 = 250_000_000

  static func application(_ client: Int) -> String { "org.chaos.client\(client)" }
  static func client(_ application: String) -> Int? {
    application.hasPrefix("org.chaos.client") ? Int(application.dropFirst(16)) : nil
  }
  static func user(of client: Int) -> UInt32 { users[client % users.count] }

  /// How a client comes to be, and how it speaks.
  struct Kind {
    /// By the daemon, from a manifest, in a cgroup of its own; else it registers by itself.
    var isLaunched: Bool
    /// Through the client library; else on raw connections, whose loss it sees.
    var usesLibrary: Bool

    init(_ client: Int) {
      isLaunched = client % 3 == 0
      usesLibrary = client / 3 % 2 == 1
    }
  }
}

/// Chance that the seed decides (SplitMix64).
struct Chance {
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
