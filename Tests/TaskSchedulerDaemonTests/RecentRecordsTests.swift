import TaskSchedulerCore
import Testing

@testable import TaskSchedulerDaemon

@Suite("§16 The newest records of each user are kept, within bounds")
struct RecentRecordsTests {
  private let now = Instant(nanoseconds: 5_000)

  private func record(_ name: String, uid: UInt32) throws -> Record {
    let id = try #require(ApplicationID(name))
    return Record(
      application: ApplicationKey(id, owner: UserID(uid)), leader: nil, change: .registered)
  }

  private func messages(_ entries: [RecentRecords.Entry]) -> [String] { entries.map(\.message) }

  @Test("A query returns the newest records of a user or an application, the oldest of them first")
  func order() throws {
    var recent = RecentRecords()
    for number in 1...4 {
      recent.add(try record("a.mail", uid: 1), .info, "mail \(number)", at: now)
      recent.add(try record("a.music", uid: 2), .info, "music \(number)", at: now)
    }
    let mail = ApplicationID("a.mail")
    #expect(messages(recent.newest(2, before: nil, of: UserID(1), nil)) == ["mail 3", "mail 4"])
    #expect(
      messages(recent.newest(3, before: nil, of: nil, nil)) == ["music 3", "mail 4", "music 4"])
    #expect(messages(recent.newest(9, before: nil, of: nil, mail)).count == 4)
    #expect(recent.newest(9, before: nil, of: UserID(2), mail).isEmpty)
    #expect(recent.newest(9, before: nil, of: UserID(3), nil).isEmpty)
    #expect(recent.newest(0, before: nil, of: nil, nil).isEmpty)
    let page = recent.newest(2, before: nil, of: UserID(1), nil)
    let before = recent.newest(9, before: page.first?.number, of: UserID(1), nil)
    #expect(messages(before) == ["mail 1", "mail 2"])
  }

  @Test("A flood of one user's records removes only older records of that user")
  func flood() throws {
    var recent = RecentRecords()
    recent.add(try record("a.quiet", uid: 1), .info, "once", at: now)
    let loud = try record("a.loud", uid: 2)
    for number in 0..<2000 { recent.add(loud, .info, "\(number)", at: now) }
    let kept = recent.newest(.max, before: nil, of: UserID(2), nil)
    #expect(kept.count == RecentRecords.recordsMax)
    #expect(kept.last?.message == "1999")
    #expect(messages(recent.newest(9, before: nil, of: UserID(1), nil)) == ["once"])
  }

  @Test("Long messages are truncated, and the messages of one user have a total size limit")
  func bytes() throws {
    var recent = RecentRecords()
    let loud = try record("a.loud", uid: 2)
    for _ in 0..<500 {
      recent.add(loud, .info, String(repeating: "é", count: 5000), at: now)
    }
    let kept = recent.newest(.max, before: nil, of: UserID(2), nil)
    #expect(kept.allSatisfy { $0.message.utf8.count <= RecentRecords.messageBytesMax })
    #expect(kept.last?.message.hasSuffix("é…") == true)
    #expect(kept.map(\.message.utf8.count).reduce(0, +) <= RecentRecords.bytesMax)
    #expect(kept.count >= RecentRecords.bytesMax / RecentRecords.messageBytesMax)
  }

  @Test("When there are too many users, the user whose newest record is the oldest is removed")
  func users() throws {
    var recent = RecentRecords()
    for uid in 0..<UInt32(RecentRecords.usersMax) {
      recent.add(try record("a.app", uid: uid), .info, "first", at: now)
    }
    recent.add(try record("a.app", uid: 0), .info, "second", at: now)
    recent.add(try record("a.app", uid: 9999), .info, "new", at: now)
    #expect(recent.newest(9, before: nil, of: UserID(0), nil).count == 2)
    #expect(recent.newest(9, before: nil, of: UserID(1), nil).isEmpty)
    #expect(messages(recent.newest(9, before: nil, of: UserID(9999), nil)) == ["new"])
  }
}
