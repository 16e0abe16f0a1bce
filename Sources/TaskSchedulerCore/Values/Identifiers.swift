/// The id of an application: a reverse-DNS name such as `org.example.mail`.
public struct ApplicationID: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let name: String

  /// The maximum length of an id, in bytes. A file name on Linux has at most 255 bytes, and the
  /// manifest of an application is named after its id, with the suffix `.toml`.
  public static let bytesMax = 250

  /// Creates an id.
  ///
  /// - Returns: nil if `name` is not valid. A valid name consists of at least two labels, joined by
  ///   dots, and has at most ``bytesMax`` bytes. A label consists of letters, digits, `-` and `_`.
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

  /// Returns whether a label may contain the byte: a letter, a digit, `-` or `_`.
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

/// An application of one user.
///
/// If two users run programs with the same id, these are two applications. No user can therefore
/// impersonate the application of another user.
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

/// The id of one run of an application. Unique for the life of the scheduler's state; never 0.
public struct InstanceID: NumberedID, Comparable {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
  public static func < (lhs: InstanceID, rhs: InstanceID) -> Bool { lhs.number < rhs.number }
}

/// The id of a background task. Unique for the life of its instance; never 0.
public struct TaskID: NumberedID, Comparable {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
  public static func < (lhs: TaskID, rhs: TaskID) -> Bool { lhs.number < rhs.number }
}

/// The id of a callback, or of an event that the application may acknowledge. Unique for the life
/// of its instance; never 0.
public struct CallbackID: NumberedID {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
}

/// The id of a managed socket: its cookie (SO_COOKIE, socket(7)), which is unique until the next
/// boot.
public struct SocketID: NumberedID, Comparable {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
  public static func < (lhs: SocketID, rhs: SocketID) -> Bool { lhs.number < rhs.number }
}

/// The id of a local notification. Unique among all applications for the life of the notification
/// store; never 0.
public struct NotificationID: NumberedID, Comparable {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
  public static func < (lhs: NotificationID, rhs: NotificationID) -> Bool {
    lhs.number < rhs.number
  }
}

/// The id of a transaction of the store of notifications, or of the store of location services.
/// Later transactions of the same store have higher ids.
public struct TransactionID: NumberedID, Comparable {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
  public static func < (lhs: TransactionID, rhs: TransactionID) -> Bool {
    lhs.number < rhs.number
  }
}

/// The id of a picture in the application switcher: the number of the request that set the picture.
public struct SnapshotID: NumberedID, Comparable {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
  public static func < (lhs: SnapshotID, rhs: SnapshotID) -> Bool { lhs.number < rhs.number }
}

/// The id that the daemon gives to a request that waits for its reply.
public struct RequestID: NumberedID {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
}

/// The name of a seat. At each seat, at most one application is active.
///
/// The seats of the terminals in a graphical session are within the seat of the session:
/// `user-1000/pts/3:4711` is within `user-1000`.
public struct SeatID: Hashable, Comparable, Sendable {
  public let name: String
  public init(_ name: String) { self.name = name }

  /// Returns whether `other` is this seat, or is within this seat.
  public func contains(_ other: SeatID) -> Bool {
    other == self || other.name.hasPrefix(name + "/")
  }

  public static func < (lhs: SeatID, rhs: SeatID) -> Bool { lhs.name < rhs.name }
}

/// The leader of an instance: the process that the instance started with.
///
/// The kernel may reuse a pid. Only the pid and the start time together identify a process. The
/// start time is field 22 of /proc/PID/stat, in clock ticks since boot.
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
