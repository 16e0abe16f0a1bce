/// The name of an application: a reverse-DNS id such as `org.example.mail`.
public struct ApplicationID: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let name: String

  /// The longest id, in bytes: that of a file name on Linux, less the suffix `.toml`, is 250;
  /// a DNS name, which this resembles, has at most 255.
  public static let bytesMax = 250

  /// - Returns: nil unless `name` is two or more labels of letters, digits, `-` and `_`, joined by
  ///   dots, of ``bytesMax`` bytes at most.
  public init?(_ name: String) {
    guard name.utf8.count <= Self.bytesMax else { return nil }
    var labelsBefore = 0
    var labelBytes = 0
    for byte in name.utf8 {
      if byte == UInt8(ascii: ".") {
        guard labelBytes > 0 else { return nil }
        labelsBefore += 1
        labelBytes = 0
      } else {
        guard Self.isLabelByte(byte) else { return nil }
        labelBytes += 1
      }
    }
    guard labelBytes > 0, labelsBefore > 0 else { return nil }
    self.name = name
  }

  /// Whether a label may have it: a letter, a digit, `-` or `_`.
  public static func isLabelByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    case _:
      false
    }
  }

  public var description: String { name }

  public static func < (lhs: ApplicationID, rhs: ApplicationID) -> Bool { lhs.name < rhs.name }
}

/// A user's uid.
public struct UserID: Hashable, Comparable, Sendable {
  public let uid: UInt32
  public init(_ uid: UInt32) { self.uid = uid }
  public static func < (lhs: UserID, rhs: UserID) -> Bool { lhs.uid < rhs.uid }
}

/// An application as the scheduler keeps it: the same id run by two users is two applications, so
/// that no user can take another's place.
public struct ApplicationKey: Hashable, Comparable, Sendable {
  public let id: ApplicationID
  public let owner: UserID

  public init(_ id: ApplicationID, owner: UserID) {
    self.id = id
    self.owner = owner
  }

  public static func < (lhs: ApplicationKey, rhs: ApplicationKey) -> Bool {
    (lhs.id, lhs.owner) < (rhs.id, rhs.owner)
  }
}

/// An id that is a number.
public protocol NumberedID: Hashable, Sendable {
  var number: UInt64 { get }
  init(_ number: UInt64)
}

/// One run of an application. Unique for the life of the scheduler's state; never 0.
public struct InstanceID: NumberedID, Comparable {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
  public static func < (lhs: InstanceID, rhs: InstanceID) -> Bool { lhs.number < rhs.number }
}

/// A background task. Unique for its instance's life; never 0.
public struct TaskID: NumberedID, Comparable {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
  public static func < (lhs: TaskID, rhs: TaskID) -> Bool { lhs.number < rhs.number }
}

/// A callback, or an event that may be acknowledged. Unique for its instance's life; never 0.
public struct CallbackID: NumberedID {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
}

/// A socket that an application has handed over: its cookie (SO_COOKIE), which no other socket of
/// this boot has.
public struct SocketID: NumberedID, Comparable {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
  public static func < (lhs: SocketID, rhs: SocketID) -> Bool { lhs.number < rhs.number }
}

/// A local notification. Unique among all applications for as long as the store of notifications
/// lasts; never 0.
public struct NotificationID: NumberedID, Comparable {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
  public static func < (lhs: NotificationID, rhs: NotificationID) -> Bool {
    lhs.number < rhs.number
  }
}

/// A transaction of the store of notifications. Later transactions have higher ids.
public struct TransactionID: NumberedID, Comparable {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
  public static func < (lhs: TransactionID, rhs: TransactionID) -> Bool {
    lhs.number < rhs.number
  }
}

/// What the daemon calls a request that waits for its reply.
public struct RequestID: NumberedID {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
}

/// Where a person sits: at each seat one application is active.
public struct SeatID: Hashable, Sendable {
  public let name: String
  public init(_ name: String) { self.name = name }
}

/// The leader of an instance: a pid alone may be reused, so it is never kept without the start
/// time (field 22 of /proc/PID/stat, in clock ticks since boot).
public struct Leader: Hashable, Comparable, Sendable {
  public let pid: Int32
  public let startTime: UInt64
  public init(pid: Int32, startTime: UInt64) {
    self.pid = pid
    self.startTime = startTime
  }

  public static func < (lhs: Leader, rhs: Leader) -> Bool {
    (lhs.pid, lhs.startTime) < (rhs.pid, rhs.startTime)
  }
}
