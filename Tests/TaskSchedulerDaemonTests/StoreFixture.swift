import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport

@testable import TaskSchedulerDaemon

/// The notifications that the store's tests write.
enum StoreFixture {
  static let mail = ApplicationKey(ApplicationID("org.example.mail")!, owner: UserID(1000))
  static let game = ApplicationKey(ApplicationID("org.example.game")!, owner: UserID(1000))

  static func draft(
    firesAt: Int64, repeats: RepeatInterval? = nil, body: String = ""
  ) -> NotificationDraft {
    NotificationDraft(
      content: NotificationContent(title: "Tea", body: body),
      schedule: NotificationSchedule(
        date: "2026-12-24T18:00:00", timeZone: "Europe/Berlin", repeats: repeats),
      firesAt: WallTime(nanoseconds: firesAt))
  }

  static func schedule(
    _ id: UInt64, _ key: ApplicationKey, body: String = ""
  ) -> NotificationChange {
    .schedule(NotificationID(id), key, draft(firesAt: Int64(id), body: body))
  }

  /// The random number generator SplitMix64, which returns the same numbers in each run.
  struct Generator: RandomNumberGenerator {
    private var state: UInt64 = 7

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var word = state
      word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
      word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
      return word ^ (word >> 31)
    }
  }

  // MARK: Writing until a kill

  /// Writes three notifications at a time until a timer kills this process. After each transaction,
  /// writes the number of all notifications into a file. The timer starts after three transactions.
  static func writeUntilKilled(
    _ path: String, _ acknowledged: String, microseconds: Int32
  ) throws {
    let store = try NotificationStore(path: path)
    var last = try store.idLast().number
    let body = String(repeating: "x", count: 500)
    try repeatUntilKilled(microseconds: microseconds) {
      try store.apply((1...3).map { schedule(last + $0, mail, body: body) })
      last += 3
      setCount(Int(last), in: acknowledged)
    }
  }

  /// Calls a closure again and again until a timer kills this process. The timer starts after three
  /// calls.
  static func repeatUntilKilled(microseconds: Int32, _ body: () throws -> Void) throws {
    signal(SIGALRM) { _ in kill(getpid(), SIGKILL) }
    // The time is shorter than one second, so the field for whole seconds is 0.
    var timer = itimerval(
      it_interval: timeval(), it_value: timeval(tv_sec: 0, tv_usec: Int(microseconds)))
    for round in 1... {
      try body()
      if round == 3 { setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil) }
    }
  }

  /// Replaces the number in a file. This is one write of constant length, so a reader finds either
  /// the old or the new number.
  static func setCount(_ count: Int, in path: String) {
    let number = open(path, O_WRONLY | O_CREAT, 0o600)
    var count = count
    pwrite(number, &count, MemoryLayout<Int>.size, 0)
    close(number)
  }

  static func count(in path: String) -> Int {
    let number = open(path, O_RDONLY)
    guard number >= 0 else { return 0 }
    var count = 0
    pread(number, &count, MemoryLayout<Int>.size, 0)
    close(number)
    return count
  }
}

extension NotificationStore {
  /// Returns all notifications of one application, or of all applications, by id.
  func list(
    of key: ApplicationKey? = nil
  ) throws(StoreError) -> [StoredNotification] {
    try contents().rows { key == nil || $0.application == key }
  }

  func notification(_ id: NotificationID) throws(StoreError) -> StoredNotification? {
    try contents()[id]
  }

  /// Returns the notifications that will fire, or fire again.
  func scheduled() throws(StoreError) -> [StoredNotification] {
    try contents().rows { $0.firesAt != nil }
  }
}

/// The bytes of any file of the machine, up to 16 MiB.
enum BoundedFileBytes {
  static func of(_ path: String) throws -> [UInt8] {
    try BoundedFile(path: path, bytesMax: 16 << 20).bytes
  }
}
